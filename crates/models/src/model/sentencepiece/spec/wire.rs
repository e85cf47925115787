//! The wire format of protocol buffers: messages are fields, fields are numbered values.
//!
//! Look here when a `.model` file cannot be parsed at all; the meaning of its fields is in
//! [`super::proto`]. Nothing is allocated for a length before its bytes are known to exist. A
//! field whose wire type does not fit its number is treated as unknown.
//!
//! Source: "Encoding", Protocol Buffers Documentation.

use jeton_text::error::{Error, ErrorKind, Result};

/// The value of a field, by its wire type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// Integers, booleans, enumerations.
    Varint(u64),
    /// 64-bit floats and fixed integers.
    Fixed64(u64),
    /// Texts, bytes, messages.
    Bytes(&'a [u8]),
    /// 32-bit floats and fixed integers.
    Fixed32(u32),
    /// Fields between two marks. No known field is one.
    Group,
}

/// Groups nested deeper than this are refused, as protocol buffers refuse them.
const MAX_DEPTH: usize = 100;

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub number: u32,
    pub value: Value<'a>,
    /// The field as it is in the file, its number included.
    pub raw: &'a [u8],
    /// Where it begins in its message.
    position: usize,
}

impl<'a> Field<'a> {
    /// The text that the bytes of the field are.
    pub fn text(&self, bytes: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(bytes).map_err(|error| {
            broken(
                format!(
                    "field {} is not valid UTF-8 from its byte {} on",
                    self.number,
                    error.valid_up_to()
                ),
                self.position,
            )
        })
    }
}

/// The fields of a message, in the order of the file.
pub(super) struct Fields<'a> {
    message: &'a [u8],
    position: usize,
}

impl<'a> Fields<'a> {
    pub fn of(message: &'a [u8]) -> Self {
        Self::from(message, 0)
    }

    /// Those from the one on that begins at `position`.
    pub fn from(message: &'a [u8], position: usize) -> Self {
        Self { message, position }
    }

    /// Where the next field begins.
    pub fn position(&self) -> usize {
        self.position
    }

    fn next_field(&mut self) -> Result<Field<'a>> {
        let start = self.position;
        let (number, wire_type) = self.key()?;
        let value = match wire_type {
            3 => self.group(number, start)?,
            _ => self.value(number, wire_type, start)?,
        };
        Ok(Field {
            number,
            value,
            raw: &self.message[start..self.position],
            position: start,
        })
    }

    /// The number of a field and its wire type.
    fn key(&mut self) -> Result<(u32, u64)> {
        let start = self.position;
        let key = self.varint()?;
        match u32::try_from(key >> 3) {
            Ok(number @ 1..=0x1FFF_FFFF) => Ok((number, key & 7)),
            _ => Err(broken(format!("{} is not a field number", key >> 3), start)),
        }
    }

    fn value(&mut self, number: u32, wire_type: u64, start: usize) -> Result<Value<'a>> {
        Ok(match wire_type {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            4 => {
                let message = format!("a group of the number {number} ends that never began");
                return Err(broken(message, start));
            }
            _ => {
                let message =
                    format!("field {number} has wire type {wire_type}, which does not exist");
                return Err(broken(message, start));
            }
        })
    }

    /// Passes over the fields of a group, up to the mark that ends it.
    fn group(&mut self, number: u32, start: usize) -> Result<Value<'a>> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            if self.position == self.message.len() {
                return Err(broken(format!("the group {innermost} never ends"), start));
            }
            let at = self.position;
            match self.key()? {
                (number, 3) if open.len() < MAX_DEPTH => open.push(number),
                (_, 3) => return Err(broken("groups are nested too deeply", start)),
                (number, 4) if number == innermost => {
                    open.pop();
                }
                (number, wire_type) => {
                    self.value(number, wire_type, at)?;
                }
            }
        }
        Ok(Value::Group)
    }

    fn varint(&mut self) -> Result<u64> {
        let start = self.position;
        if let Some(&byte @ ..0x80) = self.message.get(start) {
            self.position += 1;
            return Ok(byte.into());
        }
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(broken("a number takes more than ten bytes", start))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let left = self.message.len() - self.position;
        match usize::try_from(length) {
            Ok(length) if length <= left => {
                let start = self.position;
                self.position += length;
                Ok(&self.message[start..self.position])
            }
            _ => Err(broken(
                format!("{length} bytes should follow, but only {left} are left"),
                self.position,
            )),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position == self.message.len() {
            return None;
        }
        let field = self.next_field();
        if field.is_err() {
            self.position = self.message.len();
        }
        Some(field)
    }
}

