//! Streaming decoding: after each token, the text that no later token can change.
//!
//! Look here for what each decoder has to hold back until more tokens arrive. The outputs of a stream,
//! with the rest at the end, are together the result of [`Decoder::decode`] for all tokens; a property test
//! compares them. A decoder that needs all tokens holds them all back.

use std::sync::Arc;

use super::{Decoder, Invalid, SentencePieceDecoder, TokenContext, byte_fallback, byte_level};
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;

/// The state of a decoder, or of several one after another, between two tokens of a stream.
#[derive(Clone, Debug)]
pub struct TokenStream {
    steps: Vec<StreamStep>,
    invalid: Invalid,
    /// How long the tokens and the texts made of them are so far.
    taken: usize,
    given: usize,
}

/// One decoder between two tokens.
#[derive(Clone, Debug)]
enum StreamStep {
    /// A space between tokens: what decoding without a decoder does.
    Spaces { is_first: bool },
    /// Rewrites each token by itself, the first one otherwise.
    EachToken { decoder: Decoder, is_first: bool },
    /// Rewrites each token by itself, the last one otherwise.
    Suffix {
        decoder: Decoder,
        last: Option<Vec<u8>>,
    },
    /// Drops a token that is the one before, and rewrites the others.
    Repeated {
        decoder: Decoder,
        last: Option<Vec<u8>>,
    },
    /// Makes runs of byte tokens text.
    ByteRuns { run: Vec<Vec<u8>> },
    /// SentencePiece's pieces.
    Pieces {
        decoder: Arc<SentencePieceDecoder>,
        at_front: bool,
        bytes: Vec<u8>,
    },
    /// Makes each token bytes.
    Bytes { printable: bool },
    /// Removes a character at the ends of the text.
    Ends {
        content: Vec<u8>,
        start: usize,
        stop: usize,
        kept: Vec<u8>,
    },
    /// Needs all tokens.
    Whole {
        decoders: Vec<Decoder>,
        tokens: Vec<Vec<u8>>,
    },
}

impl TokenStream {
    /// A stream at its start.
    pub fn new(decoder: Option<&Decoder>, invalid: Invalid) -> Self {
        let mut steps = Vec::new();
        match decoder {
            None => steps.push(StreamStep::Spaces { is_first: true }),
            Some(decoder) => {
                let mut flat = Vec::new();
                flatten(decoder, &mut flat);
                plan(&flat, &mut steps);
            }
        }
        Self {
            steps,
            invalid,
            taken: 0,
            given: 0,
        }
    }

    /// Appends to `text` what is sure with one token more.
    ///
    /// # Errors
    /// Those of [`Decoder::decode`].
    pub fn push(&mut self, token: &[u8], text: &mut Vec<u8>) -> Result<()> {
        self.taken += token.len() + 1;
        let before = text.len();
        flow(&mut self.steps, token.to_vec(), self.invalid, text)?;
        self.count(text.len() - before)
    }

    /// Appends what was kept: there are no more tokens.
    ///
    /// # Errors
    /// Those of [`Decoder::decode`].
    pub fn finish(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let before = text.len();
        for at in 0..self.steps.len() {
            let (step, rest) = self.steps[at..].split_first_mut().expect("`at` is within");
            for token in step.finish(self.invalid)? {
                flow(rest, token, self.invalid, text)?;
            }
        }
        self.count(text.len() - before)
    }

    fn count(&mut self, given: usize) -> Result<()> {
        self.given += given;
        let limit = LengthLimit::of(self.taken);
        if self.given > limit.longest() {
            Err(limit.error("bytes"))
        } else {
            Ok(())
        }
    }
}

fn flatten<'d>(decoder: &'d Decoder, flat: &mut Vec<&'d Decoder>) {
    match decoder {
        Decoder::Sequence(decoders) => decoders.iter().for_each(|inner| flatten(inner, flat)),
        decoder => flat.push(decoder),
    }
}

/// The steps of decoders, of which the later ones may get one token, the whole text.
fn plan(decoders: &[&Decoder], steps: &mut Vec<StreamStep>) {
    let mut is_one_token = false;
    for (at, &decoder) in decoders.iter().enumerate() {
        let is_last = at + 1 == decoders.len();
        let step = match decoder {
            Decoder::Fuse => {
                is_one_token = true;
                continue;
            }
            Decoder::Strip {
                content,
                start,
                stop,
            } if is_one_token => StreamStep::Ends {
                content: content.to_string().into_bytes(),
                start: *start,
                stop: *stop,
                kept: Vec::new(),
            },
            Decoder::ByteLevel { printable } if is_last && !is_one_token => StreamStep::Bytes {
                printable: *printable,
            },
            Decoder::SentencePiece(decoder) if decoder.denormalizer.is_none() && !is_one_token => {
                StreamStep::Pieces {
                    decoder: Arc::new(decoder.clone()),
                    at_front: true,
                    bytes: Vec::new(),
                }
            }
            Decoder::ByteFallback if !is_one_token => StreamStep::ByteRuns { run: Vec::new() },
            _ => match decoder.facts().context {
                TokenContext::IsFirst if !is_one_token => StreamStep::EachToken {
                    decoder: decoder.clone(),
                    is_first: true,
                },
                TokenContext::IsLast if !is_one_token => StreamStep::Suffix {
                    decoder: decoder.clone(),
                    last: None,
                },
                TokenContext::Repeats if !is_one_token => StreamStep::Repeated {
                    decoder: decoder.clone(),
                    last: None,
                },
                _ => {
                    let rest = decoders[at..].iter().map(|&decoder| decoder.clone());
                    let fused = is_one_token.then_some(Decoder::Fuse);
                    steps.push(StreamStep::Whole {
                        decoders: fused.into_iter().chain(rest).collect(),
                        tokens: Vec::new(),
                    });
                    return;
                }
            },
        };
        steps.push(step);
    }
}

