//! What a token looks like in the text that it is decoded to.

use super::Tokenizer;
use crate::decoder::Invalid;
use crate::error::Result;

impl Tokenizer {
    /// What a token adds to decoded text in its middle, as bytes: the decoder's reading of the token
    /// between two others. `None` where the id stands for no token.
    ///
    /// # Errors
    /// A pattern that gave up on the text.
    pub fn surface(&self, id: u32) -> Result<Option<Vec<u8>>> {
        /// Characters of no meaning, which no decoder changes.
        const NEIGHBOURS: [&str; 2] = ["\u{F8FE}", "\u{F8FF}"];
        let Some(token) = self.decoder_input(id) else {
            return Ok(None);
        };
        let Some(decoder) = &self.stages.decoder else {
            return Ok(Some([b" ", token].concat()));
        };
        let [left, right] = NEIGHBOURS.map(|text| text.as_bytes().to_vec());
        let between = |middle: Option<&[u8]>| -> Result<Vec<u8>> {
            let tokens = [Some(left.as_slice()), middle, Some(right.as_slice())];
            let tokens = tokens.into_iter().flatten().map(<[u8]>::to_vec).collect();
            let text = decoder.decode(tokens, Invalid::Keep)?.concat();
            let text = text.strip_prefix(left.as_slice()).unwrap_or(&text);
            Ok(text.strip_suffix(right.as_slice()).unwrap_or(text).to_vec())
        };
        // What the right neighbour brings itself, such as a space.
        let (nothing, text) = (between(None)?, between(Some(token))?);
        let surface = text.strip_suffix(nothing.as_slice()).unwrap_or(&text);
        Ok(Some(surface.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::Tokenizer;
    use crate::Stages;
    use crate::decoder::Decoder;
    use crate::model::{Model, Vocab, WordLevel};
    use crate::pattern::SearchPattern;

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
            surfaces.collect::<Vec<_>>()
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
