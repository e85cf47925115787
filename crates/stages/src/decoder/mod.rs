//! Decoders: from the tokens of the model back to text.
//!
//! A decoder rewrites a list of tokens; joined, they are the text. Tokens are byte strings, and
//! in a run that is not UTF-8 they can either stay as they are or become replacement
//! characters ([`Invalid`]); everything else works on the text that there is.

use serde::{Deserialize, Serialize};

use jeton_text::error::{Error, Result};
use jeton_text::interrupt::tick;
use jeton_text::length_limit::LengthLimit;
use jeton_text::pattern::{self, SearchPattern};

mod byte_fallback;
mod byte_level;
mod decode_table;
mod facts;
mod invalid;
mod sentencepiece;
mod stops;
mod stream;
mod text;

pub use decode_table::DecodeTable;
pub use facts::{DecoderFacts, TokenContext};
pub use invalid::Invalid;
pub use sentencepiece::{LeadingSpaces, SentencePieceDecoder};
pub use stops::Stops;
pub use stream::TokenStream;
use text::{clean_up, in_text, replace_matches, strip};

/// One decoder. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Decoder {
    /// The bytes of the tokens joined.
    ByteLevel {
        /// Tokens are spelled in GPT-2's printable characters; unset where they are raw bytes.
        printable: bool,
    },
    /// A space before each token that does not begin with the prefix.
    WordPiece {
        /// What marks a continuation, `##`.
        prefix: String,
        /// Remove the space before punctuation and contractions.
        cleanup: bool,
    },
    /// Meta spaces made spaces.
    Metaspace {
        /// The visible character, `▁`.
        replacement: char,
        /// Whether the first was put there by the pre-tokenizer, and so is dropped.
        prepend_scheme: crate::pre_tokenizer::PrependScheme,
        /// Without effect here; kept, so that a file is written as it was read.
        split: bool,
    },
    /// A space for each end-of-word suffix.
    Bpe {
        /// The suffix, `</w>`.
        suffix: String,
    },
    /// `<0xE2>` tokens made bytes.
    ByteFallback,
    /// All tokens made one.
    Fuse,
    /// A character removed at the ends of each token.
    Strip {
        /// The character.
        content: char,
        /// How many at the front, at most.
        start: usize,
        /// How many at the back, at most.
        stop: usize,
    },
    /// Each match of a pattern replaced by a text.
    Replace {
        /// What to look for.
        pattern: SearchPattern,
        /// The replacement.
        content: String,
    },
    /// Connectionist temporal classification: repeated tokens made one, padding dropped.
    Ctc {
        /// The padding token.
        pad_token: String,
        /// What separates words.
        word_delimiter_token: String,
        /// Make delimiters spaces, and remove the space before punctuation and contractions.
        cleanup: bool,
    },
    /// SentencePiece's: the unknown piece has a surface, `▁` is a space.
    SentencePiece(SentencePieceDecoder),
    /// One after another.
    Sequence(#[serde(deserialize_with = "crate::nesting_limit::nested")] Vec<Decoder>),
}

