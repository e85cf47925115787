//! Token reachability: which tokens their own bytes merge into, and by which merge.
//!
//! A list may produce a token by several merges, as lists that were written from ranks do: one for each way
//! to split it in two. But the token's own bytes pass through at most one of these pairs, and whatever
//! surrounds them, nothing merges across their ends before the token is whole. So no other pair ever
//! produces it.

use super::pair_table::{GrowingPairs, PairTable};
use super::pairs::{Merge, Pairs};
use jeton_stages::tables::perfect_hash::NONE;

/// `merges` (in the order of ranks, of tokens up to `max_id`, whose first symbols are `bytes`) without those
/// known never to happen: if one merge of a token is known to happen, its other merges. If a token has
/// several merges, also which tokens are known to be reached.
pub fn without_idle(
    mut merges: Vec<Merge>,
    bytes: &[u32; 256],
    max_id: u32,
) -> (Vec<Merge>, Option<Vec<bool>>) {
    let mut made = vec![false; max_id as usize + 1];
    let is_first = |merge: &Merge| !std::mem::replace(&mut made[merge.2 as usize], true);
    if merges.iter().all(is_first) {
        return (merges, None);
    }
    let ranks = merges.last().map_or(0, |merge| merge.1 + 1);
    let Some(mut pairs) = Pairs::<GrowingPairs>::with_room(merges.len(), ranks, max_id) else {
        return (merges, None);
    };
    made.fill(false);
    for &byte in bytes {
        made[byte as usize] = true;
    }
    for &merge in &merges {
        let ((left, right), rank, id) = merge;
        if made[id as usize] {
            continue;
        }
        if made[left as usize] && made[right as usize] && meet(&pairs, left, right) {
            made[id as usize] = true;
            pairs.set_maker(id, rank);
        }
        pairs.insert(merge);
    }
    merges.retain(|&(_, rank, id)| !made[id as usize] || pairs.maker(id).age == rank + 1);
    (merges, Some(made))
}

/// Which tokens of up to `max_id` merging is known to make, of those that begin as these bytes, where
/// each has one merge. If `all_meet`, the bytes of each merged token merge to the two sides of its merge.
pub fn reachable(
    pairs: &Pairs<impl PairTable>,
    bytes: &[u32; 256],
    max_id: u32,
    all_meet: bool,
) -> Vec<bool> {
    let mut made = vec![false; max_id as usize + 1];
    for &byte in bytes {
        made[byte as usize] = true;
    }
    for ((left, right), _, id) in pairs.iter() {
        // In the order of ranks: what was not made by now is made too late.
        let before = made[left as usize] && made[right as usize];
        made[id as usize] = before && (all_meet || meet(pairs, left, right));
    }
    made
}

/// Whether the joined bytes of two tokens merge to these two: whether no merge takes a symbol of
/// each before.
///
/// Backwards in time, the younger of the two symbols at the border is parted again. A merge of both
/// would have had to come before either became a part of the next; at equal ranks, the one more to
/// the left comes first.
#[inline(always)]
fn meet(pairs: &Pairs<impl PairTable>, mut left: u32, mut right: u32) -> bool {
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

    #[test]
    fn of_the_ways_to_part_a_token_one_happens() {
        let bytes: [u32; 256] = std::array::from_fn(|byte| byte as u32);
        let [a, b, c, ab, bc, abc] = [97, 98, 99, 256, 257, 258];
        let merges = vec![
            ((a, b), 0, ab),
            ((b, c), 1, bc),
            ((a, bc), 2, abc),
            ((ab, c), 3, abc),
        ];
        let (happen, made) = without_idle(merges.clone(), &bytes, abc);
        assert_eq!(happen, [merges[0], merges[1], merges[3]]);
        assert!(made.unwrap()[abc as usize]);
        // Neither `ab` nor `bc` is there when the other parts of `abc` are: nothing is known of it.
        let merges = vec![
            ((a, bc), 0, abc),
            ((ab, c), 1, abc),
            ((a, b), 2, ab),
            ((b, c), 3, bc),
        ];
        let (happen, made) = without_idle(merges.clone(), &bytes, abc);
        assert_eq!(happen, merges);
        assert!(!made.unwrap()[abc as usize]);
        // Each token has one way.
        let (happen, made) = without_idle(merges[1..].to_vec(), &bytes, abc);
        assert_eq!((happen, made), (merges[1..].to_vec(), None));
    }
}
