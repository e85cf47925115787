//! The pieces that training starts from: frequent substrings, and all single characters.
//!
//! In sorted suffixes, those that begin with the same substring are an interval. A substring is a
//! candidate if it occurs twice, may be a piece, and cannot be extended, on either side, without
//! occurring less often. The candidates with the greatest number of occurrences times length are
//! taken.

use rayon::prelude::*;

use super::matches::{Matches, NONE};
use super::suffixes;
use crate::pieces::{Class, END, Fragments, PieceRules};
use jeton_text::interrupt::paced;

/// A substring: the suffixes from `left` to `right` begin with its `length` symbols.
#[derive(Clone, Copy)]
struct Candidate {
    score: u64,
    left: u32,
    right: u32,
    length: u16,
}

/// What comes before the occurrences of a substring if they differ, or if a fragment begins there.
const DIFFERENT: u32 = END;

/// An interval under way.
struct Open {
    length: u16,
    left: u32,
    /// The symbol before all occurrences, or [`DIFFERENT`].
    before: u32,
}

/// The pieces that training starts from, with where in the fragments each occurs.
pub(super) fn find(fragments: Fragments, rules: &PieceRules, seed_size: usize) -> Matches {
    let depth = rules.max_piece_length + 1;
    let sorted = suffixes::sorted(&fragments.symbols, depth);
    let frequencies = frequencies(&fragments, &sorted);
    let mut candidates = {
        let common = suffixes::common(&fragments.symbols, &sorted, depth);
        candidates(&fragments, rules, &sorted, &common, &frequencies)
    };
    if candidates.len() > seed_size {
        let better = |a: &Candidate, b: &Candidate| {
            let place = |candidate: &Candidate| (candidate.left, candidate.length);
            b.score.cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
        };
        candidates.select_nth_unstable_by(seed_size, better);
        candidates.truncate(seed_size);
    }
    candidates.extend(characters(&fragments, &sorted, &frequencies));
    candidates.par_sort_unstable_by_key(|candidate| (candidate.left, candidate.length));
    matches(fragments, &sorted, &candidates)
}

/// The sums of the weights of the first suffixes, of none, of one, and so on.
fn frequencies(fragments: &Fragments, sorted: &[u32]) -> Vec<u64> {
    let mut weight_at = vec![0; fragments.symbols.len()];
    for (bounds, &weight) in fragments.starts.windows(2).zip(&fragments.weights) {
        weight_at[bounds[0] as usize..bounds[1] as usize].fill(weight);
    }
    let mut sum = 0;
    let sums = paced(sorted.iter()).map(|&start| {
        sum += weight_at[start as usize];
        sum
    });
    std::iter::once(0).chain(sums).collect()
}

fn candidates(
    fragments: &Fragments,
    rules: &PieceRules,
    sorted: &[u32],
    common: &[u16],
    frequencies: &[u64],
) -> Vec<Candidate> {
    let symbols = &fragments.symbols;
    let mut found = Vec::new();
    let mut classes: Vec<Class> = Vec::new();
    let mut close = |open: &Open, right: u32| {
        let length = usize::from(open.length);
        let frequency = frequencies[right as usize] - frequencies[open.left as usize];
        if !(2..=rules.max_piece_length).contains(&length)
            || frequency < 2
            || open.before != DIFFERENT
        {
            return;
        }
        let start = sorted[open.left as usize] as usize;
        classes.clear();
        let text = &symbols[start..start + length];
        classes.extend(
            text.iter()
                .map(|&symbol| fragments.classes[symbol as usize - 1]),
        );
        if rules.allow(&classes) {
            found.push(Candidate {
                score: frequency * length as u64,
                left: open.left,
                right,
                length: open.length,
            });
        }
    };
    let mut stack: Vec<Open> = Vec::new();
    for (at, &start) in paced(sorted.iter().enumerate()) {
        let start = start as usize;
        let rest = symbols[start..].iter().take(rules.max_piece_length + 1);
        let length = rest.take_while(|&&symbol| symbol != END).count() as u16;
        let before = start
            .checked_sub(1)
            .map_or(DIFFERENT, |before| symbols[before]);
        let leaf = Open {
            length,
            left: at as u32,
            before,
        };
        join(&mut stack, leaf);
        let next = common.get(at + 1).copied().unwrap_or(0);
        while let Some(open) = stack.pop_if(|open| open.length > next) {
            close(&open, at as u32 + 1);
            if next > 0 || !stack.is_empty() {
                join(
                    &mut stack,
                    Open {
                        length: next,
                        ..open
                    },
                );
            }
        }
    }
    found
}

/// Adds an interval, unless one of its length is under way, of which it then is a part.
fn join(stack: &mut Vec<Open>, interval: Open) {
    match stack.last_mut() {
        Some(last) if last.length >= interval.length => {
            if last.before != interval.before {
                last.before = DIFFERENT;
            }
        }
        _ => stack.push(interval),
    }
}

/// All characters as candidates, whether or not they can be made longer.
fn characters<'a>(
    fragments: &'a Fragments,
    sorted: &'a [u32],
    frequencies: &'a [u64],
) -> impl Iterator<Item = Candidate> + 'a {
    let first = |start: &u32| fragments.symbols[*start as usize];
    let mut right = 0;
    std::iter::from_fn(move || {
        let left = right;
        let symbol = first(sorted.get(left)?);
        right += sorted[left..].partition_point(|start| first(start) == symbol);
        Some(Candidate {
            score: frequencies[right] - frequencies[left],
            left: left as u32,
            right: right as u32,
            length: 1,
        })
    })
}

/// Which of the candidates, sorted by place and length, begin where.
fn matches(fragments: Fragments, sorted: &[u32], candidates: &[Candidate]) -> Matches {
    let sum: f64 = candidates.iter().map(|seed| seed.score as f64).sum();
    let mut longest = vec![NONE; fragments.symbols.len()];
    let mut parents = Vec::with_capacity(candidates.len());
    // The pieces that the suffix at hand begins with, shortest first, and where each ends.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut filled = 0;
    let mut fill_to = |open: &mut Vec<(u32, usize)>, end: usize| {
        while filled < end {
            while open.pop_if(|(_, right)| *right <= filled).is_some() {}
            let (piece, stop) = open
                .last()
                .map_or((NONE, end), |&(piece, right)| (piece, right.min(end)));
            for &start in paced(sorted[filled..stop].iter()) {
                longest[start as usize] = piece;
            }
            filled = stop;
        }
        while open.pop_if(|(_, right)| *right <= end).is_some() {}
    };
    for (candidate, piece) in candidates.iter().zip(0..) {
        fill_to(&mut open, candidate.left as usize);
        parents.push(open.last().map_or(NONE, |&(parent, _)| parent));
        open.push((piece, candidate.right as usize));
    }
    fill_to(&mut open, sorted.len());
    let place = |seed: &Candidate| sorted[seed.left as usize];
    let score = |seed: &Candidate| (seed.score as f64 / sum).ln();
    Matches {
        fragments,
        longest,
        places: candidates.iter().map(place).collect(),
        lengths: candidates.iter().map(|seed| seed.length).collect(),
        parents,
        scores: candidates.iter().map(score).collect(),
    }
}
