//! A SentencePiece `.model` file: its pieces, and the specifications that say what they mean.
//!
//! Look here for what each field of the file is. Whatever this reader does not know is kept, so a
//! file that was read is written again byte for byte.

use serde::{Deserialize, Serialize};

use super::pieces::{Piece, PieceKind, Pieces};
use super::wire::{Fields, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::model::MAX_ID;

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
        Some(match number {
            1 => Self::Unigram,
            2 => Self::Bpe,
            3 => Self::Word,
            4 => Self::Char,
            _ => return None,
        })
    }

    /// As messages call it.
    pub(crate) fn name(self) -> &'static str {
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

/// What of the trainer's specification says how text is encoded and decoded.
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
    fn merge(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                3 => {
                    if let Some(algorithm) = Algorithm::from_number(field.integer()?) {
                        self.algorithm = algorithm;
                    }
                }
                24 => self.treat_whitespace_as_suffix = field.boolean()?,
                35 => self.byte_fallback = field.boolean()?,
                44 => self.unk_surface = field.text()?.to_owned(),
                46 => self.bos_piece = field.text()?.to_owned(),
                47 => self.eos_piece = field.text()?.to_owned(),
                48 => self.pad_piece = field.text()?.to_owned(),
                _ => {}
            }
        }
        Ok(())
    }

    fn message(&self, pieces: &Pieces) -> Vec<u8> {
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
    fn merge(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            match field.number {
                1 => self.name = field.text()?.to_owned(),
                2 => self.precompiled_charsmap = field.bytes()?.to_vec(),
                3 => self.add_dummy_prefix = field.boolean()?,
                4 => self.remove_extra_whitespaces = field.boolean()?,
                5 => self.escape_whitespaces = field.boolean()?,
                _ => {}
            }
        }
        Ok(())
    }

    fn message(&self) -> Vec<u8> {
        Message::default()
            .bytes(1, self.name.as_bytes())
            .bytes(2, &self.precompiled_charsmap)
            .boolean(3, self.add_dummy_prefix)
            .boolean(4, self.remove_extra_whitespaces)
            .boolean(5, self.escape_whitespaces)
            .finish()
    }
}

/// A text, and the pieces that it must be cut into, joined by spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// The text.
    pub input: String,
    /// The pieces.
    pub expected: String,
}

/// A `.model` file.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelProto {
    /// The pieces in the order of ids.
    pub pieces: Pieces,
    trainer: TrainerSpec,
    normalizer: NormalizerSpec,
    denormalizer: Option<NormalizerSpec>,
    self_tests: Vec<SelfTest>,
    /// How many pieces the trainer's specification says that there are.
    stated_size: Option<u64>,
    /// All fields but the pieces, as the file has them.
    rest: Vec<u8>,
}

impl ModelProto {
    /// A file of these pieces and specifications.
    pub fn new(
        pieces: impl IntoIterator<Item = Piece>,
        trainer: TrainerSpec,
        normalizer: NormalizerSpec,
    ) -> Self {
        let pieces: Pieces = pieces.into_iter().collect();
        let rest = Message::default()
            .bytes(2, &trainer.message(&pieces))
            .bytes(3, &normalizer.message())
            .finish();
        Self {
            trainer,
            normalizer,
            denormalizer: None,
            self_tests: Vec::new(),
            stated_size: Some(pieces.len() as u64),
            pieces,
            rest,
        }
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// Bytes that are no such file, a score that is no number, a text that is not UTF-8, more
    /// pieces than there can be ids; each with its place.
    pub fn read(file: &[u8]) -> Result<Self> {
        let mut proto = Self {
            pieces: Pieces::default(),
            trainer: TrainerSpec::default(),
            normalizer: NormalizerSpec::default(),
            denormalizer: None,
            self_tests: Vec::new(),
            stated_size: None,
            rest: Vec::new(),
        };
        let mut fields = Fields::of(file);
        loop {
            fields = Fields::from(file, proto.pieces.read_usual(file, fields.position()));
            let Some(field) = fields.next() else {
                return Ok(proto);
            };
            let field = field?;
            match field.number {
                1 => {
                    let id = proto.pieces.len();
                    let place = |error: Error| error.at(format!("piece {id}"));
                    if id > MAX_ID as usize {
                        return Err(place(Error::new(
                            ErrorKind::Format,
                            format!("past the largest supported id {MAX_ID}"),
                        )));
                    }
                    let message = field.bytes().map_err(place)?;
                    proto.pieces.read(message).map_err(place)?;
                    continue;
                }
                2 => field
                    .bytes()
                    .and_then(|message| proto.read_trainer(message))
                    .map_err(|error| error.at("trainer_spec"))?,
                3 => field
                    .bytes()
                    .and_then(|message| proto.normalizer.merge(message))
                    .map_err(|error| error.at("normalizer_spec"))?,
                4 => field
                    .bytes()
                    .and_then(|message| proto.read_self_tests(message))
                    .map_err(|error| error.at("self_test_data"))?,
                5 => {
                    let denormalizer = proto.denormalizer.get_or_insert_default();
                    field
                        .bytes()
                        .and_then(|message| denormalizer.merge(message))
                        .map_err(|error| error.at("denormalizer_spec"))?;
                }
                _ => {}
            }
            proto.rest.extend_from_slice(field.raw);
        }
    }

    fn read_trainer(&mut self, message: &[u8]) -> Result<()> {
        self.trainer.merge(message)?;
        for field in Fields::of(message) {
            let field = field?;
            if field.number == 4 {
                self.stated_size = Some(field.integer()?);
            }
        }
        Ok(())
    }

    fn read_self_tests(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            if field.number != 1 {
                continue;
            }
            let mut test = SelfTest {
                input: String::new(),
                expected: String::new(),
            };
            for field in Fields::of(field.bytes()?) {
                let field = field?;
                match field.number {
                    1 => test.input = field.text()?.to_owned(),
                    2 => test.expected = field.text()?.to_owned(),
                    _ => {}
                }
            }
            self.self_tests.push(test);
        }
        Ok(())
    }

