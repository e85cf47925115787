//! GPT-2's printable alphabet: the 256 characters for the 256 bytes in vocabulary files.
//!
//! Look here wherever bytes are shown as text or read back: the byte-level normalizer,
//! pre-tokenizer and decoder, and the formats. The bytes 33–126, 161–172 and 174–255 are written
//! as themselves; the n-th of the others as the character 256 + n.

/// The character of `byte` in the alphabet.
///
/// ```
/// use jeton_text::printable::to_char;
///
/// assert_eq!(to_char(b'a'), 'a');
/// assert_eq!(to_char(b' '), 'Ġ');
/// assert_eq!(to_char(b'\n'), 'Ċ');
/// ```
pub const fn to_char(byte: u8) -> char {
    CHARACTERS[byte as usize]
}

/// The byte of `character`, if it is one of the 256.
///
/// ```
/// use jeton_text::printable::to_byte;
///
/// assert_eq!(to_byte('Ġ'), Some(b' '));
/// assert_eq!(to_byte(' '), None);
/// ```
pub fn to_byte(character: char) -> Option<u8> {
    match u32::from(character) {
        code if code < 256 => stands_for_itself(code as u8).then_some(code as u8),
        code => SHIFTED.get(code as usize - 256).copied(),
    }
}

/// The characters of the UTF-8 bytes of `character`.
///
/// ```
/// use jeton_text::printable::of_character;
///
/// assert_eq!(of_character('é').collect::<String>(), "Ã©");
/// ```
pub fn of_character(character: char) -> impl Iterator<Item = char> {
    let mut buffer = [0; 4];
    let length = character.encode_utf8(&mut buffer).len();
    buffer.into_iter().take(length).map(to_char)
}

/// Writes each byte as its character.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| to_char(*byte)).collect()
}

/// The bytes that `text` spells, if each of its characters is one of the 256.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    decode_into(text, &mut bytes).then_some(bytes)
}

/// As [`decode`], after other bytes; where it cannot be, none are added, and it says so.
pub fn decode_into(text: &str, bytes: &mut Vec<u8>) -> bool {
    let start = bytes.len();
    bytes.reserve(text.len());
    for character in text.chars() {
        let Some(byte) = to_byte(character) else {
            bytes.truncate(start);
            return false;
        };
        bytes.push(byte);
    }
    true
}

/// Whether each character of `text` is one of the 256.
pub fn stands_for_bytes(text: &str) -> bool {
    text.chars().all(|character| to_byte(character).is_some())
}

const fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, 33..=126 | 161..=172 | 174..=255)
}

/// Bytes that are written as another character.
const SHIFTED_COUNT: usize = 68;

/// The bytes that are not written as themselves, in order.
const SHIFTED: [u8; SHIFTED_COUNT] = {
    let mut shifted = [0; SHIFTED_COUNT];
    let (mut byte, mut count) = (0, 0);
    while byte < 256 {
        if !stands_for_itself(byte as u8) {
            shifted[count] = byte as u8;
            count += 1;
        }
        byte += 1;
    }
    assert!(count == SHIFTED_COUNT);
    shifted
};

const CHARACTERS: [char; 256] = {
    let mut characters = ['\0'; 256];
    let mut byte = 0;
    while byte < 256 {
        characters[byte] = byte as u8 as char;
        byte += 1;
    }
    let mut count = 0;
    while count < SHIFTED_COUNT {
        characters[SHIFTED[count] as usize] = match char::from_u32(256 + count as u32) {
            Some(character) => character,
            None => unreachable!(),
        };
        count += 1;
    }
    characters
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Some(bytes));
    }

    #[test]
    fn only_the_256_characters_are_bytes() {
        let known = (char::MIN..=char::MAX).filter(|c| to_byte(*c).is_some());
        assert_eq!(known.count(), 256);
    }

    #[test]
    fn the_last_of_each_range() {
        assert_eq!(to_char(0xAD), 'Ń');
        assert_eq!(to_char(0), 'Ā');
        assert_eq!(to_char(0xA0), 'ł');
        assert_eq!(to_char(0xFF), 'ÿ');
    }
}
