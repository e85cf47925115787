//! Encoding a text that arrives piece by piece, without all of it in memory.
//!
//! The ids of a stream, joined, equal those of one call for the whole text: [`Tokenizer::encode_ids`].

use super::split_point_search::SplitPointSearch;
use super::{EncodeOptions, Tokenizer};
use jeton_fast::Place;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::boundary_before;

/// Bytes of a text, about, that are encoded at a time.
const BYTES_AT_A_TIME: usize = if cfg!(test) { 32 } else { 256 << 10 };
/// Bytes at the end of these that are searched for a place to split.
const SEARCHED_AT_END: usize = if cfg!(test) { 24 } else { 64 << 10 };
/// The most bytes of text that wait for a split point.
const MAX_KEPT: usize = 512 << 20;

/// Encodes a text that arrives piece by piece.
#[derive(Debug)]
pub struct EncodeStream {
    split_points: SplitPointSearch,
    options: EncodeOptions,
    kept: String,
    /// The length from which on a place to split is searched for again, in bytes.
    room: usize,
    place: Place,
}

impl EncodeStream {
    /// A stream of a text in which special tokens are what `special` says.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer; `special` is [`SpecialPolicy::Raise`].
    pub fn new(
        tokenizer: &Tokenizer,
        special: SpecialPolicy,
        add_special_tokens: bool,
    ) -> Result<Self> {
        let options = EncodeOptions {
            special,
            add_special_tokens,
            ..EncodeOptions::PLAIN
        };
        let split_points =
            SplitPointSearch::new(tokenizer, &options, "this tokenizer cannot encode a stream")?;
        Ok(Self {
            split_points,
            options,
            kept: String::new(),
            room: BYTES_AT_A_TIME,
            place: Place::First,
        })
    }

