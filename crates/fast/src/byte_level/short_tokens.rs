//! Short tokens, found by their bytes: a new word that is one token is looked up instead of merged.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::cache::pending::MAX_NEW;
use jeton_models::merge::merges::Merges;
use jeton_models::merge::pair_table::PairTable;
use jeton_models::merge::short_word::ShortWord;
use jeton_models::model::Bpe;
use jeton_models::model::bpe::MergeRule;
use jeton_stages::tables::tag_table::{AHEAD, Address, TagTable};
use jeton_text::mem::prefetch::prefetch;
use jeton_text::mem::short_keys::{SHORT, ShortKey};

/// The tokens of up to [`SHORT`] bytes that merging their bytes makes. A token whose line is full is left
/// out.
pub struct ShortTokens {
    ids: TagTable,
    /// The token of each id; the key of a place without a piece where there is none.
    keys: Vec<ShortKey>,
    /// The tokens of any length that merging may not make.
    unmade: Vec<u32>,
    /// Moves the hashes, so that no file can aim tokens at one line.
    seed: u64,
}

impl ShortTokens {
    /// The short tokens of `bpe`, which has these merges.
    pub fn new(bpe: &Bpe, merges: &Merges<impl PairTable>) -> Self {
        let vocab = bpe.vocab();
        let made = merges.reachable(vocab.max_id().unwrap_or(0), *bpe.rule() == MergeRule::Ranks);
        let mut this = Self {
            ids: TagTable::new(vocab.len()),
            keys: vec![ShortKey::EMPTY; made.len()],
            unmade: Vec::new(),
            seed: RandomState::default().hash_one(0),
        };
        let mut waiting = [(0, Address::FIRST); AHEAD];
        let mut count = 0;
        let (bytes, places) = vocab.places();
        for (range, id) in places {
            if !made[id as usize] {
                this.unmade.push(id);
            } else if range.len() <= SHORT {
                let key = ShortKey::new(bytes, range.start, range.len());
                let place = this.place(key);
                this.keys[id as usize] = key;
                this.ids.prefetch(place);
                let (id, place) = std::mem::replace(&mut waiting[count % AHEAD], (id, place));
                if count >= AHEAD {
                    this.ids.insert(place, id);
                }
                count += 1;
            }
        }
        for &(id, place) in &waiting[..count.min(AHEAD)] {
            this.ids.insert(place, id);
        }
        this
    }

    /// The tokens of any length that merging may not make.
    pub fn unmade(&self) -> &[u32] {
        &self.unmade
    }

    #[inline(always)]
    fn place(&self, key: ShortKey) -> Address {
        self.ids.place(key.hash(self.seed))
    }

