//! The container: the header of a GGUF file and its keys and values, read and written without the tensors.
//!
//! How hostile files are refused is in [`super::source`].
//!
//! ```text
//! GGUF, version: u32, tensors: u64, entries: u64
//! entry   key: text, kind: u32, value          text: length: u64, bytes
//! tensor  name: text, dimensions: u32, size of each: u64, kind: u32, offset: u64
//! ```

use std::io::Read;

use super::source::{Source, broken};
use super::value::{ARRAY, Kind, TEXT, Texts, Value, whole};
use jeton_text::error::{Error, ErrorKind, Result};

/// The first bytes of a GGUF file.
pub const MAGIC: &[u8; 4] = b"GGUF";
/// The version that is written. Versions 2 and 3 are read; they differ only in byte order.
const VERSION: u32 = 3;
/// The most dimensions of a tensor.
const MAX_DIMENSIONS: u32 = 16;
/// Alignment of tensors in bytes, unless `general.alignment` gives another.
const ALIGNMENT: u64 = 32;

/// The part of a GGUF in front of its tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    entries: Vec<(String, Value)>,
    /// How many tensors there are.
    tensors: u64,
    /// Their descriptions, as in the file.
    tensor_infos: Vec<u8>,
    /// The number of token embeddings, if there are any.
    embeddings: Option<u64>,
    /// Bytes up to the tensors in the file that was read, without padding.
    end: u64,
}

