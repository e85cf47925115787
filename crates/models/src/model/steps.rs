//! What a model does with a piece, step by step, as the code that encodes it says.
//!
//! Look here for what is behind `Tokenizer.explain`. Each model says its steps to an [`Observer`] while
//! it tokenizes: to [`Steps`], which keeps them, or to `()`, which costs nothing.
//!
//! ```
//! use jeton_models::model::bpe::{Bpe, BpeOptions};
//! use jeton_models::model::Model;
//! use jeton_stages::vocab::Vocab;
//!
//! let vocab = Vocab::new([("h", 0), ("u", 1), ("g", 2), ("ug", 3), ("hug", 4)])?;
//! let pairs = [("u", "g"), ("h", "ug")].map(|(left, right)| (left.into(), right.into()));
//! let model = Model::Bpe(Bpe::by_merges(vocab, pairs, BpeOptions::default())?);
//! let (tokens, steps) = model.explain("hug")?;
//! assert_eq!(tokens[0].id, 4);
//! assert_eq!(steps.merges[0].1, [b"u".to_vec(), b"g".to_vec()]);
//! # Ok::<(), jeton_text::Error>(())
//! ```

use std::ops::Range;

/// Hears what a model does with a piece. By default it ignores every step.
pub trait Observer {
    /// Whether anything is heard. If not, a model may take a quicker way to the same tokens.
    const HEARS: bool = true;

    /// The whole piece is a token: no other step follows.
    fn whole(&mut self) {}

    /// A part of the piece, with the marks of its place in a word, was looked up; these are its tokens.
    fn unit(&mut self, _unit: &[u8], _ids: &[u32], _kind: UnitKind) {}

    /// A symbol before the first merge, as the vocabulary spells it.
    fn symbol(&mut self, _symbol: &[u8]) {}

    /// Two neighbours became one token.
    fn merge(&mut self, _merge: MergeStep<'_>) {}

    /// The longest token at a place of the piece, in bytes; none if no token fits.
    fn longest(&mut self, _start: usize, _token: Option<(u32, usize)>) {}

    /// A piece that may cover these bytes, `None` for a character that no piece covers; its score, and
    /// the sum of the scores up to its end.
    fn edge(&mut self, _range: Range<usize>, _id: Option<u32>, _score: f64, _sum: f64) {}

    /// A piece of the best path ends here, in bytes. They come in any order.
    fn path(&mut self, _end: usize) {}

    /// The sum of the scores of the best path.
    fn score(&mut self, _score: f64) {}
}

impl Observer for () {
    const HEARS: bool = false;
}

/// What a unit is to the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// It is a token.
    Known,
    /// It is written as the tokens of its bytes.
    Bytes,
    /// It is the unknown token.
    Unknown,
    /// It belongs to the unknown token before it.
    Fused,
    /// It is left out, as there is no unknown token.
    Dropped,
}

impl UnitKind {
    /// Its name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Bytes => "bytes",
            Self::Unknown => "unknown",
            Self::Fused => "fused",
            Self::Dropped => "dropped",
        }
    }
}

/// Two neighbours that became one token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergeStep<'a> {
    /// Where the left one began: how many symbols were before it, before the first merge.
    pub at: usize,
    /// The bytes of the two.
    pub parts: [&'a [u8]; 2],
    /// The token that they became.
    pub id: u32,
    /// Why they were merged before others.
    pub priority: Priority,
}

/// Why a pair is merged before others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Priority {
    /// The lowest rank is first.
    Rank(u32),
    /// The greatest score is first.
    Score(f32),
}

/// All steps of one piece.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// Whether the whole piece is a token.
    pub is_whole: bool,
    /// The units, with their ids.
    pub units: Vec<(Vec<u8>, Vec<u32>, UnitKind)>,
    /// The symbols before the first merge.
    pub symbols: Vec<Vec<u8>>,
    /// The merges: where, the bytes of the two, the id, and the rank or the score.
    pub merges: Vec<(usize, [Vec<u8>; 2], u32, Priority)>,
    /// The longest token at each place.
    pub matches: Vec<(usize, Option<(u32, usize)>)>,
    /// The pieces that may cover a range, with score and sum.
    pub edges: Vec<(Range<usize>, Option<u32>, f64, f64)>,
    /// Where pieces of the best path end.
    pub path: Vec<usize>,
    /// The sum of the scores of the best path.
    pub score: f64,
}

impl Observer for Steps {
    fn whole(&mut self) {
        self.is_whole = true;
    }

    fn unit(&mut self, unit: &[u8], ids: &[u32], kind: UnitKind) {
        self.units.push((unit.to_vec(), ids.to_vec(), kind));
    }

    fn symbol(&mut self, symbol: &[u8]) {
        self.symbols.push(symbol.to_vec());
    }

    fn merge(&mut self, merge: MergeStep<'_>) {
        let parts = merge.parts.map(<[u8]>::to_vec);
        self.merges
            .push((merge.at, parts, merge.id, merge.priority));
    }

    fn longest(&mut self, start: usize, token: Option<(u32, usize)>) {
        self.matches.push((start, token));
    }

    fn edge(&mut self, range: Range<usize>, id: Option<u32>, score: f64, sum: f64) {
        self.edges.push((range, id, score, sum));
    }

    fn path(&mut self, end: usize) {
        self.path.push(end);
    }

    fn score(&mut self, score: f64) {
        self.score = score;
    }
}