    /// How many pieces the file says that it holds.
    pub(super) fn stated_size(&self) -> Option<u64> {
        self.stated_size
    }

    /// Whether the file holds a specification of the trainer.
    pub(super) fn has_trainer(&self) -> bool {
        self.has(2)
    }

    /// Whether the file holds a specification of the normalizer.
    pub(super) fn has_normalizer(&self) -> bool {
        self.has(3)
    }

    fn has(&self, number: u32) -> bool {
        Fields::of(&self.rest).any(|field| field.is_ok_and(|field| field.number == number))
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut file = Message::default();
        for message in self.pieces.messages() {
            file.bytes(1, &message);
        }
        file.raw(&self.rest).finish()
    }

    /// What of the trainer's specification says how text is encoded and decoded.
    pub fn trainer(&self) -> &TrainerSpec {
        &self.trainer
    }

    /// What happens to text before it is encoded.
    pub fn normalizer(&self) -> &NormalizerSpec {
        &self.normalizer
    }

    /// What happens to text after it is decoded.
    pub fn denormalizer(&self) -> Option<&NormalizerSpec> {
        self.denormalizer.as_ref()
    }

    /// Texts with the pieces that they must be cut into.
    pub fn self_tests(&self) -> &[SelfTest] {
        &self.self_tests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(score: f32) -> ModelProto {
        let pieces = [
            Piece::new("<unk>", 0.0, PieceKind::Unknown),
            Piece::new("<s>", 0.0, PieceKind::Control),
            Piece::new("▁a", score, PieceKind::Normal),
        ];
        let trainer = TrainerSpec {
            algorithm: Algorithm::Bpe,
            ..TrainerSpec::default()
        };
        ModelProto::new(pieces, trainer, NormalizerSpec::default())
    }

    #[test]
    fn what_is_written_is_read() {
        let proto = example(-1.5);
        let read = ModelProto::read(&proto.write()).unwrap();
        assert_eq!(read, proto);
        assert_eq!(read.trainer().algorithm, Algorithm::Bpe);
    }

    #[test]
    fn unknown_fields_and_odd_spellings_survive() {
        let odd_piece = Message::default()
            .integer(3, 1)
            .bytes(1, b"b")
            .bytes(200, b"extension")
            .finish();
        let file = Message::default()
            .raw(&example(-1.5).write())
            .bytes(9, b"from the future")
            .finish();
        let file = Message::default().bytes(1, &odd_piece).raw(&file).finish();
        let proto = ModelProto::read(&file).unwrap();
        assert_eq!(proto.pieces.get(0).unwrap().text, "b");
        assert_eq!(proto.write(), file);
    }

    #[test]
    fn every_truncation_is_an_error_or_a_shorter_file() {
        let file = example(-1.5).write();
        for end in 0..file.len() {
            if let Ok(proto) = ModelProto::read(&file[..end]) {
                assert_eq!(proto.write(), file[..end]);
            }
        }
    }

    #[test]
    fn scores_that_are_no_numbers_are_refused() {
        for score in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = ModelProto::read(&example(score).write())
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with("piece 2: the score of \"▁a\" is "),
                "{error}"
            );
        }
    }
}
