//! The specifications in a `.model` file: how pieces are chosen, and what happens to text around that.

use serde::{Deserialize, Serialize};

use super::pieces::{PieceKind, Pieces};
use super::wire::{Fields, Message, Value};
use jeton_text::error::Result;

/// How pieces are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// The most probable segmentation.
    #[default]
    Unigram,
    /// Neighbouring pieces are merged, the best score first.
    Bpe,
    /// Whole words.
    Word,
    /// Single characters.
    Char,
}

impl Algorithm {
    fn from_number(number: u64) -> Option<Self> {
        // As protocol buffers take the numbers of an enumeration.
        Some(match number as u32 {
            1 => Self::Unigram,
            2 => Self::Bpe,
            3 => Self::Word,
            4 => Self::Char,
            _ => return None,
        })
    }

    /// As messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unigram => "Unigram",
            Self::Bpe => "BPE",
            Self::Word => "word",
            Self::Char => "character",
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::Unigram => 1,
            Self::Bpe => 2,
            Self::Word => 3,
            Self::Char => 4,
        }
    }
}

/// The part of the trainer's specification that says how text is encoded and decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainerSpec {
    /// How pieces are chosen.
    pub algorithm: Algorithm,
    /// Spaces end words instead of beginning them.
    pub treat_whitespace_as_suffix: bool,
    /// Text that no piece covers is written as bytes.
    pub byte_fallback: bool,
    /// What the unknown piece is decoded to.
    pub unk_surface: String,
    /// The name of the piece at the beginning of a text.
    pub bos_piece: String,
    /// The name of the piece at the end of a text.
    pub eos_piece: String,
    /// The name of the piece that fills rows.
    pub pad_piece: String,
}

impl Default for TrainerSpec {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Unigram,
            treat_whitespace_as_suffix: false,
            byte_fallback: false,
            unk_surface: " \u{2047} ".to_owned(),
            bos_piece: "<s>".to_owned(),
            eos_piece: "</s>".to_owned(),
            pad_piece: "<pad>".to_owned(),
        }
    }
}

impl TrainerSpec {
    pub(super) fn merge(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (3, Value::Varint(number)) => {
                    self.algorithm = Algorithm::from_number(number).unwrap_or(self.algorithm);
                }
                (24, Value::Varint(flag)) => self.treat_whitespace_as_suffix = flag != 0,
                (35, Value::Varint(flag)) => self.byte_fallback = flag != 0,
                (44, Value::Bytes(text)) => self.unk_surface = field.text(text)?.to_owned(),
                (46, Value::Bytes(text)) => self.bos_piece = field.text(text)?.to_owned(),
                (47, Value::Bytes(text)) => self.eos_piece = field.text(text)?.to_owned(),
                (48, Value::Bytes(text)) => self.pad_piece = field.text(text)?.to_owned(),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn message(&self, pieces: &Pieces) -> Vec<u8> {
        let id = |text: &str, kind: PieceKind| {
            pieces
                .iter()
                .position(|piece| piece.kind == kind && piece.text == text)
                .map_or(-1_i64 as u64, |id| id as u64)
        };
        let unk = pieces
            .iter()
            .position(|piece| piece.kind == PieceKind::Unknown);
        let mut message = Message::default();
        message
            .integer(3, self.algorithm.number())
            .integer(4, pieces.len() as u64)
            .boolean(24, self.treat_whitespace_as_suffix)
            .boolean(35, self.byte_fallback)
            .integer(40, unk.map_or(-1_i64 as u64, |id| id as u64))
            .integer(41, id(&self.bos_piece, PieceKind::Control))
            .integer(42, id(&self.eos_piece, PieceKind::Control))
            .integer(43, id(&self.pad_piece, PieceKind::Control))
            .bytes(44, self.unk_surface.as_bytes());
        if let Some(unk) = pieces.iter().find(|piece| piece.kind == PieceKind::Unknown) {
            message.bytes(45, unk.text.as_bytes());
        }
        message
            .bytes(46, self.bos_piece.as_bytes())
            .bytes(47, self.eos_piece.as_bytes())
            .bytes(48, self.pad_piece.as_bytes())
            .finish()
    }
}

/// What happens to text before it is encoded, or after it is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalizerSpec {
    /// The name of the rules that the character map was made of.
    pub name: String,
    /// The character map; empty for none.
    pub precompiled_charsmap: Vec<u8>,
    /// A space is put in front (or at the end, where spaces end words).
    pub add_dummy_prefix: bool,
    /// Spaces at the ends are removed, and runs of them made one.
    pub remove_extra_whitespaces: bool,
    /// Spaces are written `▁`.
    pub escape_whitespaces: bool,
}

impl Default for NormalizerSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            precompiled_charsmap: Vec::new(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
        }
    }
}

impl NormalizerSpec {
    pub(super) fn merge(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            match (field.number, field.value) {
                (1, Value::Bytes(text)) => self.name = field.text(text)?.to_owned(),
                (2, Value::Bytes(blob)) => self.precompiled_charsmap = blob.to_vec(),
                (3, Value::Varint(flag)) => self.add_dummy_prefix = flag != 0,
                (4, Value::Varint(flag)) => self.remove_extra_whitespaces = flag != 0,
                (5, Value::Varint(flag)) => self.escape_whitespaces = flag != 0,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn message(&self) -> Vec<u8> {
        Message::default()
            .bytes(1, self.name.as_bytes())
            .bytes(2, &self.precompiled_charsmap)
            .boolean(3, self.add_dummy_prefix)
            .boolean(4, self.remove_extra_whitespaces)
            .boolean(5, self.escape_whitespaces)
            .finish()
    }
}
