//! The symbols of a word before its first merge, in a BPE of characters: each character is its token with
//! the marks of its position in the word, the tokens of its bytes, the unknown token, or nothing. In a
//! BPE of bytes that lacks some bytes: the same for each byte.

use jeton_models::merge::pairs::NO_ID;
use jeton_models::model::bpe::{Alphabet, BpeOptions};
use jeton_models::model::{Bpe, byte_token};
use jeton_stages::split::split_points::decode;
use jeton_stages::tables::perfect_hash::NONE;

/// Code points of a row of the table.
const ROW: usize = 256;
/// Rows that the code points fill.
const ROWS: usize = 0x11_0000 / ROW;

/// For each character, or each byte, the symbols with which it begins in a word.
pub struct InitialSymbols {
    /// The tokens of characters: by [`BEHIND`] and [`LAST`] where a mark is put to such characters.
    tokens: [Tokens; 4],
    /// Put before each character but the first, and after the last.
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// The token of each byte of a character that has none; [`NONE`] where there is none.
    bytes: [u32; 256],
    /// Whether there is one for each byte.
    all_bytes: bool,
    unknown: Unknown,
    /// Whether symbols begin as bytes, not as characters.
    is_of_bytes: bool,
    /// What follows the last character as a symbol of its own.
    end: Option<u32>,
}

/// The bit of a character that follows another one, where there is a prefix.
const BEHIND: usize = 1;
/// The bit of the last character, where there is a suffix.
const LAST: usize = 2;

/// What a character without a token becomes.
#[derive(Clone, Copy)]
enum Unknown {
    Dropped,
    /// It becomes this token, one for all that are side by side or one for each.
    Token {
        id: u32,
        fuses: bool,
    },
    /// The unknown token is unknown too.
    Refused,
}

impl InitialSymbols {
    /// The symbols of the characters of `bpe`, or of its bytes, if these are its alphabet.
    pub fn new(bpe: &Bpe) -> Self {
        let BpeOptions {
            alphabet,
            unk_token,
            fuse_unk,
            byte_fallback,
            continuing_subword_prefix,
            end_of_word_suffix,
            separate_suffix,
            ..
        } = bpe.options();
        let vocab = bpe.vocab();
        let mark = |mark: &Option<String>| mark.as_deref().unwrap_or_default().as_bytes().to_vec();
        let (prefix, mut suffix) = (mark(continuing_subword_prefix), mark(end_of_word_suffix));
        let end = separate_suffix.then(|| vocab.text_id(&suffix)).flatten();
        if *separate_suffix {
            suffix.clear();
        }
        let bytes = (0..=u8::MAX).map(|byte| {
            if *byte_fallback {
                vocab.id(&byte_token(byte)).unwrap_or(NONE)
            } else {
                NONE
            }
        });
        let bytes: Vec<u32> = bytes.collect();
        let is_of_bytes = *alphabet == Alphabet::Bytes;
        let tokens = std::array::from_fn(|place| {
            let before = if place & BEHIND != 0 { &*prefix } else { &[] };
            let behind = if place & LAST != 0 { &*suffix } else { &[] };
            match place & !reached(&prefix, &suffix) {
                0 => Tokens::new(bpe, before, behind),
                _ => Tokens::none(),
            }
        });
        Self {
            tokens,
            prefix,
            suffix,
            all_bytes: !bytes.contains(&NONE),
            bytes: bytes.try_into().expect("one for each byte"),
            unknown: match unk_token {
                None => Unknown::Dropped,
                Some(token) => match vocab.id(token.as_bytes()) {
                    Some(id) => Unknown::Token {
                        id,
                        fuses: *fuse_unk,
                    },
                    None => Unknown::Refused,
                },
            },
            is_of_bytes,
            end,
        }
    }

    /// The symbols of a SentencePiece BPE: each of these characters is its token, others are their `bytes`,
    /// or [`NO_ID`] if there are none.
    pub fn of_pieces(characters: impl Iterator<Item = (char, u32)>, bytes: Option<&[u32]>) -> Self {
        let mut tokens = std::array::from_fn(|_| Tokens::none());
        characters.for_each(|(character, id)| tokens[0].insert(character.into(), id));
        Self {
            tokens,
            prefix: Vec::new(),
            suffix: Vec::new(),
            bytes: std::array::from_fn(|byte| bytes.map_or(NONE, |ids| ids[byte])),
            all_bytes: bytes.is_some(),
            unknown: Unknown::Token {
                id: NO_ID,
                fuses: false,
            },
            is_of_bytes: false,
            end: None,
        }
    }

    /// The character, or the byte, at a place of a piece, and its length in bytes.
    #[inline(always)]
    fn character(&self, piece: &[u8], at: usize) -> (u32, usize) {
        if self.is_of_bytes {
            (piece[at].into(), 1)
        } else {
            decode(piece, at)
        }
    }

