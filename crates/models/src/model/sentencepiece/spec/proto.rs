//! A SentencePiece `.model` file: its pieces, and the specifications that say what they mean.
//!
//! Fields that this reader does not know are kept, so a
//! file that was read is written again byte for byte.

use super::pieces::{Piece, PieceKind, Pieces};
use super::specifications::{NormalizerSpec, TrainerSpec};
use super::wire::{Fields, Message, Value};
use jeton_stages::vocab::MAX_ID;
use jeton_text::error::{Error, ErrorKind, Result};

/// A text of the model's self-test, and the pieces that it must give, joined by spaces.
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
    /// Where some of them come before the last piece: how many pieces come first, and how many
    /// bytes of `rest` are then due.
    between: Vec<(usize, usize)>,
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
            between: Vec::new(),
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
            between: Vec::new(),
        };
        let mut fields = Fields::of(file);
        loop {
            fields = Fields::from(file, proto.pieces.read_usual(file, fields.position()));
            let Some(field) = fields.next() else {
                let pieces = proto.pieces.len();
                proto.between.retain(|(before, _)| *before < pieces);
                return Ok(proto);
            };
            let field = field?;
            match (field.number, field.value) {
                (1, Value::Bytes(message)) => {
                    let id = proto.pieces.len();
                    let place = |error: Error| error.at(format!("piece {id}"));
                    if id > MAX_ID as usize {
                        return Err(place(Error::new(
                            ErrorKind::Format,
                            format!("past the largest supported id {MAX_ID}"),
                        )));
                    }
                    proto.pieces.read(&field, message).map_err(place)?;
                    continue;
                }
                (2, Value::Bytes(message)) => proto
                    .read_trainer(message)
                    .map_err(|error| error.at("trainer_spec"))?,
                (3, Value::Bytes(message)) => proto
                    .normalizer
                    .merge(message)
                    .map_err(|error| error.at("normalizer_spec"))?,
                (4, Value::Bytes(message)) => proto
                    .read_self_tests(message)
                    .map_err(|error| error.at("self_test_data"))?,
                (5, Value::Bytes(message)) => proto
                    .denormalizer
                    .get_or_insert_default()
                    .merge(message)
                    .map_err(|error| error.at("denormalizer_spec"))?,
                _ => {}
            }
            proto.rest.extend_from_slice(field.raw);
            let here = (proto.pieces.len(), proto.rest.len());
            match proto.between.last_mut() {
                Some(last) if last.0 == here.0 => *last = here,
                _ => proto.between.push(here),
            }
        }
    }

    /// Whether these bytes are such a file, or begin as one: fields, of which the first that is a
    /// piece is spelled as one. Its lengths and numbers are bytes that no text has.
    pub fn begins(file: &[u8]) -> bool {
        for field in Fields::of(file) {
            match field.map(|field| (field.number, field.value, field.raw)) {
                Ok((1, Value::Bytes(message), raw)) if is_piece(message) => {
                    let is_control = |byte: &u8| byte.is_ascii_control();
                    let in_text = |byte: &u8| byte.is_ascii_whitespace();
                    if raw.iter().any(|byte| is_control(byte) && !in_text(byte)) {
                        return true;
                    }
                }
                Ok((1, Value::Bytes(_), _)) | Err(_) => return false,
                Ok(_) => {}
            }
        }
        false
    }

    fn read_trainer(&mut self, message: &[u8]) -> Result<()> {
        self.trainer.merge(message)?;
        for field in Fields::of(message) {
            let field = field?;
            if let (4, Value::Varint(size)) = (field.number, field.value) {
                self.stated_size = u64::try_from(size as i32).ok();
            }
        }
        Ok(())
    }

    fn read_self_tests(&mut self, message: &[u8]) -> Result<()> {
        for field in Fields::of(message) {
            let field = field?;
            let (1, Value::Bytes(sample)) = (field.number, field.value) else {
                continue;
            };
            let mut test = SelfTest {
                input: String::new(),
                expected: String::new(),
            };
            for field in Fields::of(sample) {
                let field = field?;
                match (field.number, field.value) {
                    (1, Value::Bytes(text)) => test.input = field.text(text)?.to_owned(),
                    (2, Value::Bytes(text)) => test.expected = field.text(text)?.to_owned(),
                    _ => {}
                }
            }
            self.self_tests.push(test);
        }
        Ok(())
    }

    /// How many pieces the file says that it holds.
    pub fn stated_size(&self) -> Option<u64> {
        self.stated_size
    }

    /// Whether the file holds a specification of the trainer.
    pub fn has_trainer(&self) -> bool {
        self.has(2)
    }

    /// Whether the file holds a specification of the normalizer.
    pub fn has_normalizer(&self) -> bool {
        self.has(3)
    }

    fn has(&self, number: u32) -> bool {
        Fields::of(&self.rest).any(|field| {
            field.is_ok_and(|it| it.number == number && matches!(it.value, Value::Bytes(_)))
        })
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut file = Message::default();
        let mut between = self.between.iter().peekable();
        let mut written = 0;
        for (at, field) in self.pieces.fields().enumerate() {
            if let Some((_, due)) = between.next_if(|(before, _)| *before == at) {
                file.raw(&self.rest[written..*due]);
                written = *due;
            }
            file.raw(&field);
        }
        file.raw(&self.rest[written..]).finish()
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

    /// The pieces that begin a text, end it, replace unknown text and pad sequences: the control
    /// pieces of those names, as SentencePiece finds them.
    pub fn roles(&self) -> Vec<(&'static str, String)> {
        let named = |name: &str, kind: PieceKind| {
            let mut pieces = self.pieces.of_kind(kind);
            pieces.any(|(piece, _)| piece.text == name)
        };
        let unknown = self.pieces.of_kind(PieceKind::Unknown).next();
        let mut roles: Vec<_> = [
            ("bos", &self.trainer.bos_piece),
            ("eos", &self.trainer.eos_piece),
            ("pad", &self.trainer.pad_piece),
        ]
        .into_iter()
        .filter(|(_, name)| named(name, PieceKind::Control))
        .map(|(role, name)| (role, name.clone()))
        .collect();
        roles.extend(unknown.map(|(piece, _)| ("unk", piece.text.to_owned())));
        roles
    }

    /// Texts with the pieces that they must be split into.
    pub fn self_tests(&self) -> &[SelfTest] {
        &self.self_tests
    }
}

/// Whether a message is a piece: whole, with a text.
fn is_piece(message: &[u8]) -> bool {
    let mut has_text = false;
    for field in Fields::of(message) {
        match field.map(|field| (field.number, field.value)) {
            Ok((1, Value::Bytes(text))) if std::str::from_utf8(text).is_ok() => has_text = true,
            Ok((1, Value::Bytes(_))) | Err(_) => return false,
            Ok(_) => {}
        }
    }
    has_text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sentencepiece::spec::Algorithm;

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
    fn written_values_are_read_back() {
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
        let group = [0x4B, 0x08, 1, 0x4C];
        let file = [&group, file.as_slice(), &group, &file, &group].concat();
        assert_eq!(ModelProto::read(&file).unwrap().write(), file);
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
