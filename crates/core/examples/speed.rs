//! Scratch timing.
use jeton_core::compiled::{Compiled, Count, scanner::*};
struct Instant(f64);
impl Instant {
    fn now() -> Self {
        let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
        Self(s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9)
    }
    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::from_secs_f64(Self::now().0 - self.0)
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let data = std::fs::read(&args[1]).unwrap();
    let rules = match args[1].contains("o200k") {
        true => Rules::O200K,
        false if args[1].contains("r50k") => Rules::GPT2,
        _ => Rules::CL100K,
    };
    let t = Instant::now();
    let vocab = jeton_core::format::tiktoken::read_ranks(&data).unwrap();
    let t1 = t.elapsed();
    let bpe = jeton_core::model::Bpe::by_ranks(vocab).unwrap();
    let t2 = t.elapsed();
    let _compiled = Compiled::new(rules, &bpe).unwrap();
    println!("load: vocab {t1:?} bpe {t2:?} compiled {:?}", t.elapsed());
    for path in &args[2..] {
        let text = std::fs::read_to_string(path).unwrap();
        let mut scanner = Scanner::new(rules);
        for _ in 0..2 {
            let t = Instant::now();
            let mut n = 0u32;
            scanner.scan(&text, |_, _, bits| {
                n += bits.iter().map(|b| b.count_ones()).sum::<u32>()
            });
            println!(
                "{path} scan only {:.0} MB/s {n} pieces",
                text.len() as f64 / t.elapsed().as_secs_f64() / 1e6
            );
        }
        let compiled = Compiled::new(rules, &bpe).unwrap();
        for pass in 0..4 {
            let t = Instant::now();
            let mut n = 0;
            let mut rest = &text[..];
            while !rest.is_empty() {
                let mut cut = rest.len().min(4000);
                while !rest.is_char_boundary(cut) {
                    cut += 1;
                }
                let mut ids: Vec<u32> = Vec::with_capacity(cut / 3);
                compiled.encode(&bpe, &rest[..cut], &mut ids);
                n += ids.len();
                rest = &rest[cut..];
            }
            println!(
                "  pass {pass} {:.0} MB/s {n} ids",
                text.len() as f64 / t.elapsed().as_secs_f64() / 1e6
            );
        }
        let t = Instant::now();
        let mut count = Count::default();
        compiled.encode(&bpe, &text, &mut count);
        println!(
            "  count {:.0} MB/s {}",
            text.len() as f64 / t.elapsed().as_secs_f64() / 1e6,
            count.0
        );
    }
}
