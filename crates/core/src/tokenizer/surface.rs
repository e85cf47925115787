//! The text of a token in a decoded text.

use rayon::prelude::*;

use super::Tokenizer;
use jeton_stages::decoder::Invalid;
use jeton_text::error::Result;
use jeton_text::interrupt::Listener;

/// The length of a token's text, and whether it splits a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many bytes it has.
    pub bytes: usize,
    /// Whether it begins or ends inside a character.
    pub splits: bool,
}

impl Tokenizer {
    /// What a token adds to decoded text in its middle, as bytes: the decoder's reading of the token
    /// between two others. `None` where the id has no token.
    ///
    /// # Errors
    /// A pattern that gave up on the text.
    pub fn surface(&self, id: u32) -> Result<Option<Vec<u8>>> {
        let nothing = self.between_neighbours(None)?;
        let token = self.decoder_input(id);
        token
            .map(|token| self.surface_beside(&nothing, token))
            .transpose()
    }

    /// The same of what the decoder gets for a token, where `nothing` is what two neighbours become with
    /// no token between them: what the right one brings itself, such as a space.
    pub(super) fn surface_beside(&self, nothing: &[u8], token: &[u8]) -> Result<Vec<u8>> {
        if self.stages.decoder.is_none() {
            return Ok([b" ", token].concat());
        }
        let mut text = self.between_neighbours(Some(token))?;
        if text.ends_with(nothing) {
            text.truncate(text.len() - nothing.len());
        }
        Ok(text)
    }

    /// What the decoder makes of a token between two others, or of nothing.
    pub(super) fn between_neighbours(&self, middle: Option<&[u8]>) -> Result<Vec<u8>> {
        /// Characters of no meaning, which no decoder changes.
        const NEIGHBOURS: [&[u8]; 2] = ["\u{F8FE}".as_bytes(), "\u{F8FF}".as_bytes()];
        let Some(decoder) = &self.stages.decoder else {
            return Ok(Vec::new());
        };
        let [left, right] = NEIGHBOURS;
        let tokens = [Some(left), middle, Some(right)];
        let tokens = tokens.into_iter().flatten().map(<[u8]>::to_vec).collect();
        let text = decoder.decode(tokens, Invalid::Keep)?.concat();
        let text = text.strip_prefix(left).unwrap_or(&text);
        Ok(text.strip_suffix(right).unwrap_or(text).to_vec())
    }

    /// The shapes of the surfaces of these tokens, found on as many threads.
    ///
    /// # Errors
    /// As [`Tokenizer::surface`].
    pub fn surface_shapes(&self, ids: &[u32], threads: usize) -> Result<Vec<Shape>> {
        let nothing = self.between_neighbours(None)?;
        let shape = |&id: &u32| {
            let token = self.decoder_input(id);
            let surface = token.map(|token| self.surface_beside(&nothing, token));
            let surface = surface.transpose()?.unwrap_or_default();
            Ok(Shape {
                bytes: surface.len(),
                splits: str::from_utf8(&surface).is_err(),
            })
        };
        match threads {
            1 => ids.iter().map(shape).collect(),
            _ => Listener::lend(|listener| {
                let shapes = ids.par_iter().map(|id| listener.during(|| shape(id)));
                shapes.collect()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, Tokenizer};
    use jeton_models::Stages;
    use jeton_models::model::{Model, WordLevel};
    use jeton_stages::decoder::Decoder;
    use jeton_stages::vocab::Vocab;
    use jeton_text::pattern::SearchPattern;

    #[test]
    fn tokens_have_the_text_that_they_have_between_others() {
        let tokens = ["a", "##b", "▁c", "<0xF0>", "d</w>"];
        let of = |decoder: Option<Decoder>| {
            let vocab = Vocab::new(tokens.iter().map(|it| it.as_bytes()).zip(0..)).unwrap();
            let mut stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "a")));
            stages.decoder = decoder;
            let tokenizer = Tokenizer::new(stages).unwrap();
            assert_eq!(tokenizer.surface(9).unwrap(), None);
            let surfaces = (0..5).map(|id| tokenizer.surface(id).unwrap().unwrap());
            let surfaces: Vec<_> = surfaces.collect();
            for (surface, shape) in surfaces
                .iter()
                .zip(tokenizer.surface_shapes(&[0, 1, 2, 3, 4], 1).unwrap())
            {
                let splits = surface == b"\xF0";
                assert_eq!(
                    shape,
                    Shape {
                        bytes: surface.len(),
                        splits
                    }
                );
            }
            surfaces
        };
        let word_piece = of(Some(Decoder::WordPiece {
            prefix: "##".to_owned(),
            cleanup: false,
        }));
        assert_eq!(word_piece[..2], [b" a".to_vec(), b"b".to_vec()]);
        let bytes = of(Some(Decoder::Sequence(vec![
            Decoder::Replace {
                pattern: SearchPattern::Literal("▁".to_owned()),
                content: " ".to_owned(),
            },
            Decoder::ByteFallback,
            Decoder::Fuse,
            Decoder::Strip {
                content: ' ',
                start: 1,
                stop: 0,
            },
        ])));
        assert_eq!(bytes[2..4], [b" c".to_vec(), b"\xF0".to_vec()]);
        let suffix = "</w>".to_owned();
        assert_eq!(of(Some(Decoder::Bpe { suffix }))[4], b"d ");
        assert_eq!(of(None)[0], b" a");
    }
}
