//! `▁`, which stands for a space in the vocabularies of SentencePiece.

use jeton_text::interrupt::paced;

/// What stands for a space.
pub const MARK: char = '▁';
/// The same in UTF-8.
pub const MARK_BYTES: [u8; 3] = [0xE2, 0x96, 0x81];
/// How many bytes are searched for it before any is found to be there.
const SEARCHED: usize = 1 << 12;

/// Whether a text holds a `▁`. Looked for at all places at once, since its last byte is common.
pub fn has_mark(text: &[u8]) -> bool {
    let [a, b, c] = MARK_BYTES;
    let starts = (0..text.len()).step_by(SEARCHED);
    paced(starts).any(|start| {
        let part = &text[start..text.len().min(start + SEARCHED + 2)];
        let [second, third] = [1, 2].map(|by| part.get(by..).unwrap_or_default());
        let places = part.iter().zip(second).zip(third);
        places.fold(false, |any, ((x, y), z)| {
            any | (*x == a) & (*y == b) & (*z == c)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        assert_eq!(MARK.to_string().as_bytes(), MARK_BYTES);
        for before in (0..8).chain(SEARCHED - 4..SEARCHED + 4) {
            let text = "a".repeat(before);
            assert!(!has_mark(text.as_bytes()));
            assert!(!has_mark(format!("{text}▂").as_bytes()));
            assert!(has_mark(format!("{text}▁").as_bytes()));
            assert!(has_mark(format!("{text}▁a").as_bytes()));
        }
    }
}
