//! The values of a GGUF's keys: numbers, texts and lists of either, as they are in the file.

/// The type of a text, and that of an array, in the file.
pub const TEXT: u32 = 8;
pub const ARRAY: u32 = 9;

/// The type of a number, with the value that it has in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    U64 = 10,
    I64 = 11,
    F64 = 12,
}

impl Kind {
    pub fn of(number: u32) -> Option<Self> {
        use Kind::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let all = [U8, I8, U16, I16, U32, I32, F32, Bool, U64, I64, F64];
        all.into_iter().find(|kind| *kind as u32 == number)
    }

    /// Bytes per number.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// A list of texts, in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text at the end.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The texts, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = 0;
        let ends = self.ends.iter();
        ends.map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut this = Self::default();
        for text in texts {
            this.push(text.as_ref());
        }
        this
    }
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number or a flag, in little-endian order.
    Number(Kind, Vec<u8>),
    /// A text, which need not be UTF-8.
    Text(Vec<u8>),
    /// Several numbers, one after another.
    Numbers(Kind, Vec<u8>),
    /// Several texts.
    Texts(Texts),
}

impl Value {
    /// A number that is an id.
    pub fn id(id: u32) -> Self {
        Self::Number(Kind::U32, id.to_le_bytes().to_vec())
    }

    /// A flag.
    pub fn flag(flag: bool) -> Self {
        Self::Number(Kind::Bool, vec![flag.into()])
    }

    /// A text.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::Text(text.into())
    }

    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number(..) => "a number",
            Self::Text(_) => "a text",
            Self::Numbers(..) => "an array of numbers",
            Self::Texts(_) => "an array of texts",
        }
    }
}

/// A whole number of a kind.
pub fn whole(kind: Kind, bytes: &[u8]) -> Option<i128> {
    let is_signed = matches!(kind, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64);
    if matches!(kind, Kind::F32 | Kind::F64) {
        return None;
    }
    let fill = if is_signed && bytes.last()? & 0x80 != 0 {
        0xFF
    } else {
        0
    };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    Some(i128::from_le_bytes(wide))
}