    /// Finds pieces that are one token, gives the tokens to `works`, and says by bits which pieces are
    /// left to be merged. Pieces that are not short have the key of no piece.
    pub fn find(&self, keys: &[ShortKey], works: &mut [ShortWord]) -> u64 {
        let mut places = [Address::FIRST; MAX_NEW];
        for (&key, place) in keys.iter().zip(&mut places) {
            *place = self.place(key);
            self.ids.prefetch(*place);
        }
        let mut ids = [0; MAX_NEW];
        for (&place, id) in places[..keys.len()].iter().zip(&mut ids) {
            *id = self.ids.alike(place).first();
            prefetch(&self.keys, *id as usize);
        }
        let mut left = 0;
        for (i, ((&key, &id), work)) in keys.iter().zip(&ids).zip(works).enumerate() {
            // A processor cannot guess which pieces are tokens.
            work.become_tokens(&[id]);
            left |= u64::from(self.keys[id as usize] != key) << i;
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::bpe::BpeOptions;
    use jeton_stages::vocab::Vocab;

    fn bytes() -> Vec<Vec<u8>> {
        (0..=u8::MAX).map(|byte| vec![byte]).collect()
    }

    fn by_ranks(tokens: &[&[u8]]) -> Bpe {
        let tokens = bytes()
            .into_iter()
            .chain(tokens.iter().map(|token| token.to_vec()));
        Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap()
    }

    /// Holds what is found of `pieces` equal to what merging makes; returns how many were found.
    fn check(bpe: &Bpe, pieces: &[&[u8]]) -> usize {
        let merges = Merges::new(bpe.vocab(), bpe.reachable_merges()).unwrap();
        let short_tokens = ShortTokens::new(bpe, &merges);
        let mut found = 0;
        for pieces in pieces.chunks(MAX_NEW) {
            let mut works = vec![ShortWord::NEW; MAX_NEW];
            let mut merged = works.clone();
            let key = |piece: &&[u8]| match piece.len() {
                ..=SHORT => ShortKey::new(piece, 0, piece.len()),
                _ => ShortKey::NONE,
            };
            let keys: Vec<ShortKey> = pieces.iter().map(key).collect();
            let left = short_tokens.find(&keys, &mut works);
            merges.merge_together(pieces, (1 << pieces.len()) - 1, &mut merged);
            for i in (0..pieces.len()).filter(|i| left >> i & 1 == 0) {
                found += 1;
                assert_eq!(works[i].tokens(), merged[i].tokens(), "{:?}", pieces[i]);
            }
        }
        found
    }

    #[test]
    fn worked_example() {
        let by_merges = |merges: [[&[u8]; 2]; 4]| {
            let made = merges.iter().map(|parts| parts.concat());
            let vocab = Vocab::new(bytes().into_iter().chain(made).zip(0..)).unwrap();
            let merges = merges.map(|[left, right]| (left.to_vec(), right.to_vec()));
            Bpe::by_merges(vocab, merges.to_vec(), BpeOptions::default()).unwrap()
        };
        let [ab, bc, cd]: [[&[u8]; 2]; 3] = [[b"a", b"b"], [b"b", b"c"], [b"c", b"d"]];
        let pieces: [&[u8]; 4] = [b"ab", b"bc", b"abcd", b"abc"];
        let abcd: [&[u8]; 2] = [b"ab", b"cd"];
        // An entry that looks alike by chance may hide a token from one index, but not from many.
        let most = |bpe: &Bpe, pieces: &[&[u8]]| (0..9).map(|_| check(bpe, pieces)).max();
        assert_eq!(most(&by_merges([ab, cd, bc, abcd]), &pieces), Some(3));
        assert_eq!(most(&by_merges([bc, ab, cd, abcd]), &pieces), Some(2));
        let long = b"0123456789012345";
        let pieces = [&long[..2], long];
        assert_eq!(most(&by_ranks(&[b"01", long]), &pieces), Some(1));
    }

    #[test]
    fn finds_what_merging_makes() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        let words: Vec<Vec<u8>> = (0..3usize.pow(7))
            .map(|n| {
                (0..7)
                    .map(|i| b'a' + (n / 3usize.pow(i) % 3) as u8)
                    .collect()
            })
            .collect();
        let pieces: Vec<&[u8]> = words
            .iter()
            .flat_map(|word| (1..=7).map(|n| &word[..n]))
            .collect();
        let mut found = 0;
        for _ in 0..60 {
            // Tokens of two earlier ones each, in an order that training would not always give.
            let mut tokens = bytes();
            let mut merges = Vec::new();
            for _ in 0..25 {
                let mut side = || match random(tokens.len() - 253) {
                    letter @ 0..3 => u32::from(b'a') + letter as u32,
                    made => 253 + made as u32,
                };
                let [left, right] = [side(), side()].map(|id| tokens[id as usize].clone());
                let token = [&left[..], &right].concat();
                if !tokens.contains(&token) {
                    tokens.push(token);
                    merges.push((left, right));
                }
            }
            for _ in 0..random(3) {
                let (a, b) = (random(merges.len()), random(merges.len()));
                merges.swap(a, b);
            }
            let vocab = Vocab::new(tokens.iter().zip(0..)).unwrap();
            let listed = Bpe::by_merges(vocab, merges, BpeOptions::default()).unwrap();
            found += check(&listed, &pieces);
            let last = tokens.len() - 1;
            tokens.swap(256 + random(last - 255), last);
            let ranked: Vec<&[u8]> = tokens[256..].iter().map(|token| &token[..]).collect();
            found += check(&by_ranks(&ranked), &pieces);
        }
        assert!(found > pieces.len() * 10, "{found}");
    }
}
