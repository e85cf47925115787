//! The table of what each character becomes before the model, for stages that look at one
//! character at a time. An entry is computed when its character first occurs.
//!
//! Look here for how a new word is normalized and split without running the stages on it. An entry comes
//! from the stages themselves: they run on the character with a letter on each side.

use std::sync::atomic::{AtomicU64, Ordering};

use unicode_normalization_alignments::char::canonical_combining_class;

use jeton_models::stages::Stages;
use jeton_stages::normalizer::{Normalizer, NormalizerFacts};
use jeton_text::error::Result;
use jeton_text::interrupt::paced;
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::{AlignedText, Pieces};

/// Code points that have entries; those beyond are rare.
const CODE_POINTS: usize = 0x2_0000;
/// Entries of a row, which is allocated when the first of them is made.
const ROW: usize = 256;
/// Bytes that an entry holds, at most.
const MAX_BYTES: usize = 15;
/// What is on both sides of a character. No stage changes it, and nothing joins it.
const LETTER: &str = "a";

/// The table of what each character becomes before the model.
pub struct CharacterTable {
    rows: Box<[Lazy<[Entry; ROW]>]>,
    /// Whether a normalizer may move marks about.
    reorders: bool,
}

/// What a character becomes, and in the last byte what that is; zero if that is not yet known.
#[derive(Default)]
struct Entry([AtomicU64; 2]);

/// What a character becomes: bytes, and in the last byte how many there are and what they are.
type Replacement = [u8; MAX_BYTES + 1];

/// Above the count of bytes: they belong to the piece around them.
const JOINS: u8 = 1 << 4;
/// The same: they are a piece of their own.
const ALONE: u8 = 2 << 4;
/// The same: pieces part there, and no bytes are left.
const PARTS: u8 = 3 << 4;
/// The same: they are a mark that belongs to the piece around it, and that may change places with a
/// mark beside it.
const MOVES: u8 = 4 << 4;
/// The same: not known, since it depends on what is next to the character, or is too long.
const UNSURE: u8 = 5 << 4;

/// A word after the stages before the model, with the ends of its pieces.
#[derive(Default)]
pub struct CutWord {
    text: Vec<u8>,
    length: usize,
    ends: Vec<usize>,
}

impl CharacterTable {
    /// The table for these stages, if they look at one character at a time.
    pub fn new(stages: &Stages) -> Option<Self> {
        let cuts = stages.pre_tokenizer.as_ref()?.facts();
        let maps = (stages.normalizer.as_ref()).map_or(NormalizerFacts::NOTHING, Normalizer::facts);
        if !cuts.sees_characters || !maps.maps_characters {
            return None;
        }
        Some(Self {
            rows: (0..CODE_POINTS / ROW).map(|_| Lazy::new()).collect(),
            reorders: maps.moves_marks,
        })
    }

    /// Splits `word` as `stages` do, from which this was made; returns `false` if they have to run.
    pub fn cut(&self, stages: &Stages, word: &str, cut: &mut CutWord) -> bool {
        cut.clear();
        let mut after_mark = false;
        for character in paced(word.chars()) {
            let Some(replacement) = self.replacement(stages, character) else {
                return false;
            };
            match replacement[MAX_BYTES] & !(MAX_BYTES as u8) {
                JOINS => {
                    // What leaves nothing behind may leave two marks side by side.
                    after_mark &= replacement[MAX_BYTES] == JOINS;
                    cut.push(replacement);
                }
                MOVES if !after_mark => {
                    after_mark = true;
                    cut.push(replacement);
                }
                PARTS => cut.end(),
                ALONE => {
                    after_mark = false;
                    cut.end();
                    cut.push(replacement);
                    cut.end();
                }
                _ => return false,
            }
        }
        cut.end();
        true
    }

    /// What a character becomes; `None` if it is beyond the table.
    #[inline(always)]
    fn replacement(&self, stages: &Stages, character: char) -> Option<Replacement> {
        let row = self.rows.get(character as usize / ROW)?;
        let row = row.get(|| std::array::from_fn(|_| Entry::default()));
        let entry = &row[character as usize % ROW];
        let known = entry.get();
        Some(known.unwrap_or_else(|| entry.set(self.ask_stages(stages, character))))
    }

