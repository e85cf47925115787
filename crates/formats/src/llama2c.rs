//! `tokenizer.bin`: the pieces of a SentencePiece BPE as llama2.c and ExecuTorch export them.
//!
//! Look here for the two headers, one number in llama2.c's and four in ExecuTorch's, and for what the file
//! does not say: pieces have a space for `▁`, the pieces for the two ends of a text have line feeds around
//! them, and byte pieces are recognised by their names.

use jeton_models::model::byte_of_token;
use jeton_models::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_models::stages::Stages;
use jeton_text::error::{Error, ErrorKind, Result};

use super::sentencepiece;

/// The most bytes of a piece. The format has no magic number: a file is recognised by plausible content.
const LONGEST_PIECE: u32 = 1 << 12;
/// The fewest pieces of a file: those of the bytes, and three.
const FEWEST: usize = 259;

/// What a file holds.
struct Contents<'f> {
    pieces: Vec<(f32, &'f [u8])>,
    /// The ids of the pieces in front of a text and after it.
    ends: [u32; 2],
}

/// Whether a file is of this format: it has nothing else in front or after.
pub fn is_one(file: &[u8]) -> bool {
    contents(file).is_some()
}

fn contents(file: &[u8]) -> Option<Contents<'_>> {
    let number = |at: usize| {
        let bytes = file.get(4 * at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let pieces = |longest: u32, heading: usize| {
        (1..=LONGEST_PIECE).contains(&longest).then_some(())?;
        pieces(file.get(heading..)?, longest)
    };
    if let Some(pieces) = pieces(number(0)?, 4) {
        return Some(Contents {
            pieces,
            ends: [1, 2],
        });
    }
    let [count, first, last] = [number(0)?, number(1)?, number(2)?];
    let pieces = pieces(number(3)?, 16)?;
    (pieces.len() == count as usize && first < count && last < count).then_some(Contents {
        pieces,
        ends: [first, last],
    })
}

/// The pieces of a file up to its end.
fn pieces(mut rest: &[u8], longest: u32) -> Option<Vec<(f32, &[u8])>> {
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let score = f32::from_le_bytes(*rest.first_chunk()?);
        let length = u32::from_le_bytes(*rest.get(4..)?.first_chunk()?);
        if !score.is_finite() || length > longest {
            return None;
        }
        let (piece, behind) = rest.get(8..)?.split_at_checked(length as usize)?;
        pieces.push((score, piece));
        rest = behind;
    }
    (pieces.len() >= FEWEST).then_some(pieces)
}

/// The tokenizer of a file.
///
/// # Errors
/// A file of another format; pieces that are not text.
pub fn read(file: &[u8]) -> Result<Stages> {
    let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
    let Some(Contents { pieces, ends }) = contents(file) else {
        return broken("this is not a tokenizer.bin of llama2.c or ExecuTorch".to_owned());
    };
    let mut read = Vec::with_capacity(pieces.len());
    for (id, (score, piece)) in (0..).zip(pieces) {
        let Ok(text) = std::str::from_utf8(piece) else {
            return broken(format!("piece {id} is not UTF-8"));
        };
        read.push(match id {
            0 => Piece::new(text.trim(), score, PieceKind::Unknown),
            id if ends.contains(&id) => Piece::new(text.trim(), score, PieceKind::Control),
            _ if byte_of_token(piece).is_some() => Piece::new(text, score, PieceKind::Byte),
            _ => Piece::new(text.replace(' ', "▁"), score, PieceKind::Normal),
        });
    }
    let trainer = TrainerSpec {
        algorithm: Algorithm::Bpe,
        byte_fallback: true,
        ..TrainerSpec::default()
    };
    let normalizer = NormalizerSpec {
        remove_extra_whitespaces: false,
        ..NormalizerSpec::default()
    };
    sentencepiece::stages(ModelProto::new(read, trainer, normalizer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(heading: &[u32]) -> Vec<u8> {
        let mut pieces = ["<unk>", "\n<s>\n", "\n</s>\n"].map(str::to_owned).to_vec();
        pieces.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
        pieces.extend([" ", "a", " a"].map(str::to_owned));
        let mut file: Vec<u8> = heading.iter().flat_map(|it| it.to_le_bytes()).collect();
        for piece in pieces {
            file.extend((-1_f32).to_le_bytes());
            file.extend((piece.len() as u32).to_le_bytes());
            file.extend(piece.as_bytes());
        }
        file
    }

    #[test]
    fn both_headings_are_read() {
        for heading in [&[6][..], &[262, 1, 2, 6]] {
            let file = file(heading);
            let stages = read(&file).unwrap();
            assert_eq!(stages.model.vocab().id("▁a".as_bytes()), Some(261));
            let added: Vec<_> = stages
                .added_tokens
                .iter()
                .map(|it| it.content.as_str())
                .collect();
            assert_eq!(added, ["<s>", "</s>"]);
            // A file that ends after a piece is whole, if it has the bytes.
            assert!((0..file.len() - 29).all(|end| !is_one(&file[..end])));
        }
        assert!(!is_one(&file(&[5])));
        assert!(!is_one(&file(&[261, 1, 2, 6])));
    }
}
