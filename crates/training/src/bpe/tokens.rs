//! The tokens that training has so far, with their ids.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::pieces::PieceRules;
use jeton_models::model::bpe::Alphabet;

/// The tokens so far.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub bytes: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32, FixedState>,
    /// How many units each has, without prefix and suffix.
    pub lengths: Vec<usize>,
    /// Tokens that no merge may make.
    pub reserved: BTreeSet<u32>,
    /// How many ids have a token; the others are gaps.
    count: usize,
}

impl Tokens {
    /// These special tokens.
    pub fn of_specials(special_tokens: &[String]) -> Self {
        let mut tokens = Self::default();
        for special in special_tokens {
            tokens.intern(special.as_bytes(), special.chars().count());
        }
        tokens
    }

    /// The tokens with ids below `ids`.
    pub fn first(&self, ids: usize) -> Self {
        let mut first = Self::default();
        let all = self.bytes.iter().zip(&self.lengths).zip(0..).take(ids);
        for ((token, &length), id) in all.filter(|((token, _), _)| !token.is_empty()) {
            first.place(token, id, length);
        }
        first.bytes.resize(ids, Vec::new());
        first.lengths.resize(ids, 0);
        first
    }

    /// The id of a special token, which is new unless a token of text is spelled so.
    pub fn intern_special(&mut self, special: &str, alphabet: Alphabet) -> u32 {
        self.intern(&spelling(special, alphabet), special.chars().count())
    }

    /// How many ids there are, gaps between them included.
    pub fn ids(&self) -> usize {
        self.bytes.len()
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The id of a token, which is new unless it is known.
    pub fn intern(&mut self, token: &[u8], length: usize) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = self.bytes.len() as u32;
        self.ids.insert(token.to_vec(), id);
        self.bytes.push(token.to_vec());
        self.lengths.push(length);
        self.count += 1;
        id
    }

    /// Gives a token an id that is not taken; the ids before it may stay without a token.
    pub fn place(&mut self, token: &[u8], id: u32, length: usize) {
        let needed = (id as usize + 1).max(self.bytes.len());
        self.bytes.resize(needed, Vec::new());
        self.lengths.resize(needed, 0);
        self.count += usize::from(self.bytes[id as usize].is_empty());
        self.bytes[id as usize] = token.to_vec();
        self.lengths[id as usize] = length;
        self.ids.entry(token.to_vec()).or_insert(id);
    }

    /// The id of a token, if it is known.
    pub fn id(&self, token: &[u8]) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// The bytes that two tokens make.
    fn joined(&self, left: u32, right: u32, prefix: &str) -> Vec<u8> {
        let rest = &self.bytes[right as usize];
        let rest = rest.strip_prefix(prefix.as_bytes()).unwrap_or(rest);
        [&self.bytes[left as usize], rest].concat()
    }

    /// Whether two tokens make one that text must not become, such as `<0x41>`.
    pub fn make_reserved(&self, left: u32, right: u32, prefix: &str) -> bool {
        !self.reserved.is_empty() && {
            let token = self.joined(left, right, prefix);
            self.id(&token)
                .is_some_and(|id| self.reserved.contains(&id))
        }
    }

    /// The token that two tokens make.
    pub fn merge(&mut self, left: u32, right: u32, prefix: &str) -> u32 {
        let token = self.joined(left, right, prefix);
        let length = self.lengths[left as usize] + self.lengths[right as usize];
        self.intern(&token, length)
    }

    /// Whether two tokens make one that is known.
    pub fn make_known(&self, left: u32, right: u32, prefix: &str) -> bool {
        self.id(&self.joined(left, right, prefix)).is_some()
    }

    /// How many units two tokens have together.
    pub fn length(&self, left: u32, right: u32) -> usize {
        self.lengths[left as usize] + self.lengths[right as usize]
    }
}

/// Limits for the tokens that merges make.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// How many units one has, at most.
    pub units: usize,
    /// The rules of pieces, where tokens are pieces.
    pub rules: Option<PieceRules>,
    /// Whether pairs are counted without overlap in a run of equal symbols: `ppp` has one `pp`.
    pub disjoint: bool,
}

impl Limits {
    /// Those of pieces.
    pub fn of_pieces(rules: PieceRules) -> Self {
        Self {
            units: rules.max_piece_length,
            rules: Some(rules),
            disjoint: false,
        }
    }

    /// Whether two tokens may make one.
    pub fn allow(&self, tokens: &Tokens, left: u32, right: u32) -> bool {
        let length = tokens.length(left, right);
        let keeps = |rules: &PieceRules| {
            let parts =
                [left, right].map(|part| String::from_utf8_lossy(&tokens.bytes[part as usize]));
            let characters = parts.iter().flat_map(|part| part.chars());
            let classes: Vec<_> = characters.map(|character| rules.class(character)).collect();
            rules.allow(&classes)
        };
        length <= self.units && self.rules.as_ref().is_none_or(keeps)
    }
}

/// What a special token is among the tokens. Where tokens are bytes and a file would spell these bytes in
/// other characters, it is no token of text: after a byte that no text holds.
pub(super) fn spelling(special: &str, alphabet: Alphabet) -> Vec<u8> {
    let mut bytes = special.as_bytes().to_vec();
    if alphabet == Alphabet::Bytes && !bytes.iter().all(u8::is_ascii_graphic) {
        bytes.insert(0, 0xFF);
    }
    bytes
}