/// Takes a token through the steps, up to one that holds it back.
fn flow(
    steps: &mut [StreamStep],
    token: Vec<u8>,
    invalid: Invalid,
    text: &mut Vec<u8>,
) -> Result<()> {
    let Some((step, rest)) = steps.split_first_mut() else {
        text.extend_from_slice(&token);
        return Ok(());
    };
    for token in step.push(token, invalid)? {
        flow(rest, token, invalid, text)?;
    }
    Ok(())
}

/// What a step lets go of at once.
type Tokens = Vec<Vec<u8>>;

impl StreamStep {
    fn push(&mut self, token: Vec<u8>, invalid: Invalid) -> Result<Tokens> {
        Ok(match self {
            Self::Spaces { is_first } => {
                if std::mem::take(is_first) {
                    vec![token]
                } else {
                    vec![b" ".to_vec(), token]
                }
            }
            Self::EachToken { decoder, is_first } => {
                if std::mem::take(is_first) {
                    decoder.decode(vec![token], invalid)?
                } else {
                    let mut decoded = decoder.decode(vec![Vec::new(), token], invalid)?;
                    decoded.split_off(1)
                }
            }
            Self::Suffix { decoder, last } => match last.replace(token) {
                None => Vec::new(),
                Some(before) => {
                    let mut decoded = decoder.decode(vec![before, Vec::new()], invalid)?;
                    decoded.truncate(1);
                    decoded
                }
            },
            Self::Repeated { decoder, last } => {
                if last.as_ref() == Some(&token) {
                    Vec::new()
                } else {
                    *last = Some(token.clone());
                    decoder.decode(vec![token], invalid)?
                }
            }
            Self::ByteRuns { run } => match byte_fallback::byte_of(&token) {
                Some(_) => {
                    run.push(token);
                    Vec::new()
                }
                None => {
                    let mut decoded = byte_fallback::join_runs(std::mem::take(run), invalid);
                    decoded.push(token);
                    decoded
                }
            },
            Self::Pieces {
                decoder,
                at_front,
                bytes,
            } => {
                let mut text = Vec::new();
                match decoder.byte(&token) {
                    Some(byte) => {
                        bytes.push(byte);
                        *at_front = false;
                        SentencePieceDecoder::join_sure_bytes(bytes, invalid, &mut text);
                    }
                    None => {
                        SentencePieceDecoder::join_bytes(bytes, invalid, &mut text);
                        let surface = decoder.surface(&token, at_front);
                        *at_front &= surface.is_empty();
                        text.extend(surface);
                    }
                }
                vec![text]
            }
            Self::Bytes { printable } => {
                vec![byte_level::join(vec![token], *printable, Invalid::Keep)]
            }
            Self::Ends {
                content,
                start,
                stop,
                kept,
            } => {
                kept.extend_from_slice(&token);
                strip_front(kept, content, start);
                match *start {
                    0 => vec![kept.drain(..sure_of_end(kept, content, *stop)).collect()],
                    _ => Vec::new(),
                }
            }
            Self::Whole { tokens, .. } => {
                tokens.push(token);
                Vec::new()
            }
        })
    }

    fn finish(&mut self, invalid: Invalid) -> Result<Tokens> {
        Ok(match self {
            Self::Spaces { .. } | Self::EachToken { .. } | Self::Repeated { .. } => Vec::new(),
            Self::Bytes { .. } => Vec::new(),
            Self::Suffix { decoder, last } => match last.take() {
                Some(token) => decoder.decode(vec![token], invalid)?,
                None => Vec::new(),
            },
            Self::ByteRuns { run } => byte_fallback::join_runs(std::mem::take(run), invalid),
            Self::Pieces { bytes, .. } => {
                let mut text = Vec::new();
                SentencePieceDecoder::join_bytes(bytes, invalid, &mut text);
                vec![text]
            }
            Self::Ends {
                content,
                stop,
                kept,
                ..
            } => {
                let mut text = std::mem::take(kept);
                for _ in 0..*stop {
                    if text.ends_with(content) {
                        text.truncate(text.len() - content.len())
                    } else {
                        break;
                    }
                }
                vec![text]
            }
            Self::Whole { decoders, tokens } => Decoder::Sequence(std::mem::take(decoders))
                .decode(std::mem::take(tokens), invalid)?,
        })
    }
}

/// Removes up to `left` times `content` at the front of `kept`, as far as that is known. If something else
/// is there, `left` becomes 0.
fn strip_front(kept: &mut Vec<u8>, content: &[u8], left: &mut usize) {
    while *left > 0 {
        if kept.starts_with(content) {
            kept.drain(..content.len());
            *left -= 1;
        } else if content.starts_with(kept) {
            return;
        } else {
            *left = 0;
        }
    }
}

/// How many bytes of `kept` stay whatever follows, if up to `stop` times `content` go at the end.
fn sure_of_end(kept: &[u8], content: &[u8], stop: usize) -> usize {
    if stop == 0 {
        return kept.len();
    }
    let begun = (1..content.len())
        .rev()
        .find(|&n| kept.ends_with(&content[..n]));
    let mut end = kept.len() - begun.unwrap_or(0);
    for _ in 0..stop {
        if kept[..end].ends_with(content) {
            end -= content.len()
        } else {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests;
