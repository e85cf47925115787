//! Random texts for all families except byte-level BPE, with the spellings of tokens in them.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// What texts are made of: what ends words for one family or another, what normalizers change,
/// drop or join, runs, and ordinary text.
pub const PARTS: &[&str] = &[
    "a",
    "e",
    "the",
    "ing",
    "Word",
    "HTTPServer",
    "don't",
    "self.assertEqual(foo.bar(x), [1])",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "     ",
    "                              ",
    "\n",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{1680}",
    "\u{200b}",
    "\u{feff}",
    "\u{ad}",
    "\0",
    "\u{7f}",
    "\u{fffd}",
    "▁",
    "▁▁",
    " ▁",
    "▁ ",
    ".",
    ",",
    "!",
    "...",
    "(",
    "-----",
    "\"",
    "$",
    "^",
    "`",
    "=",
    "=\u{338}",
    "\u{338}",
    "12",
    "1234567",
    "٣",
    "½",
    "é",
    "É",
    "e\u{301}",
    "\u{301}",
    "\u{301}\u{323}",
    "\u{323}",
    "Å",
    "ﬁ",
    "¨",
    "ς",
    "Σ",
    "İ",
    "ß",
    "中",
    "中文",
    "日本語",
    "か",
    "が",
    "ガ",
    "ｶﾞ",
    "한국",
    "각",
    "жа",
    "Ж",
    "привет",
    "достопримечательность",
    "म",
    "\u{93f}",
    "🙂",
    "👩\u{200d}👧",
    "“",
    "”",
    "…",
    "。",
    "，",
    "\u{600}",
    "\u{610}",
    "Ａ",
    "<s>",
    "</s>",
    "[UNK]",
    "[CLS]",
    "<unk>",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "中中中中中中中中中中",
    "abcdefghijklmnopqrstuvwxyz",
    "\u{302e}",
    "\u{1d165}",
    "\u{ad}",
    "\u{a0}",
    "\u{20000}",
];

pub fn text(numbers: &mut ChaCha8Rng) -> String {
    let most = numbers.random_range(1..60);
    let length = numbers.random_range(0..most);
    let simple = numbers.random_bool(0.3);
    (0..length)
        .map(|_| {
            if simple {
                PARTS[numbers.random_range(0..16)]
            } else {
                PARTS.choose(numbers).unwrap()
            }
        })
        .collect()
}

/// A long text of few kinds of parts, so that what is around a split point is often odd.
pub fn few_kinds(numbers: &mut ChaCha8Rng, length: usize) -> String {
    let count = numbers.random_range(2..12);
    let mut kinds: Vec<&str> = (0..count)
        .map(|_| *PARTS.choose(numbers).unwrap())
        .collect();
    kinds.push(" ");
    let mut text = String::new();
    while text.len() < length {
        text.push_str(kinds.choose(numbers).unwrap());
    }
    text
}

/// Spellings that occur in texts: single characters and random stretches.
pub fn spellings(numbers: &mut ChaCha8Rng, inner_spaces: bool) -> Vec<String> {
    let mut spellings = vec!["▁".to_owned()];
    for _ in 0..120 {
        let sample: Vec<char> = text(numbers).replace(' ', "▁").chars().collect();
        if sample.is_empty() {
            continue;
        }
        let start = numbers.random_range(0..sample.len());
        let length = numbers.random_range(1..6);
        let spelling: String = sample[start..].iter().take(length).collect();
        let inner = spelling.trim_start_matches('▁').contains('▁');
        if !spelling.contains('\0') && (inner_spaces || !inner) {
            spellings.push(spelling);
        }
    }
    for character in "abcdefghijklmnoprstuvw.,中жа".chars() {
        spellings.push(character.into());
    }
    spellings.sort();
    spellings.dedup();
    spellings
}
