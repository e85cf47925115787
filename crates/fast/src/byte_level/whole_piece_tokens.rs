//! Whole-piece tokens: tokens that a word becomes if it is spelled like one, although its merges give
//! something else.
//!
//! With ranks, a piece that is spelled like a token is that token, and so it is for merges with
//! `ignore_merges`. Nearly all tokens are also the result of merging their bytes; this file has the others.
//! So a new piece is compared with few tokens, and pieces can be split: a part that is spelled like one of
//! these is merged separately.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use jeton_models::merge::merges::Merges;
use jeton_models::merge::pair_table::PairTable;
use jeton_models::model::Bpe;
use jeton_models::model::bpe::MergeRule;

/// The tokens that merging may not make, for models in which a piece spelled like a token is that token.
pub struct WholePieceTokens(HashMap<Box<[u8]>, u32, RandomState>);

impl WholePieceTokens {
    /// Those of `bpe`, which has these merges.
    pub fn of(bpe: &Bpe, merges: &Merges<impl PairTable>) -> Self {
        if !bpe.takes_whole_pieces() || bpe.merges_make_all_tokens() {
            return Self(HashMap::default());
        }
        let max_id = bpe.vocab().max_id().unwrap_or(0);
        let made = merges.reachable(max_id, *bpe.rule() == MergeRule::Ranks);
        let unmade = bpe.vocab().texts().filter(|(_, id)| !made[*id as usize]);
        Self(unmade.map(|(token, id)| (token.into(), id)).collect())
    }

    /// The token that a piece of several tokens is at once.
    pub fn token(&self, piece: &[u8]) -> Option<u32> {
        self.0.get(piece).copied()
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::merge::merges::SCANNED;
    use jeton_models::merge::short_word::ShortWord;
    use jeton_models::model::bpe::BpeOptions;
    use jeton_stages::vocab::Vocab;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn merging_makes_all_others() {
        let mut numbers = ChaCha8Rng::seed_from_u64(1);
        let mut found = 0;
        for round in 0..200 {
            // Tokens of two earlier ones each, in an order that training would not always give.
            let mut tokens: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
            let mut merges = Vec::new();
            for _ in 0..25 {
                let mut side = || match numbers.random_range(0..tokens.len() - 253) {
                    letter @ 0..3 => tokens[usize::from(b'a') + letter].clone(),
                    made => tokens[253 + made].clone(),
                };
                let (left, right) = (side(), side());
                let token = [&left[..], &right].concat();
                if !tokens.contains(&token) && token.len() <= SCANNED {
                    tokens.push(token);
                    merges.push((left, right));
                }
            }
            for _ in 0..round % 3 {
                let [a, b] = [(); 2].map(|()| numbers.random_range(0..merges.len()));
                merges.swap(a, b);
            }
            let vocab = |tokens: &[Vec<u8>]| Vocab::new(tokens.iter().zip(0..)).unwrap();
            let options = BpeOptions {
                ignore_merges: true,
                ..BpeOptions::default()
            };
            let listed = Bpe::by_merges(vocab(&tokens), merges, options).unwrap();
            let last = tokens.len() - 1;
            tokens.swap(numbers.random_range(256..=last), last);
            for bpe in [listed, Bpe::by_ranks(vocab(&tokens)).unwrap()] {
                let merges = Merges::new(bpe.vocab(), bpe.reachable_merges()).unwrap();
                let whole = WholePieceTokens::of(&bpe, &merges);
                let mut work = [ShortWord::NEW];
                for (token, id) in bpe.vocab().iter() {
                    merges.merge_together(&[token], &mut work);
                    let is_made = *work[0].tokens() == [id];
                    assert!(is_made || whole.token(token) == Some(id), "{token:?}");
                    found += usize::from(!is_made);
                }
            }
        }
        assert!(found > 100, "{found}");
    }
}
