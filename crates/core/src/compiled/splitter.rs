//! How compiled tokenizers cut text: by a scanner where the pattern is known, else by its engine.

use super::scanner::{Rules, Scanner, certain_end};
use crate::error::Result;
use crate::pattern::{Regex, SearchPattern};
use crate::pre_tokenizer::{PreTokenizer, SplitBehavior, named};

/// The patterns that scanners know, with their rules.
const KNOWN: &[(&str, Rules)] = &[
    ("gpt2", Rules::GPT2),
    ("cl100k", Rules::CL100K),
    ("llama3", Rules::LLAMA3),
    ("qwen2", Rules::QWEN2),
    ("o200k", Rules::O200K),
];

/// What cuts text into the pieces of a byte-level model.
#[derive(Clone, Debug)]
pub enum Splitter {
    /// A hand-written scanner.
    Scanner(Rules),
    /// The matches of an expression are the pieces; what lies between is dropped.
    Matches(Regex),
    /// The matches of an expression are pieces, and so is what lies between.
    Isolated(Regex),
}

impl Splitter {
    /// What cuts as `pre_tokenizer` does, if it only cuts and does so once.
    pub fn of(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        match pre_tokenizer {
            PreTokenizer::Matches {
                pattern: SearchPattern::Regex(regex),
            } => Some(Self::known(regex).unwrap_or_else(|| Self::Matches(regex.clone()))),
            PreTokenizer::Split {
                pattern: SearchPattern::Regex(regex),
                behavior: SplitBehavior::Isolated,
                invert: false,
            } => Some(Self::known(regex).unwrap_or_else(|| Self::Isolated(regex.clone()))),
            PreTokenizer::ByteLevel {
                add_prefix_space: false,
                use_regex: true,
                printable: false,
                ..
            } => Some(Self::Scanner(Rules::GPT2)),
            PreTokenizer::Sequence(stages) => {
                let mut cutting = stages.iter().filter(|stage| !changes_nothing(stage));
                match (cutting.next(), cutting.next()) {
                    (Some(stage), None) => Self::of(stage),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The scanner of an expression, if it is one of the known ones in its dialect. What a pattern
    /// is in Oniguruma means the same to tiktoken, but not the other way round.
    fn known(regex: &Regex) -> Option<Self> {
        let name = named::of_regex(regex)?.name;
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        known.map(|(_, rules)| Self::Scanner(*rules))
    }

    /// Where a part of `text` that is split by itself ends, if it begins at `start` and shall have
    /// about `reach` bytes. The whole rest where only the engine of an expression knows.
    pub fn part_end(&self, text: &str, start: usize, reach: usize) -> usize {
        match self {
            Self::Scanner(_) => certain_end(text.as_bytes(), start, reach),
            Self::Matches(_) | Self::Isolated(_) => text.len(),
        }
    }

    /// Calls `visit` with stretches of pieces, as a scanner does.
    pub fn split(
        &self,
        scanner: &mut Scanner,
        text: &str,
        mut visit: impl FnMut(usize, usize, &[u64]),
    ) -> Result<()> {
        let (regex, keeps_gaps) = match self {
            Self::Scanner(rules) => {
                scanner.scan(*rules, text, visit);
                return Ok(());
            }
            Self::Matches(regex) => (regex, false),
            Self::Isolated(regex) => (regex, true),
        };
        let mut stretch = Stretch::default();
        let mut done = 0;
        for found in regex.matches(text) {
            let found = found?;
            if keeps_gaps {
                stretch.piece(done, found.start, &mut visit);
            }
            done = found.end;
            stretch.piece(found.start, found.end, &mut visit);
        }
        if keeps_gaps {
            stretch.piece(done, text.len(), &mut visit);
        }
        stretch.give(&mut visit);
        Ok(())
    }
}

/// Pieces side by side, as an engine finds them one by one.
#[derive(Default)]
struct Stretch {
    start: usize,
    end: usize,
    /// Which bytes begin a piece.
    bits: Vec<u64>,
}

impl Stretch {
    /// About how many bytes are gathered before they are given away.
    const LENGTH: usize = 4 << 10;

    fn piece(&mut self, start: usize, end: usize, visit: &mut impl FnMut(usize, usize, &[u64])) {
        if start >= end {
            return;
        }
        if start != self.end || self.end - self.start > Self::LENGTH {
            self.give(visit);
            (self.start, self.end) = (start, start);
        }
        let at = start - self.start;
        self.bits.resize(at / 64 + 1, 0);
        self.bits[at / 64] |= 1 << (at % 64);
        self.end = end;
    }

    fn give(&mut self, visit: &mut impl FnMut(usize, usize, &[u64])) {
        if self.start < self.end {
            visit(self.start, self.end - self.start, &self.bits);
        }
        self.bits.clear();
    }
}

/// Whether a stage leaves every piece as it is, where the model sees bytes.
fn changes_nothing(stage: &PreTokenizer) -> bool {
    match stage {
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex: false,
            printable: false,
            ..
        } => true,
        PreTokenizer::Sequence(stages) => stages.iter().all(changes_nothing),
        _ => false,
    }
}
