//! Decoding by table: the text of each token, if it does not depend on its neighbours.
//!
//! Most decoders give a token the same text everywhere except at the ends of a text. These
//! texts are computed once, by the decoder itself, and then decoding only copies. Look here for which
//! decoders these are; a property test compares both ways.

use super::sentencepiece::SentencePieceDecoder;
use super::{Decoder, Invalid, byte_level};
use jeton_text::error::Result;
use jeton_text::interrupt;
use jeton_text::length_limit::is_in_proportion;
use jeton_text::mem::room;

/// Bytes up to which a text lies in the table itself.
const SHORT: usize = 15;
/// Tokens after which decoding asks whether it is to go on.
const POLLED: usize = 1 << 14;
/// What the last byte of an entry is where the entry holds no short text.
const NOT_SHORT: u8 = 0x80;
const BYTE: u8 = 0x81;
const ABSENT: u8 = 0xFF;

/// A text of up to [`SHORT`] bytes and, last, its length; or, by the last byte: where a longer text
/// is, the byte of a byte token, or nothing.
type Entry = [u8; SHORT + 1];

/// The texts of all tokens.
#[derive(Debug)]
pub struct DecodeTable {
    entries: Vec<Entry>,
    long: Vec<u8>,
    special: Vec<bool>,
    ends: Ends,
}

/// What is different at the ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Nothing.
    Same,
    /// The first and the last token; the decoder itself says how.
    Tokens,
    /// Tokens up to the first that shows, or to the first byte; the decoder itself says how.
    Front,
}

impl DecodeTable {
    /// The table of a decoder, if it is one of those, and if no text is much longer than its token:
    /// the decoder itself sees to it that texts do not outgrow the tokens. `tokens` are what it gets
    /// for each id, from 0 on, and whether it is special.
    pub fn new(decoder: Option<&Decoder>, tokens: &[Option<(&[u8], bool)>]) -> Option<Self> {
        let mut table = Self {
            entries: vec![[ABSENT; SHORT + 1]; tokens.len()],
            long: Vec::new(),
            special: tokens.iter().map(|t| t.is_some_and(|(_, s)| s)).collect(),
            ends: Ends::Tokens,
        };
        let known = || {
            let tokens = (0..).zip(tokens);
            tokens.filter_map(|(id, token)| token.map(|(token, _)| (id, token)))
        };
        match decoder {
            Some(Decoder::ByteLevel { printable }) => {
                table.ends = Ends::Same;
                for (id, token) in known() {
                    if *printable {
                        let spelled = vec![token.to_vec()];
                        let text = byte_level::join(spelled, true, Invalid::Keep);
                        table.set(id, token, &text)?;
                    } else {
                        table.set(id, token, token)?
                    }
                }
            }
            Some(Decoder::SentencePiece(decoder)) if decoder.denormalizer.is_none() => {
                table.ends = Ends::Front;
                for (id, token) in known() {
                    match decoder.byte(token) {
                        Some(byte) => {
                            table.entries[id] = [byte; SHORT + 1];
                            table.entries[id][SHORT] = BYTE;
                        }
                        None => table.set(id, token, &decoder.surface(token, &mut false))?,
                    }
                }
            }
            Some(decoder) if decoder.facts().is_token_by_token() => {
                // One token more at each end, so that all others are in the middle.
                let ends = || std::iter::once(Vec::new());
                let middle = known().map(|(_, token)| token.to_vec());
                let all = ends().chain(middle).chain(ends()).collect();
                let texts = decoder.decode(all, Invalid::Keep).ok()?;
                for ((id, token), text) in known().zip(texts.get(1..)?) {
                    table.set(id, token, text)?;
                }
            }
            None => {
                for (id, token) in known() {
                    table.set(id, token, &[b" ", token].concat())?;
                }
            }
            _ => return None,
        }
        Some(table)
    }

    fn set(&mut self, id: usize, token: &[u8], text: &[u8]) -> Option<()> {
        if !is_in_proportion(token.len(), text.len()) {
            return None;
        }
        let entry = &mut self.entries[id];
        if text.len() <= SHORT {
            entry[..text.len()].copy_from_slice(text);
            entry[SHORT] = text.len() as u8;
            return Some(());
        }
        let start = u32::try_from(self.long.len()).ok()?;
        let length = u32::try_from(text.len()).ok()?;
        entry[..4].copy_from_slice(&start.to_le_bytes());
        entry[4..8].copy_from_slice(&length.to_le_bytes());
        entry[SHORT] = NOT_SHORT;
        self.long.extend_from_slice(text);
        Some(())
    }

