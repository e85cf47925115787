//! Decoding: from ids back to text.
//!
//! Look here for which ids decoding skips, and for when the texts of all tokens are computed at once.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Tokenizer;
use jeton_models::model::Model;
use jeton_stages::decoder::{DecodeTable, Invalid};
use jeton_text::error::{Error, ErrorKind, Result, by_name};
use jeton_text::interrupt::paced;
use jeton_text::mem::room;
use jeton_text::text::{InvalidUtf8, NotUtf8};

/// Ids that are decoded one by one before the decode table is made.
const BEFORE_TABLE: usize = 1 << 10;

/// Bytes of memory that decoding takes for an id without the decode table.
const FALLBACK_BYTES: usize = 128;

/// The options of one call of decoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// The tokens that are left out.
    pub skipped: Skipped,
    /// What becomes of an id that has no token.
    pub unknown: UnknownIds,
}

/// The tokens that decoding leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Skipped {
    /// None.
    #[default]
    Nothing,
    /// All special tokens.
    Special,
    /// Those of these ids, which are sorted.
    Ids(Arc<[u32]>),
}

/// What decoding does with an id without a token, such as one of a padded output layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownIds {
    /// It is an error.
    #[default]
    Error,
    /// It is left out.
    Skip,
    /// It is a token that is spelled `[unknown id 7]`.
    Show,
}

/// Without special tokens, or with them.
impl From<bool> for DecodeOptions {
    fn from(skip_special_tokens: bool) -> Self {
        Self {
            skipped: if skip_special_tokens {
                Skipped::Special
            } else {
                Skipped::Nothing
            },
            unknown: UnknownIds::Error,
        }
    }
}

impl FromStr for UnknownIds {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [
            ("error", Self::Error),
            ("skip", Self::Skip),
            ("show", Self::Show),
        ];
        by_name("unknown_ids", name, &names)
    }
}

