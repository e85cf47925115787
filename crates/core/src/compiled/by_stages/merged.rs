//! New pieces of a BPE, merged by the tables of the compiled path one at a time.

use super::units::Units;
use crate::compiled::byte_level::{Merges, Pairs, SCANNED, Work, long};
use crate::model::Bpe;
use crate::model::bpe::{Alphabet, MergeRule};

/// The model says what is too long for it; places take 32 bits.
const MOST: usize = u32::MAX as usize;

/// The merges of a BPE.
pub struct Merged {
    tables: Tables,
    /// Whether a piece that is a token as a whole is that token, though its merges make something else.
    whole: bool,
}

enum Tables {
    Bytes(Merges),
    Characters(Units, Pairs),
}

impl Merged {
    /// The merges of `bpe`, if it leaves none out, its ids and ranks fit, and its bytes, if these are
    /// its alphabet, bear no marks.
    pub fn new(bpe: &Bpe) -> Option<Self> {
        let options = bpe.options();
        let tables = match options.alphabet {
            Alphabet::Bytes if bpe.merges_bytes_only() => Tables::Bytes(Merges::new(bpe)?),
            Alphabet::Characters
                if options.dropout.is_none() && *bpe.rule() != MergeRule::Ranks =>
            {
                let pairs = Pairs::new(&bpe.reachable_merges(), bpe.vocab().max_id()?)?;
                Tables::Characters(Units::new(bpe), pairs)
            }
            _ => return None,
        };
        Some(Self {
            tables,
            whole: bpe.takes_whole_pieces() && !bpe.merges_make_all_tokens(),
        })
    }

    /// Appends the tokens of a piece of `bpe`, which is whole characters and not empty; says false, and
    /// appends none, if the model has to be asked.
    pub fn merge(&self, bpe: &Bpe, piece: &[u8], work: &mut Work, ids: &mut Vec<u32>) -> bool {
        if self.whole
            && let Some(id) = bpe.vocab().id(piece)
        {
            ids.push(id);
            return true;
        }
        let start = ids.len();
        match &self.tables {
            Tables::Bytes(merges) if piece.len() <= SCANNED => {
                merges.merge(piece, work);
                ids.extend_from_slice(work.tokens());
            }
            Tables::Bytes(merges) if piece.len() < MOST => ids.extend(merges.merge_long(piece)),
            Tables::Characters(units, pairs)
                if units.begin(piece, ids) && ids.len() - start < MOST =>
            {
                merge_from(start, pairs, work, ids);
            }
            _ => {
                ids.truncate(start);
                return false;
            }
        }
        true
    }
}

/// Merges the symbols from `start` on.
fn merge_from(start: usize, pairs: &Pairs, work: &mut Work, ids: &mut Vec<u32>) {
    let symbols = &ids[start..];
    match symbols.len() {
        ..=1 => {}
        count @ ..=SCANNED => {
            work.room()[..count].copy_from_slice(symbols);
            work.begin(count, |symbols, at| {
                pairs.rank(symbols[at], symbols[at + 1])
            });
            work.merge(pairs);
            ids.truncate(start);
            ids.extend_from_slice(work.tokens());
        }
        _ => {
            let rank = |at: usize| pairs.rank(symbols[at], symbols[at + 1]);
            let tokens = long::merge(pairs, symbols.iter().copied(), rank);
            ids.truncate(start);
            ids.extend(tokens);
        }
    }
}