    /// Whether an id has a token.
    pub fn has(&self, id: u32) -> bool {
        let entry = self.entries.get(id as usize);
        entry.is_some_and(|entry| entry[SHORT] != ABSENT)
    }

    /// Whether an id is that of a special token.
    pub fn is_special(&self, id: u32) -> bool {
        self.special.get(id as usize).is_some_and(|it| *it)
    }

    /// Appends the text of ids, all of which have a token. `decoder` is that of the table,
    /// `token` gives what it gets for an id.
    pub fn decode<'t>(
        &self,
        decoder: Option<&Decoder>,
        token: impl Fn(u32) -> &'t [u8],
        ids: &[u32],
        invalid: Invalid,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let by_decoder = |ids: &[u32]| -> Result<Vec<Vec<u8>>> {
            let tokens = ids.iter().map(|&id| token(id).to_vec()).collect();
            match decoder {
                Some(decoder) => decoder.decode(tokens, invalid),
                None => Ok(match tokens {
                    tokens if tokens.len() > 1 => vec![
                        tokens[0].clone(),
                        [b" ", tokens[tokens.len() - 1].as_slice()].concat(),
                    ],
                    tokens => tokens,
                }),
            }
        };
        match (self.ends, ids) {
            (Ends::Same, _) => self.append(ids, invalid, text),
            (Ends::Tokens, [] | [_]) => text.extend(by_decoder(ids)?.concat()),
            (Ends::Tokens, [first, middle @ .., last]) => {
                let ends = by_decoder(&[*first, *last])?;
                text.extend_from_slice(&ends[0]);
                self.append(middle, invalid, text);
                text.extend(ends[1..].concat());
            }
            (Ends::Front, _) => {
                let Some(Decoder::SentencePiece(decoder)) = decoder else {
                    unreachable!("only SentencePiece's decoder has a front");
                };
                let front = self.append_front(decoder, token, ids, text);
                self.append(&ids[front..], invalid, text);
            }
        }
        Ok(())
    }

    /// Appends the texts of tokens up to the first that shows, or to the first byte, and says how many
    /// those are: after them tokens are in the middle.
    fn append_front<'t>(
        &self,
        decoder: &SentencePieceDecoder,
        token: impl Fn(u32) -> &'t [u8],
        ids: &[u32],
        text: &mut Vec<u8>,
    ) -> usize {
        let is_byte = |id: u32| self.entries[id as usize][SHORT] == BYTE;
        let mut at_front = true;
        for (position, &id) in ids.iter().enumerate() {
            if !at_front || is_byte(id) {
                return position;
            }
            let surface = decoder.surface(token(id), &mut at_front);
            at_front &= surface.is_empty();
            text.extend(surface);
        }
        ids.len()
    }

    /// Appends the texts of tokens in the middle.
    fn append(&self, ids: &[u32], invalid: Invalid, text: &mut Vec<u8>) {
        let mut bytes = Vec::new();
        for ids in ids.chunks(POLLED) {
            interrupt::poll();
            for &id in ids {
                let entry = self
                    .entries
                    .get(id as usize)
                    .unwrap_or(&[ABSENT; SHORT + 1]);
                let tag = entry[SHORT];
                if tag <= SHORT as u8 && bytes.is_empty() {
                    room::reserve(text, entry.len());
                    let length = text.len();
                    // SAFETY: there is room for a whole entry, of which no more is kept than was
                    // written.
                    unsafe {
                        let end = text.as_mut_ptr().add(length).cast::<Entry>();
                        end.write(*entry);
                        text.set_len(length + usize::from(tag));
                    }
                    continue;
                }
                if tag == BYTE {
                    bytes.push(entry[0]);
                    continue;
                }
                SentencePieceDecoder::join_bytes(&mut bytes, invalid, text);
                match tag {
                    NOT_SHORT => {
                        let number = |at: usize| {
                            let bytes = [entry[at], entry[at + 1], entry[at + 2], entry[at + 3]];
                            u32::from_le_bytes(bytes) as usize
                        };
                        text.extend_from_slice(&self.long[number(0)..number(0) + number(4)]);
                    }
                    length @ ..=15 => text.extend_from_slice(&entry[..usize::from(length)]),
                    _ => {}
                }
            }
        }
        SentencePieceDecoder::join_bytes(&mut bytes, invalid, text);
    }
}