impl Decoder {
    /// What a `tokenizer.json` calls it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ByteLevel { .. } => "ByteLevel",
            Self::WordPiece { .. } => "WordPiece",
            Self::Metaspace { .. } => "Metaspace",
            Self::Bpe { .. } => "BPEDecoder",
            Self::ByteFallback => "ByteFallback",
            Self::Fuse => "Fuse",
            Self::Strip { .. } => "Strip",
            Self::Replace { .. } => "Replace",
            Self::Ctc { .. } => "CTC",
            Self::SentencePiece(_) => "SentencePiece",
            Self::Sequence(_) => "Sequence",
        }
    }

    /// Whether a backtracking engine runs one of its patterns.
    pub fn backtracks(&self) -> bool {
        match self {
            Self::Replace { pattern, .. } => pattern.backtracks(),
            Self::Sequence(decoders) => decoders.iter().any(Self::backtracks),
            _ => false,
        }
    }

    /// Rewrites the tokens; joined, they are the text.
    ///
    /// ```
    /// use jeton_stages::decoder::{Decoder, Invalid};
    ///
    /// let tokens = ["<0xE2>", "<0x82>", "a"].map(|token| token.as_bytes().to_vec());
    /// let decoder = Decoder::ByteFallback;
    /// let text = decoder.decode(tokens.to_vec(), Invalid::Replace)?.concat();
    /// assert_eq!(text, "\u{FFFD}\u{FFFD}a".as_bytes());
    /// let bytes = decoder.decode(tokens.to_vec(), Invalid::Keep)?.concat();
    /// assert_eq!(bytes, b"\xE2\x82a");
    /// # Ok::<(), jeton_text::Error>(())
    /// ```
    ///
    /// # Errors
    /// A pattern that gave up on this text; text that has become many times as long as the tokens.
    pub fn decode(&self, tokens: Vec<Vec<u8>>, invalid: Invalid) -> Result<Vec<Vec<u8>>> {
        let length = tokens.len() + tokens.iter().map(Vec::len).sum::<usize>();
        self.decode_within(tokens, invalid, &LengthLimit::of(length))
    }

    fn decode_within(
        &self,
        mut tokens: Vec<Vec<u8>>,
        invalid: Invalid,
        limit: &LengthLimit,
    ) -> Result<Vec<Vec<u8>>> {
        match self {
            Self::ByteLevel { printable } => {
                tokens = vec![byte_level::join(tokens, *printable, invalid)];
            }
            Self::WordPiece { prefix, cleanup } => {
                for (position, token) in tokens.iter_mut().enumerate() {
                    tick();
                    if position > 0 {
                        match token.strip_prefix(prefix.as_bytes()) {
                            Some(rest) => *token = rest.to_vec(),
                            None => token.insert(0, b' '),
                        }
                    }
                    if *cleanup {
                        in_text(token, clean_up);
                    }
                }
            }
            Self::Metaspace {
                replacement,
                prepend_scheme,
                ..
            } => {
                let dropped = *prepend_scheme != crate::pre_tokenizer::PrependScheme::Never;
                for (position, token) in tokens.iter_mut().enumerate() {
                    let space = if position == 0 && dropped { "" } else { " " };
                    in_text(token, |text| text.replace(*replacement, space));
                }
            }
            Self::Bpe { suffix } => {
                let last = tokens.len().saturating_sub(1);
                for (position, token) in tokens.iter_mut().enumerate() {
                    let space = if position == last { "" } else { " " };
                    in_text(token, |text| text.replace(suffix, space));
                }
            }
            Self::ByteFallback => tokens = byte_fallback::join_runs(tokens, invalid),
            Self::Fuse => tokens = vec![tokens.concat()],
            Self::Strip {
                content,
                start,
                stop,
            } => {
                for token in &mut tokens {
                    strip(token, *content, *start, *stop);
                }
            }
            Self::Replace { pattern, content } => {
                let mut room = limit.longest();
                for token in &mut tokens {
                    replace_matches(token, pattern, content, room)?;
                    room = (room.checked_sub(token.len()))
                        .ok_or_else(|| self.named(limit.error("bytes")))?;
                }
            }
            Self::Ctc {
                pad_token,
                word_delimiter_token,
                cleanup,
            } => {
                tokens.dedup();
                for token in &mut tokens {
                    in_text(token, |text| {
                        let text = text.replace(pad_token, "");
                        if *cleanup {
                            clean_up(&text).replace(word_delimiter_token, " ")
                        } else {
                            text
                        }
                    });
                }
                tokens.retain(|token| !token.is_empty());
            }
            Self::SentencePiece(decoder) => tokens = decoder.decode(tokens, invalid)?,
            Self::Sequence(decoders) => {
                for decoder in decoders {
                    tokens = decoder.decode_within(tokens, invalid, limit)?;
                }
                return Ok(tokens);
            }
        }
        if tokens.iter().map(Vec::len).sum::<usize>() > limit.longest() {
            Err(self.named(limit.error("bytes")))
        } else {
            Ok(tokens)
        }
    }

    /// The error, with the name of this decoder.
    fn named(&self, error: Error) -> Error {
        match self {
            Self::Replace { pattern, content } => {
                let name = pattern::replacing(pattern, content);
                error.at(format!("decoder {name}"))
            }
            _ => error.at(format!("decoder {}", self.kind())),
        }
    }
}
