//! Short tokens by their bytes: a new word that is one token or two is found, and need not be
//! merged.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::merges::{Merge, Merges, Work};
use super::pairs::{AHEAD, NONE, Pairs};
use super::pending::MOST_NEW;
use super::prefetch::prefetch;
use super::tagged::{Address, Tagged};
use super::words::{SHORT, ShortKey};
use crate::model::Bpe;
use crate::model::bpe::MergeRule;

/// The places of a piece's two parts, for each place where it may be parted.
type Parts = [[Address; 2]; SHORT];

/// The tokens of up to [`SHORT`] bytes that merging their bytes makes, each in one way. What finds
/// its line full is left out.
pub struct Spellings {
    ids: Tagged,
    /// The token of each id, or the key of no piece.
    keys: Vec<ShortKey>,
    /// Moves the hashes, so that no file can aim tokens at one line.
    seed: u64,
}

impl Spellings {
    /// The short tokens of `bpe`, which has these merges; none if some token has two.
    pub fn new(bpe: &Bpe, list: &[Merge], merges: &Merges) -> Option<Self> {
        let vocab = bpe.vocab();
        let ids = vocab.max_id()? as usize + 1;
        let mut made = vec![false; ids];
        let mut merged = vec![false; ids];
        for byte in 0..=u8::MAX {
            made[vocab.id(&[byte])? as usize] = true;
        }
        for &(_, _, id) in list {
            if std::mem::replace(&mut merged[id as usize], true) || made[id as usize] {
                return None;
            }
        }
        let mut this = Self {
            ids: Tagged::new(vocab.len()),
            keys: vec![ShortKey::NONE; ids],
            seed: RandomState::default().hash_one(0),
        };
        let pairs = merges.pairs();
        // The merges of ranks are those that their tokens' bytes come to.
        let come_to_all = *bpe.rule() == MergeRule::Ranks;
        for &((left, right), rank, id) in list {
            let before = |part: u32| made[part as usize] && pairs.maker(part).age <= rank;
            made[id as usize] =
                before(left) && before(right) && (come_to_all || meet(pairs, left, right));
        }
        for (token, id) in vocab.iter() {
            if token.len() <= SHORT && made[id as usize] {
                this.keys[id as usize] = ShortKey::new(token, 0, token.len());
            }
        }
        for id in 0..ids {
            if let Some(&later) = this.keys.get(id + AHEAD) {
                this.ids.prefetch(this.place(later));
            }
            if this.keys[id] != ShortKey::NONE {
                this.ids.insert(this.place(this.keys[id]), id as u32);
            }
        }
        Some(this)
    }

    #[inline(always)]
    fn place(&self, key: ShortKey) -> Address {
        self.ids.place(key.hash(self.seed))
    }

