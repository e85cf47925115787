//! SentencePiece's decoder: pieces are joined, `▁` becomes a space, byte pieces become characters.
//!
//! Look here for how a `.model` file decodes: the unknown piece has a surface of its own, and the space
//! that encoding put in front is dropped. Control pieces are special tokens, which decoding skips on
//! request.

use serde::{Deserialize, Serialize};

use super::invalid::Invalid;
use crate::normalizer::SentencePieceNormalizer;
use jeton_text::error::Result;
use jeton_text::interrupt::paced;
use jeton_text::length_limit::LengthLimit;

/// The decoder of a SentencePiece model. A piece after a NUL is text, even if it is spelled as the unknown
/// piece or as a byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentencePieceDecoder {
    /// The unknown piece, and what it decodes to.
    pub unknown: Option<(String, String)>,
    /// Pieces such as `<0xE2>` are bytes.
    pub bytes: bool,
    /// What encoding did with spaces at the front.
    pub leading_spaces: LeadingSpaces,
    /// What is done to the text at last.
    pub denormalizer: Option<SentencePieceNormalizer>,
}

/// How many of the spaces at the front of a text are dropped in decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeadingSpaces {
    /// None: encoding put none there.
    Keep,
    /// One of each piece until there is text: encoding keeps no spaces there.
    DropAll,
    /// The one that encoding put there.
    DropOne,
}

impl SentencePieceDecoder {
    /// What each piece decodes to. A character in bytes belongs to the last of them.
    pub(super) fn decode(&self, pieces: Vec<Vec<u8>>, invalid: Invalid) -> Result<Vec<Vec<u8>>> {
        let known = paced(pieces.into_iter()).map(|piece| (piece, false));
        let decoded = self.surfaces(known.collect(), invalid)?;
        match &self.denormalizer {
            None => Ok(decoded),
            Some(denormalizer) => {
                let text = decoded.concat();
                let mut denormalized = Vec::with_capacity(text.len());
                for chunk in text.utf8_chunks() {
                    let valid = denormalizer.normalize_str(chunk.valid());
                    denormalized.extend_from_slice(valid.as_bytes());
                    denormalized.extend_from_slice(chunk.invalid());
                }
                Ok(vec![denormalized])
            }
        }
    }

    /// What each piece becomes before the text is normalized at last; with each, whether it is none of
    /// the model's, and so decoded to itself.
    ///
    /// # Errors
    /// The unknown piece makes the text many times as long as the pieces.
    pub fn surfaces(&self, pieces: Vec<(Vec<u8>, bool)>, invalid: Invalid) -> Result<Vec<Vec<u8>>> {
        let lengths = pieces.iter().map(|(piece, _)| piece.len() + 1);
        let limit = LengthLimit::of(lengths.sum());
        let mut length = 0;
        let mut decoded: Vec<Vec<u8>> = Vec::new();
        let mut bytes = Vec::new();
        let mut at_front = true;
        for (piece, is_unknown) in paced(pieces.into_iter()) {
            if let Some(byte) = self.byte(&piece) {
                bytes.push(byte);
                continue;
            }
            if !bytes.is_empty() {
                at_front = false;
                decode_bytes(&mut bytes, invalid, &mut decoded);
            }
            let text = if is_unknown {
                piece
            } else {
                self.surface(&piece, &mut at_front)
            };
            at_front &= text.is_empty();
            length += text.len();
            if length > limit.longest() {
                return Err(limit.error("bytes").at("the surface of the unknown piece"));
            }
            decoded.push(text);
        }
        decode_bytes(&mut bytes, invalid, &mut decoded);
        Ok(decoded)
    }

    /// Appends the text of a run of bytes, and empties it: what [`decode_bytes`] gives, joined.
    pub(super) fn join_bytes(bytes: &mut Vec<u8>, invalid: Invalid, text: &mut Vec<u8>) {
        for chunk in bytes.utf8_chunks() {
            text.extend_from_slice(chunk.valid().as_bytes());
            for &byte in chunk.invalid() {
                match invalid {
                    Invalid::Keep => text.push(byte),
                    Invalid::Replace => text.extend_from_slice("\u{FFFD}".as_bytes()),
                }
            }
        }
        bytes.clear();
    }

    /// As [`join_bytes`](Self::join_bytes), while more bytes may follow: keeps a character's that is not
    /// whole yet.
    pub(super) fn join_sure_bytes(bytes: &mut Vec<u8>, invalid: Invalid, text: &mut Vec<u8>) {
        let begun = match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => {
                let after = error.valid_up_to() + error.error_len().unwrap_or(0);
                let mut rest = bytes.split_off(after);
                Self::join_bytes(bytes, invalid, text);
                Self::join_sure_bytes(&mut rest, invalid, text);
                *bytes = rest;
                return;
            }
            Ok(_) => bytes.len(),
        };
        let begun = bytes.split_off(begun);
        Self::join_bytes(bytes, invalid, text);
        *bytes = begun;
    }

    pub(super) fn byte(&self, piece: &[u8]) -> Option<u8> {
        match piece {
            [b'<', b'0', b'x', high, low, b'>'] if self.bytes => {
                let digit = |byte: u8| match byte {
                    b'0'..=b'9' => Some(byte - b'0'),
                    b'A'..=b'F' => Some(byte - b'A' + 10),
                    _ => None,
                };
                Some(digit(*high)? << 4 | digit(*low)?)
            }
            _ => None,
        }
    }

    pub(super) fn surface(&self, piece: &[u8], at_front: &mut bool) -> Vec<u8> {
        let Ok(mut text) = std::str::from_utf8(piece) else {
            return piece.to_vec();
        };
        if let Some(plain) = text.strip_prefix('\0') {
            text = plain;
        } else if let Some((unknown, surface)) = &self.unknown
            && unknown == text
        {
            return surface.as_bytes().to_vec();
        }
        if *at_front
            && self.leading_spaces != LeadingSpaces::Keep
            && let Some(rest) = text.strip_prefix('▁')
        {
            text = rest;
            *at_front = self.leading_spaces == LeadingSpaces::DropAll;
        }
        text.replace('▁', " ").into_bytes()
    }
}

/// The characters of a run of bytes, each where its last byte is.
fn decode_bytes(bytes: &mut Vec<u8>, invalid: Invalid, decoded: &mut Vec<Vec<u8>>) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            decoded.extend((1..character.len_utf8()).map(|_| Vec::new()));
            decoded.push(character.to_string().into_bytes());
        }
        decoded.extend(chunk.invalid().iter().map(|byte| match invalid {
            Invalid::Keep => vec![*byte],
            Invalid::Replace => "\u{FFFD}".as_bytes().to_vec(),
        }));
    }
    bytes.clear();
}