    /// What the stages make of a character.
    #[cold]
    fn ask_stages(&self, stages: &Stages, character: char) -> Replacement {
        let Ok(pieces) = between_letters(stages, character) else {
            return entry(UNSURE, "");
        };
        let pieces: Vec<&str> = pieces.iter().map(AlignedText::as_str).collect();
        let (what, text) = match pieces[..] {
            [LETTER, alone, LETTER] => (ALONE, alone),
            [LETTER, LETTER] => (PARTS, ""),
            [whole] => match whole
                .strip_prefix(LETTER)
                .and_then(|it| it.strip_suffix(LETTER))
            {
                Some(between) => (JOINS, between),
                None => (UNSURE, ""),
            },
            _ => (UNSURE, ""),
        };
        let moves = |it: char| self.reorders && canonical_combining_class(it) != 0;
        let marks = text.chars().filter(|&it| moves(it)).count();
        match (what, marks, text.chars().count()) {
            _ if text.len() > MAX_BYTES => entry(UNSURE, ""),
            (_, 0, _) => entry(what, text),
            (JOINS, 1, 1) => entry(MOVES, text),
            _ => entry(UNSURE, ""),
        }
    }
}

/// The pieces of a character with a letter on each side.
fn between_letters(stages: &Stages, character: char) -> Result<Pieces> {
    let text = AlignedText::original(&format!("{LETTER}{character}{LETTER}"));
    stages.before_model().pieces(text)
}

fn entry(what: u8, text: &str) -> Replacement {
    let mut entry = [0; MAX_BYTES + 1];
    entry[..text.len()].copy_from_slice(text.as_bytes());
    entry[MAX_BYTES] = what | text.len() as u8;
    entry
}

impl Entry {
    #[inline(always)]
    fn get(&self) -> Option<Replacement> {
        let Self([low, high]) = self;
        // The half that says that the entry is known is written last and read first.
        let high = high.load(Ordering::Acquire);
        let low = low.load(Ordering::Relaxed);
        (high != 0).then(|| (u128::from(high) << 64 | u128::from(low)).to_le_bytes())
    }

    /// Threads that meet a character at the same time write the same.
    fn set(&self, replacement: Replacement) -> Replacement {
        let Self([low, high]) = self;
        let value = u128::from_le_bytes(replacement);
        low.store(value as u64, Ordering::Relaxed);
        high.store((value >> 64) as u64, Ordering::Release);
        replacement
    }
}

impl CutWord {
    /// The pieces, each of whole characters.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = &self.text[start..end];
            start = end;
            piece
        })
    }

    fn clear(&mut self) {
        self.length = 0;
        self.ends.clear();
    }

    /// Copying all bytes is faster than copying some.
    #[inline(always)]
    fn push(&mut self, replacement: Replacement) {
        if self.text.len() < self.length + replacement.len() {
            self.text.resize(2 * (self.length + replacement.len()), 0);
        }
        let end = self.length + replacement.len();
        self.text[self.length..end].copy_from_slice(&replacement);
        self.length += usize::from(replacement[MAX_BYTES] & MAX_BYTES as u8);
    }

    /// A piece ends here, unless it has no bytes.
    fn end(&mut self) {
        if self.ends.last().copied().unwrap_or(0) != self.length {
            self.ends.push(self.length);
        }
    }
}

impl std::fmt::Debug for CharacterTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CharacterTable")
            .field("reorders", &self.reorders)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::{Model, WordLevel};
    use jeton_stages::pre_tokenizer::PreTokenizer;
    use jeton_stages::vocab::Vocab;

    fn stages(normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> Stages {
        let vocab = Vocab::new([("[UNK]", 0)]).unwrap();
        let mut stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "[UNK]")));
        stages.normalizer = Some(normalizer);
        stages.pre_tokenizer = Some(pre_tokenizer);
        stages
    }

    #[test]
    fn words_are_cut_character_by_character() {
        let bert = Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: true,
        };
        let stages = stages(bert, PreTokenizer::Bert);
        let characters = CharacterTable::new(&stages).unwrap();
        let mut cut = CutWord::default();
        for _ in 0..2 {
            assert!(characters.cut(&stages, "Wö\u{ad}rter\u{a0}漢字、한", &mut cut));
            let pieces: Vec<_> = cut.pieces().map(|it| str::from_utf8(it).unwrap()).collect();
            assert_eq!(
                pieces,
                ["worter", "漢", "字", "、", "\u{1112}\u{1161}\u{11ab}"]
            );
        }
        assert!(characters.cut(&stages, "\u{301}\u{a0}", &mut cut));
        assert_eq!(cut.pieces().count(), 0);
        // One mark that is kept has its place, two may change places; a character beyond the table.
        assert!(characters.cut(&stages, "a\u{302e}b\u{301}\u{302e}", &mut cut));
        assert!(!characters.cut(&stages, "a\u{302e}\u{301}\u{302e}", &mut cut));
        assert!(!characters.cut(&stages, "\u{20000}", &mut cut));
    }

    #[test]
    fn only_stages_that_see_single_characters() {
        let composes = stages(Normalizer::Nfc, PreTokenizer::Bert);
        assert!(CharacterTable::new(&composes).is_none());
        let runs = stages(Normalizer::Lowercase, PreTokenizer::Whitespace);
        assert!(CharacterTable::new(&runs).is_none());
    }
}