impl std::fmt::Debug for Merged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merged").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::bpe::BpeOptions;
    use crate::model::queue::HEAPED;
    use crate::model::{Sampler, Sampling, Vocab, byte_token};
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The tokens of a piece, if they are found, held equal to the model's.
    fn check(bpe: &Bpe, merged: &Merged, piece: &str) -> Option<Vec<u32>> {
        let mut ids = vec![7];
        let mut work = Work::NEW;
        let found = merged.merge(bpe, piece.as_bytes(), &mut work, &mut ids);
        let mut tokens = Vec::new();
        let mut sampler = Sampler::new(Sampling::default());
        match bpe.tokenize(piece, &mut sampler, &mut tokens) {
            Ok(()) => {
                let expected: Vec<u32> = tokens.iter().map(|token| token.id).collect();
                assert!(found, "{piece:?} {bpe:?}");
                assert_eq!(ids[1..], expected, "{piece:?} {bpe:?}");
            }
            Err(_) => assert!(!found && ids == [7], "{piece:?} {bpe:?}"),
        }
        found.then(|| ids.split_off(1))
    }

    #[test]
    fn worked_example() {
        let entries = [
            "<unk>", "a", "##b", "b</w>", "##b</w>", "ab</w>", "<0xC3>", "<0xA9>",
        ];
        let merges = [(b"a".to_vec(), b"##b</w>".to_vec())];
        let options = BpeOptions {
            alphabet: Alphabet::Characters,
            unk_token: Some("<unk>".to_owned()),
            fuse_unk: true,
            byte_fallback: true,
            continuing_subword_prefix: Some("##".to_owned()),
            end_of_word_suffix: Some("</w>".to_owned()),
            ..BpeOptions::default()
        };
        let bpe = Bpe::by_merges(
            Vocab::new(entries.into_iter().zip(0..)).unwrap(),
            merges,
            options,
        );
        let bpe = bpe.unwrap();
        let merged = Merged::new(&bpe).unwrap();
        for (piece, expected) in [
            ("ab", vec![5]),
            ("abb", vec![1, 2, 4]),
            ("b", vec![3]),
            // Only at the front an `é` bears no mark, and is the bytes that there are.
            ("éb", vec![6, 7, 4]),
            ("aéxb", vec![1, 0, 4]),
        ] {
            assert_eq!(check(&bpe, &merged, piece).unwrap(), expected, "{piece:?}");
        }
    }

    /// Tokens of letters with the marks of some place, of bytes, and of what merges make.
    fn random(numbers: &mut ChaCha8Rng, letters: &[&str]) -> Bpe {
        let mut mark = |mark: &str| numbers.random_bool(0.3).then(|| mark.to_owned());
        let (prefix, suffix) = (mark("a"), mark("bé"));
        let options = BpeOptions {
            alphabet: *[Alphabet::Characters, Alphabet::Characters, Alphabet::Bytes]
                .choose(numbers)
                .unwrap(),
            unk_token: numbers.random_bool(0.7).then(|| "<unk>".to_owned()),
            fuse_unk: numbers.random_bool(0.5),
            byte_fallback: numbers.random_bool(0.6),
            ignore_merges: numbers.random_bool(0.2),
            separate_suffix: numbers.random_bool(0.2),
            continuing_subword_prefix: prefix.clone(),
            end_of_word_suffix: suffix.clone(),
            dropout: None,
        };
        let (prefix, suffix) = (prefix.unwrap_or_default(), suffix.unwrap_or_default());
        let mut tokens: Vec<Vec<u8>> = Vec::new();
        if options.alphabet == Alphabet::Bytes {
            tokens.extend((0..=u8::MAX).map(|byte| vec![byte]));
        }
        let kept = numbers.random_range(0.5..1.1_f64).min(1.0);
        for letter in letters {
            for before in ["", &prefix] {
                for behind in ["", &suffix] {
                    let token = [before, letter, behind].concat();
                    tokens.extend(numbers.random_bool(kept).then(|| token.into_bytes()));
                }
            }
        }
        tokens.extend(numbers.random_bool(0.5).then(|| b"<unk>".to_vec()));
        tokens.extend(
            numbers
                .random_bool(0.8)
                .then(|| suffix.clone().into_bytes()),
        );
        let few = numbers.random_bool(0.5);
        for byte in 0..=u8::MAX {
            if !few || numbers.random_bool(0.9) {
                tokens.push(byte_token(byte).to_vec());
            }
        }
        tokens.retain(|token| !token.is_empty());
        let mut merges = Vec::new();
        for _ in 0..numbers.random_range(0..60) {
            let mut part = || tokens.choose(numbers).unwrap().clone();
            let (left, right) = (part(), part());
            if right.len() >= prefix.len() && left.len() + right.len() < 40 {
                tokens.push([&left, &right[prefix.len()..]].concat());
                merges.push((left, right));
            }
        }
        tokens.sort();
        tokens.dedup();
        Bpe::by_merges(
            Vocab::new(tokens.into_iter().zip(0..)).unwrap(),
            merges,
            options,
        )
        .unwrap()
    }

    #[test]
    fn merged_by_tables_and_by_the_model() {
        let letters = ["a", "b", "é", "中", "🙂", "▁", "\u{10ffff}"];
        let mut numbers = ChaCha8Rng::seed_from_u64(41);
        let (mut found, mut refused) = (0, 0);
        for _ in 0..300 {
            let bpe = random(&mut numbers, &letters);
            let Some(merged) = Merged::new(&bpe) else {
                assert_eq!(bpe.options().alphabet, Alphabet::Bytes);
                continue;
            };
            for round in 0..40 {
                let most = *[8, 40, SCANNED + 20, 300].choose(&mut numbers).unwrap();
                let most = if round == 0 { HEAPED + 50 } else { most };
                let few = numbers.random_range(1..=letters.len());
                let length = numbers.random_range(1..=most);
                let letter = |_| *letters[..few].choose(&mut numbers).unwrap();
                let piece: String = (0..length).map(letter).collect();
                match check(&bpe, &merged, &piece) {
                    Some(_) => found += 1,
                    None => refused += 1,
                }
            }
        }
        assert!(found > 5_000 && refused > 100, "{found} {refused}");
    }
}