    /// Finds pieces that are one token or two, gives the tokens to `works`, and says by bits which
    /// pieces are left to be merged. Pieces that are not short have the key of no piece.
    pub fn find(&self, merges: &Merges, keys: &[ShortKey], works: &mut [Work]) -> u64 {
        if keys.is_empty() {
            // A short text may have none, and takes no longer than clearing the space below.
            return 0;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.find_avx2(merges, keys, works) };
        }
        self.find_portable(merges, keys, works)
    }

    /// The same code, for processors that compare a row at once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn find_avx2(&self, merges: &Merges, keys: &[ShortKey], works: &mut [Work]) -> u64 {
        self.find_portable(merges, keys, works)
    }

    /// What becomes of a piece is nothing that a processor could guess, so bits are gathered where
    /// they can be.
    #[inline(always)]
    fn find_portable(&self, merges: &Merges, keys: &[ShortKey], works: &mut [Work]) -> u64 {
        let mut places = [Address::default(); MOST_NEW];
        let mut ones = [0; MOST_NEW];
        let mut parts = [Parts::default(); MOST_NEW];
        for (&key, place) in keys.iter().zip(&mut places) {
            *place = self.place(key);
            self.ids.prefetch(*place);
        }
        let (mut short, mut parted) = (0, 0);
        for (i, &key) in keys.iter().enumerate() {
            let alike = self.ids.alike(places[i]);
            ones[i] = alike.first();
            prefetch(&self.keys, ones[i] as usize);
            let is_short = key != ShortKey::NONE;
            short |= u64::from(is_short) << i;
            parted |= u64::from(is_short & alike.is_empty() & key.is_ascii()) << i;
        }
        for i in ones_of(parted) {
            let key = keys[i];
            for (at, places) in parts[i][..key.len()].iter_mut().enumerate().skip(1) {
                *places = [self.place(key.first(at)), self.place(key.after(at))];
                self.ids.prefetch(places[0]);
                self.ids.prefetch(places[1]);
            }
        }
        let mut found = 0;
        for (i, (&key, work)) in keys.iter().zip(works.iter_mut()).enumerate() {
            found |= u64::from(self.keys[ones[i] as usize] == key) << i;
            work.become_tokens(&[ones[i]]);
        }
        let mut left = !(found & short) & ((1 << keys.len()) - 1);
        for i in ones_of(parted) {
            if let Some(two) = self.two(merges.pairs(), keys[i], &parts[i][..keys[i].len()]) {
                works[i].become_tokens(&two);
                left &= !(1 << i);
            }
        }
        left
    }

    /// The two tokens that a piece becomes, if it becomes two that are found.
    #[inline(always)]
    fn two(&self, pairs: &Pairs, key: ShortKey, parts: &[[Address; 2]]) -> Option<[u32; 2]> {
        let mut likely = 0u32;
        let mut firsts = [[0; 2]; SHORT];
        for (at, places) in parts.iter().enumerate().skip(1) {
            let left = self.ids.alike(places[0]);
            let right = self.ids.alike(places[1]);
            firsts[at] = [left.first(), right.first()];
            likely |= u32::from(!left.is_empty() & !right.is_empty()) << at;
        }
        while likely != 0 {
            let at = likely.ilog2() as usize;
            let [left, right] = firsts[at];
            if meet(pairs, left, right)
                && pairs.rank(left, right) == NONE
                && self.keys[left as usize] == key.first(at)
                && self.keys[right as usize] == key.after(at)
            {
                return Some([left, right]);
            }
            likely &= !(1 << at);
        }
        None
    }
}

/// The places of the bits that are set.
fn ones_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (first < 64).then_some(first)
    })
}

/// Whether merging the bytes of two tokens comes to these two: whether no merge takes a symbol of
/// each before.
///
/// Backwards in time, the younger of the two symbols at the border is parted again. A merge of both
/// would have had to come before either became a part of the next; at equal ranks, the one more to
/// the left comes first.
#[inline(always)]
fn meet(pairs: &Pairs, mut left: u32, mut right: u32) -> bool {
    let (mut left_until, mut right_until) = (NONE, NONE);
    loop {
        let [a, b] = [left, right].map(|id| pairs.maker(id));
        if a.age > b.age {
            (left, left_until) = (a.right, a.age - 1);
        } else if b.age > 0 {
            (right, right_until) = (b.left, b.age - 1);
        } else {
            return true;
        }
        let rank = pairs.rank(left, right);
        if rank < left_until && rank <= right_until {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Vocab;
    use crate::model::bpe::BpeOptions;

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
        let list = bpe.reachable_merges();
        let merges = Merges::new(bpe, &list).unwrap();
        let spellings = Spellings::new(bpe, &list, &merges).unwrap();
        let mut found = 0;
        for pieces in pieces.chunks(MOST_NEW) {
            let mut works = vec![Work::NEW; MOST_NEW];
            let mut merged = works.clone();
            let key = |piece: &&[u8]| match piece.len() {
                ..=SHORT => ShortKey::new(piece, 0, piece.len()),
                _ => ShortKey::NONE,
            };
            let keys: Vec<ShortKey> = pieces.iter().map(key).collect();
            let left = spellings.find(&merges, &keys, &mut works);
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
        assert_eq!(
            check(
                &by_ranks(&[b"ab", b"cd", b"bc"]),
                &[b"abcd", b"abc", b"bcd"]
            ),
            3
        );
        assert_eq!(
            check(&by_ranks(&[b"bc", b"ab", b"cd"]), &[b"abcd", b"bc"]),
            1
        );
        let long = b"0123456789012345";
        assert_eq!(check(&by_ranks(&[]), &[&long[..2], long]), 1);
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
