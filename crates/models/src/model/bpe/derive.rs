//! From ranks to merges: the two tokens that are merged into each token of a rank file.
//!
//! By definition these are the two parts that the token's own bytes end in when all other ranks
//! merge them (`Bpe::merges`). They depend only on tokens inside it, which are all shorter:
//! so one pass finds all pairs, the shortest tokens first, each merged by the pairs found so far.
//!
//! Why no other pair is ever merged: take the first merge, in any text, of
//! another pair into a token. Inside that token's bytes only known pairs were merged before, in the
//! same order as in the token alone; so the token alone ends in that other pair,
//! which would have been found. Look here for why loading ranks needs no table of all pairs.
//!
//! Worked example: in the ranks `a b c ab abc`, `ab` comes from `a` and `b`; with that pair known,
//! the bytes of `abc` end in `ab` and `c`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::MergeList;
use crate::merge::{GrowingPairs, Merges, SCANNED, ShortWord};
use jeton_stages::vocab::Vocab;
use jeton_text::threads::both;

/// Bytes up to which the merges of a token follow from the ranks of pairs of bytes.
const FEW_BYTES: usize = 3;
/// Tokens that are merged at a time.
const AT_ONCE: usize = 32;
/// Groups of this many tokens that a thread takes at once.
const GROUPS_AT_ONCE: usize = 8;
/// Tokens of one length from which on a second thread is started for them.
const THREAD_FROM: usize = 1 << 12;

/// The pairs that make the tokens of more than one byte, in the order of ids, and as a table.
/// `None` if a token occurs twice or is withheld, or the table cannot hold the ids.
pub(super) fn by_length(vocab: &Vocab) -> Option<(MergeList, Merges<GrowingPairs>)> {
    if vocab.iter().count() > vocab.len() || !vocab.withheld().is_empty() {
        return None;
    }
    let mut merges = Merges::of_ranks(vocab)?;
    let mut of_length = vec![Vec::new(); SCANNED + 1];
    let mut long = Vec::new();
    for (token, rank) in vocab.iter() {
        match of_length.get_mut(token.len()) {
            Some(tokens) => tokens.push(rank),
            None => long.push((token, rank)),
        }
    }
    for ranks in &of_length[2..=FEW_BYTES] {
        let parts = |&rank: &u32| Some((rank, merges.parts_of_few(vocab.token(rank)?)?));
        let made: Vec<_> = ranks.iter().filter_map(parts).collect();
        merges.insert_all(vocab, &made);
    }
    for ranks in &of_length[FEW_BYTES + 1..] {
        let next = AtomicUsize::new(0);
        let some = || some_parts(vocab, &merges, ranks, &next);
        let (first, second) = both(ranks.len() >= THREAD_FROM, some, some);
        for made in [first, second] {
            merges.insert_all(vocab, &made);
        }
    }
    long.sort_by_key(|(token, _)| token.len());
    for (token, rank) in long {
        if let [left, right] = *merges.merge_long(token) {
            merges.insert(token, (left, right), rank);
        }
    }
    let mut list = MergeList {
        merges: Vec::with_capacity(vocab.len()),
        underivable: Vec::new(),
    };
    for (_, rank) in vocab.iter().filter(|(token, _)| token.len() > 1) {
        let maker = merges.pairs().maker(rank);
        match maker.age {
            0 => list.underivable.push(rank),
            _ => list.merges.push((maker.left, maker.right)),
        }
    }
    Some((list, merges))
}

/// The parts of tokens of one length that this thread takes; `next` is the first one that no thread has
/// taken.
fn some_parts(
    vocab: &Vocab,
    merges: &Merges<GrowingPairs>,
    ranks: &[u32],
    next: &AtomicUsize,
) -> Vec<(u32, (u32, u32))> {
    let mut found = Vec::new();
    let mut works = Vec::new();
    loop {
        let first = next.fetch_add(GROUPS_AT_ONCE * AT_ONCE, Ordering::Relaxed);
        let Some(ranks) = ranks.get(first..) else {
            return found;
        };
        works.resize(AT_ONCE, ShortWord::NEW);
        for ranks in ranks.chunks(AT_ONCE).take(GROUPS_AT_ONCE) {
            let mut tokens: [&[u8]; AT_ONCE] = [&[]; AT_ONCE];
            for (token, &rank) in tokens.iter_mut().zip(ranks) {
                *token = vocab.token(rank).unwrap_or_default();
            }
            // Two parts are no pair yet, since what they make is the token itself.
            merges.merge_until::<2>(&tokens[..ranks.len()], &mut works);
            for (&rank, work) in ranks.iter().zip(&works) {
                if let &[left, right] = work.tokens() {
                    found.push((rank, (left, right)));
                }
            }
        }
    }
}