/// A message as it is written, field by field.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub fn integer(&mut self, number: u32, value: u64) -> &mut Self {
        self.key(number, 0);
        self.varint(value);
        self
    }

    pub fn boolean(&mut self, number: u32, value: bool) -> &mut Self {
        self.integer(number, u64::from(value))
    }

    pub fn float(&mut self, number: u32, value: f32) -> &mut Self {
        self.key(number, 5);
        self.0.extend(value.to_bits().to_le_bytes());
        self
    }

    pub fn bytes(&mut self, number: u32, value: &[u8]) -> &mut Self {
        self.key(number, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// A field, or several, that are written already.
    pub fn raw(&mut self, fields: &[u8]) -> &mut Self {
        self.0.extend_from_slice(fields);
        self
    }

    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    fn key(&mut self, number: u32, wire_type: u64) {
        self.varint(u64::from(number) << 3 | wire_type);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A file that breaks the wire format at a byte of a message.
fn broken(message: impl Into<String>, position: usize) -> Error {
    Error::new(ErrorKind::Format, message).at(format!("byte {position}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back() {
        let message = Message::default()
            .integer(3, 300)
            .float(2, -1.5)
            .bytes(1, "é".as_bytes())
            .boolean(536_870_911, true)
            .finish();
        let fields: Vec<Field> = Fields::of(&message).map(Result::unwrap).collect();
        let values: Vec<_> = fields.iter().map(|it| (it.number, it.value)).collect();
        assert_eq!(
            values,
            [
                (3, Value::Varint(300)),
                (2, Value::Fixed32((-1.5_f32).to_bits())),
                (1, Value::Bytes("é".as_bytes())),
                (536_870_911, Value::Varint(1)),
            ]
        );
        let raw: Vec<u8> = fields.iter().flat_map(|field| field.raw).copied().collect();
        assert_eq!(raw, message);
    }

    #[test]
    fn groups_are_passed_over_whole() {
        // Group 1 holds field 2 = 5 and an empty group 3; after it, field 4 = 6.
        let message = [0x0B, 0x10, 5, 0x1B, 0x1C, 0x0C, 0x20, 6];
        let values: Vec<_> = Fields::of(&message)
            .map(|field| field.map(|it| (it.number, it.value, it.raw.len())).unwrap())
            .collect();
        assert_eq!(values, [(1, Value::Group, 6), (4, Value::Varint(6), 2)]);
        for (depth, is_read) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
            let message = [vec![0x0B; depth], vec![0x0C; depth]].concat();
            assert_eq!(Fields::of(&message).all(|field| field.is_ok()), is_read);
        }
        let endless = vec![0x0B; 1_000_000];
        assert!(Fields::of(&endless).next().unwrap().is_err());
    }

    #[test]
    fn broken_messages_are_named() {
        let rows: [(&str, &[u8], &str); 10] = [
            ("field 0", &[0x02, 0x00], "0 is not a field number"),
            ("a group without end", &[0x0B], "the group 1 never ends"),
            (
                "an end without group",
                &[0x0C],
                "the number 1 ends that never began",
            ),
            (
                "another group's end",
                &[0x0B, 0x14],
                "the number 2 ends that never",
            ),
            (
                "a wire type that is none",
                &[0x0E],
                "wire type 6, which does not exist",
            ),
            ("an endless number", &[0xFF; 11], "more than ten bytes"),
            ("a cut number", &[0x08, 0x80], "only 0 are left"),
            ("a cut float", &[0x15, 0, 0], "only 2 are left"),
            (
                "a cut text",
                &[0x0A, 5, b'a'],
                "5 bytes should follow, but only 1",
            ),
            (
                "an absurd length",
                &[
                    0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
                ],
                "18446744073709551615 bytes should follow",
            ),
        ];
        for (name, message, expected) in rows {
            let error = Fields::of(message).find_map(Result::err).unwrap();
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
    }
}