    /// Adds text, and appends the ids that no later text can change to `ids`.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`]; half a gigabyte of text without a safe split point.
    pub fn push(&mut self, tokenizer: &Tokenizer, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        self.kept.push_str(text);
        while self.kept.len() >= self.room {
            let Some(end) = self.split_point(tokenizer) else {
                if self.kept.len() > MAX_KEPT {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        "more than 512 MiB of text have no safe split point",
                    ));
                }
                // Not a block further: each search may go over all that is kept.
                self.room = (2 * self.kept.len()).min(MAX_KEPT + 1);
                return Ok(());
            };
            let part = &self.kept[..end];
            tokenizer.encode_part(part, self.place, false, &self.options, ids)?;
            self.place = Place::Inner;
            self.kept.drain(..end);
            self.room = BYTES_AT_A_TIME;
        }
        Ok(())
    }

    /// Appends the remaining ids, at the end of the text.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn finish(self, tokenizer: &Tokenizer, ids: &mut Vec<u32>) -> Result<()> {
        tokenizer.encode_part(&self.kept, self.place, true, &self.options, ids)
    }

    /// A safe split point near the end of the kept text.
    fn split_point(&self, tokenizer: &Tokenizer) -> Option<usize> {
        let near = self.kept.len().saturating_sub(SEARCHED_AT_END);
        let near = boundary_before(&self.kept, near);
        self.split_points
            .find(tokenizer, &self.kept, near, &self.options)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokenizer::{DecodeOptions, DecodeStream, StopRules};
    use jeton_formats::sentencepiece;
    use jeton_models::Stages;
    use jeton_models::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
    };
    use jeton_models::model::{Bpe, Characters, Model, Unigram};
    use jeton_stages::added_tokens::AddedToken;
    use jeton_stages::normalizer::{Normalization, Normalizer};
    use jeton_stages::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior, named};
    use jeton_stages::vocab::Vocab;
    use jeton_text::mem::lazy::LazyStatic;
    use jeton_text::pattern::{Dialect, Regex, SearchPattern};
    use jeton_text::text::InvalidUtf8;

    fn ranks() -> Stages {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let merged: [&[u8]; 6] = [b"th", b"he", b"the", b" the", b"\n\n", b"  "];
        let all = bytes.chain(merged.map(<[u8]>::to_vec)).zip(0..);
        let ranks = Bpe::by_ranks(Vocab::new(all).unwrap()).unwrap();
        Stages::of_model(Model::Bpe(ranks))
    }

    fn in_pattern(name: &str) -> Stages {
        Stages {
            pre_tokenizer: Some(named::find(name).unwrap().pre_tokenizer()),
            ..ranks()
        }
    }

    fn added(id: u32, content: &str, normalized: bool) -> AddedToken {
        AddedToken {
            normalized,
            ..AddedToken::plain(1000 + id, content)
        }
    }

    /// After each form of Unicode, with added tokens in the text and in what the form makes of it.
    fn in_forms() -> Vec<Stages> {
        let mut all = Vec::new();
        let forms = [
            Normalizer::Nfc,
            Normalizer::Nfd,
            Normalizer::Nfkc,
            Normalizer::Nfkd,
        ];
        for form in forms {
            for name in ["gpt2", "qwen2", "qwen3.5", "o200k"] {
                let stages = Stages {
                    normalizer: Some(form.clone()),
                    ..in_pattern(name)
                };
                all.push(stages.clone());
                all.push(Stages {
                    added_tokens: vec![
                        added(0, "  ", true),
                        added(1, "   ", true),
                        added(2, "e\u{301}", true),
                        added(3, "e the", false),
                        added(4, " th", true),
                        AddedToken {
                            special: true,
                            ..added(5, "the!", true)
                        },
                    ],
                    ..stages
                });
            }
        }
        all
    }

    /// Those that see words with the spaces before them: of `.model` files, which make one of all spaces
    /// or do not, and of a `tokenizer.json`, with an added token that no normalizer sees.
    fn with_marks() -> Vec<Stages> {
        let mut all = Vec::new();
        let pieces = [
            "▁", "▁the", "▁t", "th", "he", "the", "e", "t", "h", "▁▁", "?",
        ];
        for collapses in [false, true] {
            let normal = |(text, place)| Piece::new(text, -f32::from(place), PieceKind::Normal);
            let first = Piece::new("<unk>", 0.0, PieceKind::Unknown);
            let pieces = pieces.into_iter().zip(0_u8..).map(normal);
            let trainer = TrainerSpec {
                algorithm: Algorithm::Bpe,
                ..TrainerSpec::default()
            };
            let charsmap = Normalization::NmtNfkc.charsmap().unwrap();
            let normalizer = NormalizerSpec {
                precompiled_charsmap: charsmap.blob(),
                add_dummy_prefix: collapses,
                remove_extra_whitespaces: collapses,
                escape_whitespaces: true,
                ..NormalizerSpec::default()
            };
            let pieces = [first].into_iter().chain(pieces);
            all.push(sentencepiece::stages(ModelProto::new(pieces, trainer, normalizer)).unwrap());
        }
        let pieces = ["<unk>"].into_iter().chain(pieces);
        let model = Unigram::new(pieces.map(|piece| (piece, -1.0)), Some(0), false).unwrap();
        all.push(Stages {
            normalizer: Some(Normalizer::Nfkc),
            pre_tokenizer: Some(PreTokenizer::Metaspace {
                replacement: '▁',
                prepend_scheme: PrependScheme::First,
                split: true,
            }),
            added_tokens: vec![added(0, "e the", false)],
            ..Stages::of_model(Model::Unigram(model))
        });
        all
    }

    pub static TOKENIZERS: LazyStatic<Vec<Tokenizer>> = LazyStatic::new(tokenizers);

    fn tokenizers() -> Vec<Tokenizer> {
        let patterns = ["gpt2", "cl100k", "o200k"].map(in_pattern);
        // In text that stays as it is, split points see such tokens.
        let late = Stages {
            added_tokens: vec![added(0, "e the", true), added(1, "  ", false)],
            ..in_pattern("gpt2")
        };
        let letters = "?the\n "
            .chars()
            .map(|letter| letter.to_string().into_bytes());
        let letters = Characters::new(Vocab::new(letters.zip(0..)).unwrap(), Some(0)).unwrap();
        let characters = Stages::of_model(Model::Characters(letters));
        let all = patterns.into_iter().chain([late, characters]);
        let all = all.chain(in_forms()).chain(with_marks());
        all.map(|stages| Tokenizer::new(stages).unwrap()).collect()
    }

    #[test]
    fn stages_that_need_the_whole_text_are_named() {
        let in_form = || Stages {
            normalizer: Some(Normalizer::Nfc),
            ..in_pattern("gpt2")
        };
        let with = |token| Stages {
            added_tokens: vec![token],
            ..in_form()
        };
        let expression = SearchPattern::Regex(Regex::new(r"\w+", Dialect::Oniguruma).unwrap());
        for (why, stages) in [
            ("all text is one piece", ranks()),
            (
                "an expression that no scanner knows, behind a form",
                Stages {
                    pre_tokenizer: Some(PreTokenizer::Split {
                        pattern: expression,
                        behavior: SplitBehavior::Isolated,
                        invert: false,
                    }),
                    ..in_form()
                },
            ),
            (
                "more than a form",
                Stages {
                    normalizer: Some(Normalizer::Sequence(vec![
                        Normalizer::Nfd,
                        Normalizer::Lowercase,
                    ])),
                    ..in_form()
                },
            ),
            (
                "a token that may stand across any split point",
                with(added(0, "e\u{301} the", true)),
            ),
            (
                "a token across a line end",
                with(added(0, "the\nthe", true)),
            ),
            (
                "a token that takes white space",
                with(AddedToken {
                    lstrip: true,
                    ..added(0, "the", false)
                }),
            ),
        ] {
            let tokenizer = Tokenizer::new(stages).unwrap();
            let error = EncodeStream::new(&tokenizer, SpecialPolicy::Ignore, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{why}");
        }
    }

    #[test]
    fn special_tokens_that_are_text_do_not_prevent_split_points() {
        let mask = AddedToken {
            special: true,
            lstrip: true,
            ..added(0, "e the\n", true)
        };
        let stages = Stages {
            normalizer: Some(Normalizer::Nfc),
            added_tokens: vec![mask],
            ..in_pattern("gpt2")
        };
        let tokenizer = Tokenizer::new(stages).unwrap();
        let text = "the the\nthe ".repeat(50);
        let mut stream = EncodeStream::new(&tokenizer, SpecialPolicy::Ignore, false).unwrap();
        let mut ids = Vec::new();
        stream.push(&tokenizer, &text, &mut ids).unwrap();
        assert!(!ids.is_empty());
        stream.finish(&tokenizer, &mut ids).unwrap();
        let expected = tokenizer.encode_ids(&text, &EncodeOptions::PLAIN).unwrap();
        assert_eq!(ids, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn a_stream_gives_the_ids_of_the_whole(parts in prop::collection::vec(
            "( | the|the|e|\n|  |é|\u{301}|\u{323}|ᄀ|ᅡ|ᆨ|가|ﬁ|>|\u{338}|Å|1|'ll|🙂|\u{A0}|[?!]){0,12}", 0..12,
        )) {
            let whole = parts.concat();
            for tokenizer in &*TOKENIZERS {
                let mut stream = EncodeStream::new(tokenizer, SpecialPolicy::Ignore, false).unwrap();
                let mut ids = Vec::new();
                for part in &parts {
                    stream.push(tokenizer, part, &mut ids).unwrap();
                }
                stream.finish(tokenizer, &mut ids).unwrap();
                let expected = tokenizer.encode_ids(&whole, &EncodeOptions::PLAIN).unwrap();
                prop_assert_eq!(&ids, &expected);

                let options = DecodeOptions::default();
                let stops = StopRules::default();
                let mut stream =
                    DecodeStream::new(tokenizer, options, InvalidUtf8::Replace, stops).unwrap();
                let mut text = String::new();
                for &id in &ids {
                    stream.push(tokenizer, id, &mut text).unwrap();
                }
                stream.finish(&mut text).unwrap();
                let expected = tokenizer.decode(&ids, &false.into(), InvalidUtf8::Replace).unwrap();
                prop_assert_eq!(&text, &expected);
            }
        }
    }
}
