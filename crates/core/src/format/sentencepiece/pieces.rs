//! The pieces of a `.model` file: how each is spelled, its score, and what it is for.
//!
//! Look here for how a piece is read and written. A file has tens of thousands of them, so all
//! spellings lie in one buffer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::wire::{Fields, Message, SHORT_FRONT, short_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{MAX_ID, show};
use crate::threads::{LARGE, both};

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceKind {
    /// A piece of text.
    Normal,
    /// What stands for text that no piece covers.
    Unknown,
    /// A marker that text never contains, such as `</s>`.
    Control,
    /// A piece of text that is matched before any other.
    UserDefined,
    /// A piece that is never produced.
    Unused,
    /// One byte of a character that no piece covers, spelled `<0x41>`.
    Byte,
}

impl PieceKind {
    fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }

    fn number(self) -> u64 {
        match self {
            Self::Normal => 1,
            Self::Unknown => 2,
            Self::Control => 3,
            Self::UserDefined => 4,
            Self::Unused => 5,
            Self::Byte => 6,
        }
    }
}

/// One piece; its id is its place in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece<T = String> {
    /// How it is spelled, with `▁` for a space.
    pub text: T,
    /// Its log probability, or for BPE the negated rank of the merge that makes it.
    pub score: f32,
    /// What it is for.
    pub kind: PieceKind,
}

impl Piece {
    /// A piece.
    pub fn new(text: impl Into<String>, score: f32, kind: PieceKind) -> Self {
        Self {
            text: text.into(),
            score,
            kind,
        }
    }
}

impl<'a> Piece<&'a str> {
    /// Reads a piece that is spelled as [`Self::message`] would, short and without a fault, as
    /// nearly all are.
    #[inline]
    fn read_usual(message: &'a [u8]) -> Option<Self> {
        let [0x0A, length @ ..0x80, rest @ ..] = message else {
            return None;
        };
        let (text, rest) = rest.split_at_checked((*length).into())?;
        let ([0x15, score @ ..], kind) = rest.split_first_chunk::<5>()? else {
            return None;
        };
        let kind = match kind {
            [] => PieceKind::Normal,
            [0x18, number] if *number > 1 => PieceKind::from_number((*number).into())?,
            _ => return None,
        };
        let score = f32::from_le_bytes(*score);
        let text = std::str::from_utf8(text).ok()?;
        score.is_finite().then_some(Self { text, score, kind })
    }

    /// Reads any piece.
    #[cold]
    fn read(message: &'a [u8]) -> Result<Self> {
        let mut piece = Self {
            text: "",
            score: 0.0,
            kind: PieceKind::Normal,
        };
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => piece.text = field.text()?,
                2 => piece.score = field.float()?,
                // A number that is no kind counts as unset, as closed enumerations have it.
                3 => {
                    if let Some(kind) = PieceKind::from_number(field.integer()?) {
                        piece.kind = kind;
                    }
                }
                _ => {}
            }
        }
        match piece.score.is_finite() {
            true => Ok(piece),
            false => Err(Error::new(
                ErrorKind::Format,
                format!(
                    "the score of {} is {}, which no order is defined for",
                    show(piece.text.as_bytes()),
                    piece.score
                ),
            )),
        }
    }

    fn message(&self) -> Vec<u8> {
        let mut message = Message::default();
        message.bytes(1, self.text.as_bytes()).float(2, self.score);
        if self.kind != PieceKind::Normal {
            message.integer(3, self.kind.number());
        }
        message.finish()
    }
}

/// Where a piece begins in the file, and which.
#[derive(Clone, Copy, Default)]
struct Start {
    id: usize,
    position: usize,
}

/// The pieces of a file, by id.
///
/// ```
/// use jeton_core::format::sentencepiece::{Piece, PieceKind, Pieces};
///
/// let pieces: Pieces = [
///     Piece::new("<unk>", 0.0, PieceKind::Unknown),
///     Piece::new("▁a", -1.5, PieceKind::Normal),
/// ]
/// .into_iter()
/// .collect();
/// let texts: Vec<&str> = pieces.iter().map(|piece| piece.text).collect();
/// assert_eq!(texts, ["<unk>", "▁a"]);
/// assert_eq!(pieces.get(1).map(|piece| piece.score), Some(-1.5));
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Pieces {
    /// The spellings, one behind the other.
    texts: String,
    /// Where each spelling ends.
    ends: Vec<usize>,
    scores: Vec<f32>,
    kinds: Vec<PieceKind>,
    /// How the file spells pieces that it does not spell as they are written here.
    originals: BTreeMap<usize, Box<[u8]>>,
}