    /// Appends the symbols with which a piece begins, which is whole characters of UTF-8 and not empty;
    /// returns `false` where a character has no token, no bytes and not even the unknown token.
    pub fn begin(&self, piece: &[u8], ids: &mut Vec<u32>) -> bool {
        let reached = reached(&self.prefix, &self.suffix);
        let mut waiting = None;
        let (mut at, mut place) = (0, 0);
        while at < piece.len() {
            let (code_point, length) = self.character(piece, at);
            let end = at + length;
            if end == piece.len() {
                place |= LAST & reached;
            }
            let id = self.tokens[place].token(code_point);
            if id != NONE {
                ids.extend(waiting.take());
                ids.push(id);
            } else if !self.without_token(&piece[at..end], place, &mut waiting, ids) {
                return false;
            }
            (at, place) = (end, BEHIND & reached);
        }
        ids.extend(waiting);
        ids.extend(self.end);
        true
    }

    /// Whether symbols begin as bytes, and each byte is a token.
    pub fn has_all_bytes(&self) -> bool {
        self.is_of_bytes && (0..=u8::MAX).all(|byte| self.tokens[0].token(byte.into()) != NONE)
    }

    /// Whether a piece begins with the symbols of its parts, wherever it is split after a character for
    /// which [`Self::leaves_nothing`] holds.
    pub fn parts_stand_alone(&self) -> bool {
        let drops = matches!(self.unknown, Unknown::Dropped);
        let drops = drops && !self.all_bytes && !self.has_all_bytes();
        self.prefix.is_empty() && self.suffix.is_empty() && self.end.is_none() && !drops
    }

    /// Whether no unknown token waits after this last character of a text.
    pub fn leaves_nothing(&self, text: &[u8]) -> bool {
        let is_first = |byte: &u8| self.is_of_bytes || byte & 0xC0 != 0x80;
        let last = text.iter().rposition(is_first);
        let token = |at| self.tokens[0].token(self.character(text, at).0);
        self.all_bytes || last.is_some_and(|at| token(at) != NONE)
    }

    /// As [`Self::begin`], for a character without a token. An unknown token that is `waiting` goes in front
    /// of the next token of a character, but not of a byte: as in `tokenizers`.
    #[cold]
    fn without_token(
        &self,
        character: &[u8],
        place: usize,
        waiting: &mut Option<u32>,
        ids: &mut Vec<u32>,
    ) -> bool {
        let before: &[u8] = if place & BEHIND != 0 {
            &self.prefix
        } else {
            &[]
        };
        let behind: &[u8] = if place & LAST != 0 { &self.suffix } else { &[] };
        let bytes = before.iter().chain(character).chain(behind);
        let mut bytes = bytes.map(|&byte| self.bytes[usize::from(byte)]);
        if bytes.clone().all(|id| id != NONE) {
            ids.extend(&mut bytes);
            return true;
        }
        match self.unknown {
            Unknown::Dropped => {}
            Unknown::Token { fuses: true, .. } if waiting.is_some() => {}
            Unknown::Token { id, .. } => ids.extend(waiting.replace(id)),
            Unknown::Refused => return false,
        }
        true
    }
}

/// The places at which a mark is put to characters, as bits.
fn reached(prefix: &[u8], suffix: &[u8]) -> usize {
    let behind = if prefix.is_empty() { 0 } else { BEHIND };
    behind | if suffix.is_empty() { 0 } else { LAST }
}

/// The tokens that are one character between the same marks.
struct Tokens {
    /// The row of each [`ROW`] code points; row 0 has no tokens.
    rows: Vec<u16>,
    tokens: Vec<[u32; ROW]>,
}

impl Tokens {
    fn none() -> Self {
        Self {
            rows: vec![0; ROWS],
            tokens: vec![[NONE; ROW]],
        }
    }

    fn new(bpe: &Bpe, before: &[u8], behind: &[u8]) -> Self {
        let vocab = bpe.vocab();
        let mut this = Self::none();
        for (token, _) in vocab.iter() {
            let middle = token.strip_prefix(before);
            let Some(middle) = middle.and_then(|it| it.strip_suffix(behind)) else {
                continue;
            };
            if let Some(only) = only_character(bpe, middle) {
                // A token that stands twice is the later one, as the vocabulary knows.
                this.insert(only, vocab.text_id(token).unwrap_or(NONE));
            }
        }
        this
    }

    fn insert(&mut self, code_point: u32, id: u32) {
        let row = &mut self.rows[code_point as usize / ROW];
        if *row == 0 {
            *row = self.tokens.len() as u16;
            self.tokens.push([NONE; ROW]);
        }
        self.tokens[usize::from(*row)][code_point as usize % ROW] = id;
    }

    /// The token of a code point, or of a byte, or [`NONE`].
    #[inline(always)]
    fn token(&self, code_point: u32) -> u32 {
        let row = self.rows[code_point as usize / ROW];
        self.tokens[usize::from(row)][code_point as usize % ROW]
    }
}

/// The character that a token is, or the byte, as the alphabet has it.
fn only_character(bpe: &Bpe, token: &[u8]) -> Option<u32> {
    match (bpe.options().alphabet, token) {
        (Alphabet::Bytes, &[byte]) => Some(byte.into()),
        (Alphabet::Characters, [_] | [_, _] | [_, _, _] | [_, _, _, _]) => {
            let mut characters = std::str::from_utf8(token).ok()?.chars();
            let only = characters.next()?;
            characters.next().is_none().then_some(only.into())
        }
        _ => None,
    }
}
