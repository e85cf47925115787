//! The pieces of a `.model` file: the spelling, the score and the kind of each.
//!
//! Look here for how a piece is read and written. A file has tens of thousands of them, so all
//! spellings are in one buffer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::wire::{Field, Fields, Message, Value};
use jeton_stages::vocab::{MAX_ID, show};
use jeton_text::error::{Error, ErrorKind, Result};

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceKind {
    /// A piece of text.
    Normal,
    /// The piece of text that no other piece covers.
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
        // As protocol buffers take the numbers of an enumeration.
        Some(match number as u32 {
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

/// Bytes that the message of a normal piece has beside its text.
const USUAL_LENGTH: usize = 7;
/// Bytes that a piece takes in a file, about.
const USUAL_BYTES: usize = 16;

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
    /// Reads the piece whose field a file continues with, if it is short, without a fault and spelled as
    /// [`Self::field`] would, as nearly all are; and how many bytes the field takes.
    #[inline]
    fn read_usual(file: &'a [u8]) -> Option<(Self, usize)> {
        let [0x0A, length @ ..0x80, 0x0A, text @ ..0x80, rest @ ..] = file else {
            return None;
        };
        let [length, text] = [*length, *text].map(usize::from);
        let [0x15, a, b, c, d, kind @ ..] = rest.get(text..)? else {
            return None;
        };
        let kind = match (length.checked_sub(text + USUAL_LENGTH)?, kind) {
            (0, _) => PieceKind::Normal,
            (2, [0x18, number, ..]) if *number > 1 => PieceKind::from_number((*number).into())?,
            _ => return None,
        };
        let score = f32::from_le_bytes([*a, *b, *c, *d]);
        let text = text_of(rest, text)?;
        let piece = Self { text, score, kind };
        score.is_finite().then_some((piece, 2 + length))
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
            match (field.number, field.value) {
                (1, Value::Bytes(text)) => piece.text = field.text(text)?,
                (2, Value::Fixed32(score)) => piece.score = f32::from_bits(score),
                // A number that is no kind counts as unset, as closed enumerations have it.
                (3, Value::Varint(kind)) => {
                    piece.kind = PieceKind::from_number(kind).unwrap_or(piece.kind);
                }
                _ => {}
            }
        }
        if piece.score.is_finite() {
            Ok(piece)
        } else {
            Err(Error::new(
                ErrorKind::Format,
                format!(
                    "the score of {} is {}, which cannot be compared with other scores",
                    show(piece.text.as_bytes()),
                    piece.score
                ),
            ))
        }
    }

    /// The field of a file that holds it.
    fn field(&self) -> Vec<u8> {
        let mut message = Message::default();
        message.bytes(1, self.text.as_bytes()).float(2, self.score);
        if self.kind != PieceKind::Normal {
            message.integer(3, self.kind.number());
        }
        Message::default().bytes(1, &message.finish()).finish()
    }
}

/// The text that the first `length` bytes are.
#[inline]
fn text_of(bytes: &[u8], length: usize) -> Option<&str> {
    const SPACE: u128 = u32::from_le_bytes(*"▁\0".as_bytes().first_chunk().unwrap()) as u128;
    const NOT_ASCII: u128 = u128::from_le_bytes([0x80; 16]);
    let text = bytes.get(..length)?;
    if let (1..=16, Some(window)) = (length, bytes.first_chunk()) {
        let window = u128::from_le_bytes(*window) << (128 - 8 * length) >> (128 - 8 * length);
        let behind = match window & 0xFF_FFFF {
            SPACE => window >> 24,
            _ => window,
        };
        if behind & NOT_ASCII == 0 {
            // SAFETY: these are the bytes of `text`, with zeros after them, and but for a `▁` in
            // front all are ASCII.
            return Some(unsafe { str::from_utf8_unchecked(text) });
        }
    }
    str::from_utf8(text).ok()
}

/// The pieces of a file, by id.
///
/// ```
/// use jeton_models::model::sentencepiece::spec::{Piece, PieceKind, Pieces};
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
    /// The spellings, one after the other.
    texts: String,
    /// Where each spelling ends.
    ends: Vec<usize>,
    scores: Vec<f32>,
    kinds: Vec<PieceKind>,
    /// Which pieces are not normal; mostly few.
    others: Vec<u32>,
    /// The fields of pieces that the file does not spell as they are written here.
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

    /// All spellings, one after the other.
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// Where each spelling ends in [`Self::texts`].
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The pieces that are not normal.
    pub(crate) fn others(&self) -> &[u32] {
        &self.others
    }

    /// The pieces of a kind other than [`PieceKind::Normal`], with their ids.
    pub fn of_kind(&self, kind: PieceKind) -> impl Iterator<Item = (Piece<&str>, u32)> + Clone {
        debug_assert!(kind != PieceKind::Normal);
        let others = self.others.iter().map(|&id| (self.at(id as usize), id));
        others.filter(move |(piece, _)| piece.kind == kind)
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

    /// Takes in the pieces that are in a file from `position` on, as far as they are short, without a
    /// fault and spelled as they are written here; says where they end.
    pub(super) fn read_usual(&mut self, file: &[u8], mut position: usize) -> usize {
        let mut piece = Piece::<&str>::read_usual(&file[position..]);
        if self.is_empty() && piece.is_some() {
            let rest = file.len() - position;
            self.texts.reserve(rest / 2);
            self.ends.reserve(rest / USUAL_BYTES);
            self.scores.reserve(rest / USUAL_BYTES);
            self.kinds.reserve(rest / USUAL_BYTES);
        }
        while let Some((usual, length)) = piece
            && self.len() < MAX_ID as usize
        {
            self.push(usual);
            position += length;
            piece = Piece::<&str>::read_usual(&file[position..]);
        }
        position
    }

    /// Takes in the piece of a field, whose bytes are `message`.
    pub(super) fn read(&mut self, field: &Field<'_>, message: &[u8]) -> Result<()> {
        let piece = Piece::<&str>::read(message)?;
        if piece.field() != field.raw {
            self.originals.insert(self.len(), field.raw.into());
        }
        self.push(piece);
        Ok(())
    }

    #[inline]
    fn push(&mut self, piece: Piece<&str>) {
        if piece.kind != PieceKind::Normal {
            self.others.push(self.ends.len() as u32);
        }
        self.texts.push_str(piece.text);
        self.ends.push(self.texts.len());
        self.scores.push(piece.score);
        self.kinds.push(piece.kind);
    }

    /// Makes pieces of text unused but for those that are valid and for single characters; pieces for
    /// bytes, user-defined ones and those that text never becomes stay.
    pub(crate) fn restrict(&mut self, is_valid: impl Fn(&str) -> bool) {
        for at in 0..self.len() {
            let Piece { text, kind, .. } = self.at(at);
            if !matches!(kind, PieceKind::Normal | PieceKind::Unused) {
                continue;
            }
            let is_character = text.chars().nth(1).is_none();
            let new = if is_character || is_valid(text) {
                PieceKind::Normal
            } else {
                PieceKind::Unused
            };
            if new != kind {
                self.kinds[at] = new;
                self.originals.remove(&at);
            }
        }
        let kinds = self.kinds.iter().zip(0..);
        let others = kinds.filter(|(kind, _)| **kind != PieceKind::Normal);
        self.others = others.map(|(_, id)| id).collect();
    }

    /// The fields of all pieces, as the file has them.
    pub(super) fn fields(&self) -> impl Iterator<Item = Vec<u8>> {
        (self.iter().enumerate()).map(|(at, piece)| match self.originals.get(&at) {
            Some(original) => original.to_vec(),
            None => piece.field(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of pieces that are spelled so, all with one score.
    fn file(texts: &[&[u8]], kind: u64) -> Vec<u8> {
        let mut file = Message::default();
        for text in texts {
            let mut message = Message::default();
            message.bytes(1, text).float(2, -1.5);
            if kind != 1 {
                message.integer(3, kind);
            }
            file.bytes(1, &message.finish());
        }
        file.finish()
    }

    #[test]
    fn usual_pieces_are_read_as_any_other() {
        let texts = [
            "a",
            "▁",
            "▁a",
            "a▁",
            "▁▁a",
            "é",
            "▁é",
            "▁zwölf",
            "123456789abcdef",
            "123456789abcdefg",
            "123456789abcdefgh",
            "▁123456789abcd",
            "▁123456789abcde",
            "",
            "\0",
            "▁123456789abcdefghijklm",
        ];
        let bytes = texts.map(str::as_bytes);
        for kind in [1, 4, 6] {
            let whole = file(&bytes, kind);
            let mut pieces = Pieces::default();
            assert_eq!(pieces.read_usual(&whole, 0), whole.len());
            let mut expected = Pieces::default();
            for field in Fields::of(&whole) {
                let field = field.unwrap();
                let Value::Bytes(message) = field.value else {
                    panic!("a piece is a message");
                };
                expected.read(&field, message).unwrap();
            }
            assert!(pieces == expected && expected.originals.is_empty());
            assert!(pieces.iter().map(|piece| piece.text).eq(texts));
            let others = if kind == 1 { 0 } else { texts.len() };
            assert_eq!(pieces.others().len(), others);
        }
    }

    #[test]
    fn reading_ends_before_what_is_unusual() {
        let long = [b'a'; 128];
        let broken: [&[u8]; 6] = [
            b"\xFF",
            b"\xE2\x96",
            b"\xE2\x96\x81\x80",
            b"a\xC3",
            b"0123456789abcde\xC3",
            &long,
        ];
        for unusual in broken {
            let whole = file(&[b"a", b"b", unusual, b"c"], 1);
            let front = file(&[b"a", b"b"], 1).len();
            let mut pieces = Pieces::default();
            assert_eq!((pieces.read_usual(&whole, 0), pieces.len()), (front, 2));
        }
        // A kind that is none counts as unset, and is written again as it was.
        let whole = file(&[b"a"], 9);
        assert_eq!(Pieces::default().read_usual(&whole, 0), 0);
        let cut = file(&[b"a"], 1);
        for end in 0..cut.len() {
            assert_eq!(Pieces::default().read_usual(&cut[..end], 0), 0);
        }
    }
}