impl Pieces {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The piece of this id.
    pub fn get(&self, id: u32) -> Option<Piece<&str>> {
        ((id as usize) < self.len()).then(|| self.at(id as usize))
    }

    /// All pieces, in the order of their ids.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Piece<&str>> + Clone {
        (0..self.len()).map(|at| self.at(at))
    }

    /// All spellings, one behind the other.
    pub(crate) fn texts(&self) -> &str {
        &self.texts
    }

    /// Where each spelling ends in [`Self::texts`].
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// What each piece is for.
    pub(crate) fn kinds(&self) -> &[PieceKind] {
        &self.kinds
    }

    /// The score of each piece.
    pub(crate) fn scores(&self) -> &[f32] {
        &self.scores
    }

    #[inline]
    fn at(&self, at: usize) -> Piece<&str> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        Piece {
            text: &self.texts[start..self.ends[at]],
            score: self.scores[at],
            kind: self.kinds[at],
        }
    }

    /// The pieces that a file begins with, as far as they are short, and where the first other field
    /// begins.
    ///
    /// # Errors
    /// A broken piece, with its number.
    pub(super) fn read_front(file: &[u8]) -> Result<(Self, usize)> {
        let mut end = Start::default();
        let mut middle = end;
        while let Some(message) = short_bytes(file, end.position, 1)
            && end.id < MAX_ID as usize
        {
            end.id += 1;
            end.position += SHORT_FRONT + message.len();
            if end.position <= file.len() / 2 {
                middle = end;
            }
        }
        let (first, second) = both(
            end.id >= LARGE,
            || Self::with_room(Start::default(), end).read_run(file, Start::default(), middle),
            || Self::with_room(middle, end).read_run(file, middle, end),
        );
        let mut pieces = first?;
        pieces.append(second?);
        Ok((pieces, end.position))
    }

    /// No pieces yet, and room for short ones from one on up to another.
    fn with_room(from: Start, to: Start) -> Self {
        let pieces = to.id - from.id;
        Self {
            texts: String::with_capacity((to.position - from.position) / 2),
            ends: Vec::with_capacity(pieces),
            scores: Vec::with_capacity(pieces),
            kinds: Vec::with_capacity(pieces),
            originals: BTreeMap::new(),
        }
    }

    /// The same with the short pieces from one on up to another.
    fn read_run(mut self, file: &[u8], from: Start, to: Start) -> Result<Self> {
        let mut position = from.position;
        while position < to.position
            && let Some(message) = short_bytes(file, position, 1)
        {
            let id = from.id + self.len();
            self.read(message)
                .map_err(|error| error.at(format!("piece {id}")))?;
            position += SHORT_FRONT + message.len();
        }
        Ok(self)
    }

    /// Puts other pieces behind these.
    fn append(&mut self, others: Self) {
        let (pieces, bytes) = (self.len(), self.texts.len());
        self.texts.push_str(&others.texts);
        self.ends.extend(others.ends.iter().map(|end| bytes + end));
        self.scores.extend(others.scores);
        self.kinds.extend(others.kinds);
        let originals = others.originals.into_iter();
        self.originals
            .extend(originals.map(|(at, original)| (pieces + at, original)));
    }

    /// Takes in the piece of a message.
    #[inline]
    pub(super) fn read(&mut self, message: &[u8]) -> Result<()> {
        if let Some(piece) = Piece::read_usual(message) {
            self.push(piece);
            return Ok(());
        }
        let piece = Piece::<&str>::read(message)?;
        if piece.message() != message {
            self.originals.insert(self.len(), message.into());
        }
        self.push(piece);
        Ok(())
    }

    #[inline]
    fn push(&mut self, piece: Piece<&str>) {
        self.texts.push_str(piece.text);
        self.ends.push(self.texts.len());
        self.scores.push(piece.score);
        self.kinds.push(piece.kind);
    }

    /// The messages of all pieces, as the file has them.
    pub(super) fn messages(&self) -> impl Iterator<Item = Vec<u8>> {
        (self.iter().enumerate()).map(|(at, piece)| match self.originals.get(&at) {
            Some(original) => original.to_vec(),
            None => piece.message(),
        })
    }
}

impl FromIterator<Piece> for Pieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        let mut this = Self::default();
        for Piece { text, score, kind } in pieces {
            let text = text.as_str();
            this.push(Piece { text, score, kind });
        }
        this
    }
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