impl Tokenizer {
    /// The text of these ids, as the decoder says.
    ///
    /// # Errors
    /// An id that has no token; under [`InvalidUtf8::Strict`], bytes that are not UTF-8.
    pub fn decode(
        &self,
        ids: &[u32],
        options: &DecodeOptions,
        invalid: InvalidUtf8,
    ) -> Result<String> {
        match invalid {
            InvalidUtf8::Replace => {
                let bytes = self.decode_with(ids, options, Invalid::Replace)?;
                Ok(String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into()))
            }
            InvalidUtf8::Strict => {
                let bytes = self.decode_bytes(ids, options)?;
                String::from_utf8(bytes).map_err(|error| {
                    let position = error.utf8_error().valid_up_to();
                    let byte = error.as_bytes()[position];
                    NotUtf8 { byte, position }.in_ids()
                })
            }
            InvalidUtf8::Ignore => Ok(self
                .decode_bytes(ids, options)?
                .utf8_chunks()
                .map(|chunk| chunk.valid())
                .collect()),
        }
    }

    /// The text of these ids as bytes, as the decoder says; what is not UTF-8 is kept.
    ///
    /// # Errors
    /// An id that has no token.
    pub fn decode_bytes(&self, ids: &[u32], options: &DecodeOptions) -> Result<Vec<u8>> {
        self.decode_with(ids, options, Invalid::Keep)
    }

    /// As [`Tokenizer::decode`], appended to `text` as bytes, in which what is not UTF-8 may still be
    /// as it was; without `replace` it is kept for certain, as by [`Tokenizer::decode_bytes`].
    ///
    /// # Errors
    /// An id that has no token.
    pub fn decode_into(
        &self,
        ids: &[u32],
        options: &DecodeOptions,
        replace: bool,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let invalid = if replace {
            Invalid::Replace
        } else {
            Invalid::Keep
        };
        let Some(table) = self.decode_table(ids.len()) else {
            text.extend(self.decode_fallback(ids, options, invalid)?);
            return Ok(());
        };
        let unknown = ids.iter().position(|&id| !table.has(id));
        match (unknown, options.unknown) {
            (Some(position), UnknownIds::Error) => {
                self.known_input(ids[position], position)?;
            }
            (Some(_), UnknownIds::Show) => {
                text.extend(self.decode_fallback(ids, options, invalid)?);
                return Ok(());
            }
            (None, _) | (Some(_), UnknownIds::Skip) => {}
        }
        let mut kept: Vec<u32>;
        let mut ids = ids;
        let is_left_out = |id| {
            let is_skipped = match &options.skipped {
                Skipped::Nothing => false,
                Skipped::Special => table.is_special(id),
                Skipped::Ids(skipped) => skipped.binary_search(&id).is_ok(),
            };
            is_skipped || unknown.is_some() && !table.has(id)
        };
        let may_leave_out = unknown.is_some() || options.skipped != Skipped::Nothing;
        if may_leave_out && ids.iter().copied().any(is_left_out) {
            let others = ids.iter().copied().filter(|&id| !is_left_out(id));
            kept = room::with_capacity(ids.len());
            kept.extend(others);
            ids = &kept;
        }
        let token = |id| self.decoder_input(id).unwrap_or_default();
        table.decode(self.stages.decoder.as_ref(), token, ids, invalid, text)
    }

    fn decode_with(
        &self,
        ids: &[u32],
        options: &DecodeOptions,
        invalid: Invalid,
    ) -> Result<Vec<u8>> {
        let mut text = room::with_capacity(5 * ids.len());
        self.decode_into(ids, options, invalid == Invalid::Replace, &mut text)?;
        Ok(text)
    }

    /// What decodes without a decode table: ids ─▶ token bytes ─ decoder ─▶ text.
    pub(crate) fn decode_fallback(
        &self,
        ids: &[u32],
        options: &DecodeOptions,
        invalid: Invalid,
    ) -> Result<Vec<u8>> {
        // Each token is a vector of its own, and so are the steps of decoders.
        room::ask(ids.len().saturating_mul(FALLBACK_BYTES));
        let mut tokens = Vec::with_capacity(ids.len());
        for (position, &id) in paced(ids.iter().enumerate()) {
            let token = self.kept_input(id, position, options)?;
            tokens.extend(token.map(Cow::into_owned));
        }
        match &self.stages.decoder {
            Some(decoder) => Ok(decoder.decode(tokens, invalid)?.concat()),
            None => Ok(tokens.join(&b' ')),
        }
    }

    /// The decode table, once enough ids were decoded, with `count` more, that it pays; `None` before that,
    /// and with a decoder that has none.
    fn decode_table(&self, count: usize) -> Option<&DecodeTable> {
        if self.decode_table.value().is_none()
            && self.decoded.fetch_add(count, Ordering::Relaxed) + count < BEFORE_TABLE
        {
            return None;
        }
        let make = || {
            let ids = self.max_id().map_or(0, |max| max as usize + 1);
            // Ids with large gaps would make a large table of nothing.
            if ids > 4 * self.stages.model.vocab().len() + (1 << 16) {
                return None;
            }
            let tokens = (0..ids as u32).map(|id| {
                let token = self.decoder_input(id)?;
                Some((token, self.decodes_as_special(id, token)))
            });
            DecodeTable::new(self.stages.decoder.as_ref(), &tokens.collect::<Vec<_>>())
        };
        self.decode_table.get(make).as_ref()
    }

    /// What the decoder gets for an id.
    pub(super) fn decoder_input(&self, id: u32) -> Option<&[u8]> {
        if let (Model::SentencePiece(model), Some(decoder)) =
            (&self.stages.model, &self.stages.decoder)
            && decoder.facts().knows_pieces
            && let Some(input) = model.to_decoder(id)
        {
            return Some(input);
        }
        match self.added_tokens.decoder_input(id) {
            Some(content) => Some(content.as_bytes()),
            None => self.token_bytes(id),
        }
    }

    /// What the decoder gets for the id at a position of a text.
    pub(super) fn known_input(&self, id: u32, position: usize) -> Result<&[u8]> {
        self.decoder_input(id).ok_or_else(|| {
            Error::new(
                ErrorKind::Lookup,
                format!("id {id} at position {position} has no token"),
            )
        })
    }

    /// As [`Self::known_input`]; nothing for an id that is left out.
    pub(super) fn kept_input(
        &self,
        id: u32,
        position: usize,
        options: &DecodeOptions,
    ) -> Result<Option<Cow<'_, [u8]>>> {
        let Some(token) = self.decoder_input(id) else {
            return match options.unknown {
                UnknownIds::Error => self.known_input(id, position).map(|_| None),
                UnknownIds::Skip => Ok(None),
                UnknownIds::Show => Ok(Some(format!("[unknown id {id}]").into_bytes().into())),
            };
        };
        let is_skipped = match &options.skipped {
            Skipped::Nothing => false,
            Skipped::Special => self.decodes_as_special(id, token),
            Skipped::Ids(skipped) => skipped.binary_search(&id).is_ok(),
        };
        Ok((!is_skipped).then_some(Cow::Borrowed(token)))
    }

    /// Whether an id counts as special in decoding. As in `tokenizers`, what the decoder gets
    /// decides, even where a list has the spelling of a special token under a second id.
    pub(super) fn decodes_as_special(&self, id: u32, token: &[u8]) -> bool {
        let spelled = matches!(self.stages.model, Model::Unigram(_));
        (spelled || self.added_tokens.by_id(id).is_some())
            && std::str::from_utf8(token)
                .ok()
                .and_then(|content| self.added_tokens.by_content(content))
                .is_some_and(|token| token.special)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use jeton_models::model::Bpe;
    use jeton_stages::added_tokens::AddedToken;
    use jeton_stages::decoder::{Decoder, LeadingSpaces, SentencePieceDecoder};
    use jeton_stages::pre_tokenizer::PrependScheme;
    use jeton_stages::vocab::Vocab;
    use jeton_text::pattern::SearchPattern;

    use crate::{Stages, Tokenizer};

    fn decoders() -> Vec<Option<Decoder>> {
        let replace = Decoder::Replace {
            pattern: SearchPattern::Literal("▁".to_owned()),
            content: " ".to_owned(),
        };
        let strip = Decoder::Strip {
            content: 'a',
            start: 1,
            stop: 1,
        };
        let sentencepiece = |leading_spaces, bytes| {
            Some(Decoder::SentencePiece(SentencePieceDecoder {
                unknown: Some(("<unk>".to_owned(), " ⁇ ".to_owned())),
                bytes,
                leading_spaces,
                denormalizer: None,
            }))
        };
        vec![
            None,
            Some(Decoder::ByteLevel { printable: false }),
            Some(Decoder::ByteLevel { printable: true }),
            Some(Decoder::WordPiece {
                prefix: "##".to_owned(),
                cleanup: true,
            }),
            Some(Decoder::Metaspace {
                replacement: '▁',
                prepend_scheme: PrependScheme::Always,
                split: true,
            }),
            Some(Decoder::Bpe {
                suffix: "</w>".to_owned(),
            }),
            Some(Decoder::Sequence(vec![replace, strip])),
            Some(Decoder::Sequence(vec![
                Decoder::ByteFallback,
                Decoder::Fuse,
            ])),
            sentencepiece(LeadingSpaces::Keep, true),
            sentencepiece(LeadingSpaces::DropAll, true),
            sentencepiece(LeadingSpaces::DropOne, true),
            sentencepiece(LeadingSpaces::DropOne, false),
        ]
    }

    const ODD: [&str; 18] = [
        "▁",
        "▁▁",
        "▁a",
        "##b",
        "b</w>",
        "<0xE2>",
        "<0x82>",
        "<0xAC>",
        "<0x41>",
        "<s>",
        "é",
        "<unk>",
        " .",
        " n't",
        "a text of more than fifteen bytes",
        "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
        "Ġa",
        "aba",
    ];

    #[test]
    fn a_table_decodes_as_the_stages_do() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain(ODD.map(|token| token.as_bytes().to_vec()));
        let vocab = Vocab::new(tokens.zip(0..)).unwrap();
        let added = |id, content: &str, special| AddedToken {
            special,
            ..AddedToken::plain(id, content)
        };
        let mut numbers = ChaCha8Rng::seed_from_u64(7);
        for decoder in decoders() {
            let mut stages = Stages::of_model(Model::Bpe(Bpe::by_ranks(vocab.clone()).unwrap()));
            stages.added_tokens = vec![added(265, "<s>", true), added(300, "▁plus", false)];
            stages.decoder = decoder.clone();
            let tokenizer = Tokenizer::new(stages).unwrap();
            tokenizer.decode_bytes(&[97; 2000], &false.into()).unwrap();
            for _ in 0..2000 {
                let ids: Vec<u32> = (0..numbers.random_range(0..9))
                    .map(|_| match numbers.random_range(0..9) {
                        0 => numbers.random_range(0..256),
                        1 => 300,
                        _ => numbers.random_range(256..256 + ODD.len() as u32),
                    })
                    .collect();
                for (skip, invalid) in [(false, Invalid::Keep), (true, Invalid::Replace)] {
                    let mut text = Vec::new();
                    let replace = invalid == Invalid::Replace;
                    tokenizer
                        .decode_into(&ids, &skip.into(), replace, &mut text)
                        .unwrap();
                    let mut expected = tokenizer
                        .decode_fallback(&ids, &skip.into(), invalid)
                        .unwrap();
                    if replace {
                        // The caller of this replaces bytes that are not UTF-8.
                        text = String::from_utf8_lossy(&text).into_owned().into_bytes();
                        expected = String::from_utf8_lossy(&expected).into_owned().into_bytes();
                    }
                    assert_eq!(text, expected, "{decoder:?} {ids:?}");
                }
            }
            let error = tokenizer
                .decode_bytes(&[97, 299], &false.into())
                .unwrap_err();
            assert_eq!(error.to_string(), "id 299 at position 1 has no token");
            assert!(
                tokenizer
                    .decode_bytes(&[97, 1 << 31], &false.into())
                    .is_err()
            );
        }
    }
}