impl Metadata {
    /// Reads a file of `length` bytes up to its tensors.
    ///
    /// # Errors
    /// A file that is not a GGUF, with the key where that shows; more than [`jeton_text::files::LARGEST`] bytes in front of
    /// the tensors.
    pub fn read(file: impl Read, length: u64) -> Result<Self> {
        let mut source = Source::new(file, length);
        if source.bytes(4)? != MAGIC {
            return broken("this is not a GGUF");
        }
        match source.u32()? {
            2 | 3 => {}
            1 => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "this is version 1 of GGUF, which llama.cpp no longer reads",
                )
                .hint("convert the model again"));
            }
            version if matches!(version.swap_bytes(), 1..=3) => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "this GGUF is big-endian, as for an IBM mainframe",
                )
                .hint("convert it with gguf_convert_endian of the gguf package"));
            }
            version => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!("this is version {version} of GGUF; versions 2 and 3 are known"),
                ));
            }
        }
        let tensors = source.u64()?;
        let count = source.count(13, "entries")?;
        let mut metadata = Self {
            tensors,
            ..Self::default()
        };
        let mut seen = hashbrown::HashSet::new();
        for _ in 0..count {
            let key = source.key()?;
            let value = source.value().map_err(|error| error.at(key.clone()))?;
            if !seen.insert(key.clone()) {
                return broken(format!("the key {key:?} is there twice"));
            }
            metadata.entries.push((key, value));
        }
        if tensors > source.left / 24 {
            return broken(format!(
                "it says that it has {tensors} tensors, but only {} bytes follow",
                source.left
            ));
        }
        for _ in 0..tensors {
            metadata.read_tensor(&mut source)?;
        }
        metadata.end = length - source.left;
        Ok(metadata)
    }

    fn read_tensor(&mut self, source: &mut Source<impl Read>) -> Result<()> {
        let name = source.text()?;
        let dimensions = source.u32()?;
        if dimensions > MAX_DIMENSIONS {
            return broken(format!("a tensor of {dimensions} dimensions"));
        }
        let rest = source.bytes(8 * u64::from(dimensions) + 12)?;
        if name == b"token_embd.weight" && dimensions == 2 {
            self.embeddings = rest[8..].first_chunk().map(|it| u64::from_le_bytes(*it));
        }
        let infos = &mut self.tensor_infos;
        infos.extend((name.len() as u64).to_le_bytes());
        infos.extend(name);
        infos.extend(dimensions.to_le_bytes());
        infos.extend(rest);
        Ok(())
    }

    /// The number of token embeddings, if the model has any.
    pub fn embeddings(&self) -> Option<u64> {
        self.embeddings
    }

    /// Where the tensors of the file that was read begin.
    ///
    /// # Errors
    /// An alignment that is not valid.
    pub fn tensors_at(&self) -> Result<u64> {
        Ok(self.end.next_multiple_of(self.alignment()?))
    }

    /// The bytes of a file from its beginning to its tensors.
    ///
    /// # Errors
    /// An alignment that is not valid.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend(self.tensors.to_le_bytes());
        head.extend((self.entries.len() as u64).to_le_bytes());
        let put_text = |head: &mut Vec<u8>, text: &[u8]| {
            head.extend((text.len() as u64).to_le_bytes());
            head.extend(text);
        };
        for (key, value) in &self.entries {
            put_text(&mut head, key.as_bytes());
            match value {
                Value::Number(kind, bytes) => {
                    head.extend((*kind as u32).to_le_bytes());
                    head.extend(bytes);
                }
                Value::Text(text) => {
                    head.extend(TEXT.to_le_bytes());
                    put_text(&mut head, text);
                }
                Value::Numbers(kind, bytes) => {
                    head.extend(ARRAY.to_le_bytes());
                    head.extend((*kind as u32).to_le_bytes());
                    head.extend(((bytes.len() / kind.size()) as u64).to_le_bytes());
                    head.extend(bytes);
                }
                Value::Texts(texts) => {
                    head.extend(ARRAY.to_le_bytes());
                    head.extend(TEXT.to_le_bytes());
                    head.extend((texts.len() as u64).to_le_bytes());
                    for text in texts.iter() {
                        put_text(&mut head, text);
                    }
                }
            }
        }
        head.extend(&self.tensor_infos);
        // Without tensors there is nothing to align.
        if self.tensors > 0 {
            let end = (head.len() as u64).next_multiple_of(self.alignment()?);
            head.resize(end as usize, 0);
        }
        Ok(head)
    }

    fn alignment(&self) -> Result<u64> {
        /// The largest that is accepted.
        const LARGEST: u64 = 1 << 20;
        let Some(number) = self.number("general.alignment")? else {
            return Ok(ALIGNMENT);
        };
        match u64::try_from(number).ok() {
            Some(it) if it.is_power_of_two() && it <= LARGEST => Ok(it),
            _ => broken(format!(
                "general.alignment: {number} is not a valid alignment"
            )),
        }
    }

    /// Sets a key: in place if it exists, else at the end.
    pub fn set(&mut self, key: &str, value: Value) {
        match self.entries.iter_mut().find(|(held, _)| held == key) {
            Some((_, held)) => *held = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// Removes every key for which `goes` is true.
    pub fn remove(&mut self, goes: impl Fn(&str) -> bool) {
        self.entries.retain(|(key, _)| !goes(key));
    }

    /// All keys with their values.
    pub fn into_entries(self) -> impl Iterator<Item = (String, Value)> {
        self.entries.into_iter()
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    fn get(&self, key: &str) -> Option<&Value> {
        let mut entries = self.entries.iter();
        entries
            .find(|(held, _)| held == key)
            .map(|(_, value)| value)
    }

    /// The text of a key.
    ///
    /// # Errors
    /// A value that is not text in UTF-8.
    pub fn text(&self, key: &str) -> Result<Option<&str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Some(text)),
                Err(error) => broken(format!("{key}: this is not UTF-8: {error}")),
            },
            Some(other) => mismatch(key, "a text", other),
        }
    }

    /// The number of a key, of any kind; a flag is 0 or 1.
    ///
    /// # Errors
    /// A value that is not a whole number.
    pub fn number(&self, key: &str) -> Result<Option<i128>> {
        match self.get(key) {
            None => Ok(None),
            Some(value @ Value::Number(kind, bytes)) => match whole(*kind, bytes) {
                Some(number) => Ok(Some(number)),
                None => mismatch(key, "a whole number", value),
            },
            Some(other) => mismatch(key, "a whole number", other),
        }
    }

    /// The flag of a key.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        Ok(self.number(key)?.map(|number| number != 0))
    }

    /// The texts of a key.
    ///
    /// # Errors
    /// A value of another type.
    pub fn texts(&self, key: &str) -> Result<Option<&Texts>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Texts(texts)) => Ok(Some(texts)),
            // An empty array may be of any type.
            Some(Value::Numbers(_, bytes)) if bytes.is_empty() => Ok(None),
            Some(other) => mismatch(key, "an array of texts", other),
        }
    }

    /// The whole numbers of a key.
    ///
    /// # Errors
    /// A value of another type.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<i128>>> {
        match self.get(key) {
            None => Ok(None),
            Some(value @ Value::Numbers(kind, bytes)) => {
                let numbers = bytes.chunks_exact(kind.size());
                let numbers: Option<Vec<i128>> = numbers.map(|it| whole(*kind, it)).collect();
                match numbers {
                    Some(numbers) => Ok(Some(numbers)),
                    None => mismatch(key, "an array of whole numbers", value),
                }
            }
            Some(Value::Texts(texts)) if texts.len() == 0 => Ok(None),
            Some(other) => mismatch(key, "an array of whole numbers", other),
        }
    }

    /// The bytes of a key.
    ///
    /// # Errors
    /// A value of another type.
    pub fn bytes(&self, key: &str) -> Result<Option<&[u8]>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Numbers(Kind::I8 | Kind::U8, bytes)) => Ok(Some(bytes)),
            Some(other) => mismatch(key, "an array of bytes", other),
        }
    }

    /// The scores of a key: numbers of 32 bits.
    ///
    /// # Errors
    /// A value of another type.
    pub fn scores(&self, key: &str) -> Result<Option<Vec<f32>>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Numbers(kind @ (Kind::F32 | Kind::I32), bytes)) => {
                let (scores, _) = bytes.as_chunks();
                let score = |bytes: &[u8; 4]| match kind {
                    Kind::F32 => f32::from_le_bytes(*bytes),
                    _ => i32::from_le_bytes(*bytes) as f32,
                };
                Ok(Some(scores.iter().map(score).collect()))
            }
            Some(other) => mismatch(key, "an array of numbers of 32 bits", other),
        }
    }
}

fn mismatch<T>(key: &str, expected: &str, found: &Value) -> Result<T> {
    broken(format!(
        "{key}: expected {expected}, found {}",
        found.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(count: u64, entries: &[u8]) -> Vec<u8> {
        let head = [MAGIC.as_slice(), &3_u32.to_le_bytes(), &0_u64.to_le_bytes()].concat();
        [&head, count.to_le_bytes().as_slice(), entries].concat()
    }

    fn entry(kind: u32, value: &[u8]) -> Vec<u8> {
        let key = [&1_u64.to_le_bytes(), b"k".as_slice()].concat();
        [&key, kind.to_le_bytes().as_slice(), value].concat()
    }

    fn read(file: &[u8]) -> Result<Metadata> {
        Metadata::read(file, file.len() as u64)
    }

    #[test]
    fn written_values_are_read_back() {
        let mut metadata = Metadata::default();
        metadata.set("a.text", Value::text("é"));
        metadata.set("an.id", Value::id(7));
        metadata.set("a.flag", Value::flag(true));
        metadata.set("texts", Value::Texts(["", "b", "cd"].into_iter().collect()));
        metadata.set("numbers", Value::Numbers(Kind::I16, vec![255, 255, 1, 0]));
        let again = read(&metadata.write().unwrap()).unwrap();
        assert_eq!(again.entries, metadata.entries);
        assert_eq!(again.text("a.text").unwrap(), Some("é"));
        assert_eq!(again.number("an.id").unwrap(), Some(7));
        assert_eq!(again.flag("a.flag").unwrap(), Some(true));
        assert_eq!(again.numbers("numbers").unwrap(), Some(vec![-1, 1]));
        assert!(again.text("an.id").is_err());
    }

    #[test]
    fn hostile_files_are_refused_at_once() {
        let huge = u64::MAX / 2 + 1;
        let cases: &[(&str, Vec<u8>, &str)] = &[
            ("nothing", vec![], "ends too early"),
            ("no magic", b"GGUG\x03\0\0\0".to_vec(), "not a GGUF"),
            ("version 1", b"GGUF\x01\0\0\0".to_vec(), "version 1"),
            ("version 9", b"GGUF\x09\0\0\0".to_vec(), "version 9"),
            ("big-endian", b"GGUF\0\0\0\x03".to_vec(), "big-endian"),
            ("2^63 entries", file(huge, b""), "entries follow"),
            (
                "one entry too many",
                file(2, &entry(0, b"\x01")),
                "entries follow",
            ),
            (
                "2^63 tensors",
                [b"GGUF\x03\0\0\0".as_slice(), &huge.to_le_bytes(), &[0; 8]].concat(),
                "tensors",
            ),
            (
                "a key of 2^63 bytes",
                file(1, &[&huge.to_le_bytes(), [0; 16].as_slice()].concat()),
                "bytes of a key follow",
            ),
            (
                "a text of 2^63 bytes",
                file(1, &entry(TEXT, &huge.to_le_bytes())),
                "k: it says",
            ),
            (
                "2^63 texts",
                file(
                    1,
                    &entry(
                        ARRAY,
                        &[&8_u32.to_le_bytes()[..], &huge.to_le_bytes()].concat(),
                    ),
                ),
                "texts follow",
            ),
            (
                "2^63 numbers",
                file(
                    1,
                    &entry(
                        ARRAY,
                        &[&12_u32.to_le_bytes()[..], &huge.to_le_bytes()].concat(),
                    ),
                ),
                "numbers follow",
            ),
            (
                "an array of arrays",
                file(
                    1,
                    &entry(
                        ARRAY,
                        &[&9_u32.to_le_bytes()[..], &1_u64.to_le_bytes()].concat(),
                    ),
                ),
                "an array of arrays",
            ),
            (
                "no kind",
                file(1, &entry(77, b"\0\0\0\0")),
                "77 is not a kind of value",
            ),
            (
                "a key twice",
                file(2, &[entry(0, b"\x01"), entry(0, b"\x01")].concat()),
                "twice",
            ),
        ];
        for (name, file, message) in cases {
            let error = read(file).expect_err(name).to_string();
            assert!(error.contains(message), "{name}: {error}");
        }
        let whole = file(
            1,
            &entry(TEXT, &[&2_u64.to_le_bytes(), b"ab".as_slice()].concat()),
        );
        for end in 0..whole.len() {
            assert!(read(&whole[..end]).is_err(), "{end}");
        }
        assert!(read(&whole).is_ok());
    }
}
