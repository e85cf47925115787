//! The pairs of a corpus: how frequent each is, where it occurs, and which comes next, ties
//! included.
//!
//! Everything is in flat arrays. A merge visits the words that contain its pair; the
//! changes are summed up by neighbour first, so that tables of pairs are updated once per
//! distinct neighbour and not once per occurrence. A merge removes one symbol per
//! occurrence and adds at most two places where pairs occur, so there are never more places than
//! three times the symbols.

use std::cmp::Ordering;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::changes::Changes;
use super::parameters::TieBreak;
use super::queue::{Candidate, Queue};
use super::tokens::{Limits, Tokens};
use super::words::{NONE, Words};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::paced;
use jeton_text::mem::large_pages;
use jeton_text::printable;

/// Words from which on a merge is shared by two threads; few in tests, so that they do it.
const SHARED_FROM: usize = if cfg!(test) { 4 } else { 4096 };

/// Symbols up to which all their pairs are numbered in one small table.
const FEW_SYMBOLS: usize = 512;

/// Words in which a pair occurs, or has occurred.
struct Segment {
    pair: u32,
    /// They are `places[start..end]`.
    start: usize,
    end: usize,
    /// The segment of the same pair that was made before.
    previous: u32,
}

/// The pairs that have been seen: their ids and counts, numbered in the order of meeting.
#[derive(Default)]
struct Pairs {
    numbers: HashMap<u64, u32, FixedState>,
    ids: Vec<(u32, u32)>,
    counts: Vec<i64>,
    /// The segment of each pair that was made last.
    latest: Vec<u32>,
}

impl Pairs {
    fn number(&mut self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        *self.numbers.entry(key).or_insert_with(|| {
            self.ids.push((left, right));
            self.counts.push(0);
            self.latest.push(NONE);
            self.ids.len() as u32 - 1
        })
    }

    fn count(&self, pair: u32) -> u64 {
        u64::try_from(self.counts[pair as usize]).unwrap_or(0)
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The words, the pairs in them, and which pair comes next.
pub(super) struct PairCounts {
    words: Words,
    pairs: Pairs,
    segments: Vec<Segment>,
    places: Vec<u32>,
    queue: Queue,
    /// What the merge at hand changes, in the earlier words and in the later ones.
    changes: [Changes; 2],
    tie_break: TieBreak,
    limits: Limits,
}

impl PairCounts {
    pub(super) fn new(
        words: Words,
        tie_break: TieBreak,
        limits: Limits,
        tokens: &Tokens,
    ) -> Result<Self> {
        if i64::try_from(words.sum).is_err() {
            return Err(Error::new(
                ErrorKind::Training,
                format!(
                    "the corpus has {} symbols, more than can be counted",
                    words.sum
                ),
            )
            .hint("divide the word counts by a common number"));
        }
        if words.row.len() >= NONE as usize {
            return Err(Error::new(
                ErrorKind::Training,
                "the distinct words have 4 Gi symbols or more",
            )
            .hint("filter out the rarest words"));
        }
        let words = Words {
            row: large_pages::moved(&words.row),
            ..words
        };
        let mut corpus = Self {
            words,
            pairs: Pairs::default(),
            segments: Vec::new(),
            places: Vec::new(),
            queue: Queue::new(),
            changes: Default::default(),
            tie_break,
            limits,
        };
        corpus.count_pairs(tokens);
        Ok(corpus)
    }

    /// Counts all pairs and notes the words that they occur in.
    fn count_pairs(&mut self, tokens: &Tokens) {
        let Self { words, pairs, .. } = self;
        let disjoint = self.limits.disjoint;
        // The numbers of pairs once more, side by side where there are few symbols.
        let symbols = tokens.ids();
        let mut numbers = if symbols <= FEW_SYMBOLS {
            vec![NONE; symbols * symbols]
        } else {
            Vec::new()
        };
        let mut number = |pairs: &mut Pairs, left: u32, right: u32| {
            let place = left as usize * symbols + right as usize;
            match numbers.get_mut(place) {
                Some(&mut number) if number != NONE => number,
                Some(number) => {
                    *number = pairs.number(left, right);
                    *number
                }
                None => pairs.number(left, right),
            }
        };
        // For each pair the number of words and the last one; then where its next word goes.
        let mut sizes: Vec<(usize, u32)> = Vec::new();
        let mut occurrences = large_pages::with_capacity(words.row.len());
        for at in paced(words.starts()) {
            let (symbols, count) = words.word(at);
            let mut ends_a_pair = false;
            for neighbours in symbols.windows(2) {
                let are_equal = disjoint && neighbours[0] == neighbours[1];
                if are_equal && ends_a_pair {
                    ends_a_pair = false;
                    continue;
                }
                ends_a_pair = are_equal;
                let pair = number(pairs, neighbours[0], neighbours[1]);
                pairs.counts[pair as usize] += count;
                if sizes.len() < pairs.ids.len() {
                    sizes.push((0, NONE));
                }
                let (size, last) = &mut sizes[pair as usize];
                if *last != at {
                    *last = at;
                    *size += 1;
                    occurrences.push((pair, at));
                }
            }
        }
        // As merges go on, new pairs need about as much room again.
        self.places = large_pages::with_capacity(2 * occurrences.len());
        for (size, _) in &mut sizes {
            let start = self.places.len();
            self.places.resize(start + *size, 0);
            self.segments.push(Segment {
                pair: self.segments.len() as u32,
                start,
                end: start + *size,
                previous: NONE,
            });
            *size = start;
        }
        for (pair, word) in occurrences {
            let (next, _) = &mut sizes[pair as usize];
            self.places[*next] = word;
            *next += 1;
        }
        for segment in 0..self.segments.len() as u32 {
            self.pairs.latest[segment as usize] = segment;
            self.push(segment, tokens);
        }
    }

    /// The pair of ids of a candidate.
    pub(super) fn pair(&self, candidate: Candidate) -> (u32, u32) {
        self.pairs.ids[self.segments[candidate.segment as usize].pair as usize]
    }

    /// Puts a segment's pair into the queue, as frequent as it is now, if it may be merged.
    fn push(&mut self, segment: u32, tokens: &Tokens) {
        let pair = self.segments[segment as usize].pair;
        let (left, right) = self.pairs.ids[pair as usize];
        if !self.limits.allow(tokens, left, right) {
            return;
        }
        let candidate = Candidate {
            count: self.pairs.count(pair),
            key: self.key_of(pair, tokens),
            segment,
        };
        self.push_candidate(candidate, tokens);
    }

    fn push_candidate(&mut self, candidate: Candidate, tokens: &Tokens) {
        let order = order(self.tie_break, &self.pairs, &self.segments, tokens);
        self.queue.push(candidate, order);
    }

    /// Takes the pair to merge next out of the queue.
    ///
    /// Counts in the queue are out of date until they reach its top, and so are first places;
    /// both only ever get worse, but for a pair that gets another segment, and that is a
    /// candidate of its own.
    pub(super) fn most_frequent(&mut self, tokens: &Tokens) -> Option<Candidate> {
        loop {
            let order = order(self.tie_break, &self.pairs, &self.segments, tokens);
            let mut candidate = self.queue.pop(order)?;
            let pair = self.segments[candidate.segment as usize].pair;
            let recounts = self.tie_break != TieBreak::HuggingFace;
            if recounts && self.pairs.latest[pair as usize] != candidate.segment {
                continue;
            }
            let (count, key) = (self.pairs.count(pair), self.key_of(pair, tokens));
            if (candidate.count, candidate.key) == (count, key) {
                return (count > 0).then_some(candidate);
            }
            (candidate.count, candidate.key) = (count, key);
            self.push_candidate(candidate, tokens);
        }
    }

    /// What decides between equally frequent pairs, where that is a number.
    fn key_of(&mut self, pair: u32, tokens: &Tokens) -> u64 {
        match self.tie_break {
            TieBreak::HuggingFace => {
                let (left, right) = self.pairs.ids[pair as usize];
                key(left, right)
            }
            TieBreak::Lexicographic | TieBreak::Alphabetic | TieBreak::Spelling => 0,
            TieBreak::SentencePiece => {
                let (left, right) = self.pairs.ids[pair as usize];
                tokens.length(left, right) as u64
            }
            TieBreak::First => self.first_place(pair, tokens),
        }
    }

    /// Where a pair occurs first: its word, and how many units lie before it there.
    fn first_place(&mut self, pair: u32, tokens: &Tokens) -> u64 {
        let (left, right) = self.pairs.ids[pair as usize];
        let mut first = u64::MAX;
        let mut next = self.pairs.latest[pair as usize];
        while next != NONE {
            let segment = &mut self.segments[next as usize];
            // Words at the front that have lost the pair are never looked at again.
            while segment.start < segment.end {
                let word = self.places[segment.start];
                let (symbols, _) = self.words.word(word);
                if let Some(at) = symbols.windows(2).position(|pair| pair == [left, right]) {
                    let before = symbols[..at].iter();
                    let units: usize = before.map(|&id| tokens.lengths[id as usize]).sum();
                    first = first.min(u64::from(word) << 32 | units as u64);
                    break;
                }
                segment.start += 1;
            }
            next = segment.previous;
        }
        first
    }

    /// Where no pair is left to merge: those that occurred earlier and may be merged, the shortest first,
    /// then by their text.
    pub(super) fn of_earlier(&self, tokens: &Tokens) -> Vec<(u32, u32)> {
        let may_be_merged = |&&(left, right): &&(u32, u32)| {
            self.limits.allow(tokens, left, right) && !tokens.make_known(left, right, "")
        };
        let mut pairs: Vec<_> = paced(self.pairs.ids.iter())
            .filter(may_be_merged)
            .copied()
            .collect();
        pairs.sort_by_cached_key(|&(left, right)| {
            let text = [left, right].map(|part| tokens.bytes[part as usize].as_slice());
            (tokens.length(left, right), text.concat())
        });
        pairs
    }

    /// The candidate of a pair that another corpus has chosen, if it occurs here; not where counts are
    /// Hugging Face's, which belong to the places of a candidate.
    pub(super) fn candidate_of(&self, (left, right): (u32, u32)) -> Option<Candidate> {
        let pair = *self.pairs.numbers.get(&key(left, right))?;
        let segment = self.pairs.latest[pair as usize];
        let count = self.pairs.count(pair);
        (segment != NONE && count > 0).then_some(Candidate {
            count,
            key: 0,
            segment,
        })
    }

    /// Merges a pair into the token `id`; returns how many occurrences were merged.
    pub(super) fn merge(&mut self, candidate: Candidate, id: u32, tokens: &Tokens) -> u64 {
        let pair = self.pair(candidate);
        let words = self.words_to_visit(candidate);
        let row = self.words.row.as_mut_slice();
        let [changes, more] = &mut self.changes;
        changes.make_room(tokens.ids());
        let disjoint = self.limits.disjoint;
        if words.len() < SHARED_FROM {
            changes.merge(row, 0, &words, (pair, id), disjoint);
        } else {
            more.make_room(tokens.ids());
            let (earlier, later) = words.split_at(words.len() / 2);
            let middle = later[0];
            let (row, rest) = row.split_at_mut(middle as usize);
            rayon::join(
                || changes.merge(row, 0, earlier, (pair, id), disjoint),
                || more.merge(rest, middle, later, (pair, id), disjoint),
            );
            changes.absorb(more);
        }
        let won = self.count_changes(pair, id, tokens);
        if self.tie_break != TieBreak::HuggingFace {
            let pair = self.pairs.number(pair.0, pair.1) as usize;
            self.pairs.counts[pair] = 0;
            self.pairs.latest[pair] = NONE;
        }
        for segment in self.place_words(won) {
            self.push(segment, tokens);
        }
        let merged = std::mem::take(&mut self.changes[0].merged);
        u64::try_from(merged).unwrap_or(0)
    }

    /// The words of a candidate, in order.
    fn words_to_visit(&self, candidate: Candidate) -> Vec<u32> {
        let segment = &self.segments[candidate.segment as usize];
        let mut words = self.places[segment.start..segment.end].to_vec();
        let mut next = segment.previous;
        if self.tie_break != TieBreak::HuggingFace && next != NONE {
            while next != NONE {
                let segment = &self.segments[next as usize];
                words.extend_from_slice(&self.places[segment.start..segment.end]);
                next = segment.previous;
            }
            words.sort_unstable();
            words.dedup();
        }
        words
    }

    /// Brings the counts up to date; returns the pairs with the new symbol.
    fn count_changes(&mut self, (a, b): (u32, u32), id: u32, tokens: &Tokens) -> Vec<Won> {
        let mut won = Vec::new();
        let Self { pairs, changes, .. } = self;
        for (side, is_left) in [(&changes[0].left, true), (&changes[0].right, false)] {
            for (symbol, neighbour) in side.iter() {
                let (old, new) = if is_left {
                    ((symbol, a), (symbol, id))
                } else {
                    ((b, symbol), (id, symbol))
                };
                if neighbour.lost > 0 {
                    let pair = pairs.number(old.0, old.1);
                    pairs.counts[pair as usize] -= neighbour.lost;
                }
                let fits = tokens.length(new.0, new.1) <= self.limits.units;
                if neighbour.won > 0 && fits {
                    let pair = pairs.number(new.0, new.1);
                    pairs.counts[pair as usize] += neighbour.won;
                    won.push(Won {
                        pair,
                        symbol,
                        is_left,
                    });
                }
            }
        }
        won
    }

    /// Makes a segment for each pair with the new symbol, and forgets the neighbours.
    fn place_words(&mut self, won: Vec<Won>) -> std::ops::Range<u32> {
        let first = self.segments.len() as u32;
        let changes = &mut self.changes[0];
        for Won {
            pair,
            symbol,
            is_left,
        } in won
        {
            if self.pairs.count(pair) == 0 {
                // Each of its occurrences is gone again: `aaaa` has no `aa`+`a` in the end.
                continue;
            }
            let side = if is_left {
                &mut changes.left
            } else {
                &mut changes.right
            };
            let start = self.places.len();
            let end = start + side.words_go_to(symbol, start);
            self.places.resize(end, 0);
            let latest = &mut self.pairs.latest[pair as usize];
            self.segments.push(Segment {
                pair,
                start,
                end,
                previous: std::mem::replace(latest, self.segments.len() as u32),
            });
        }
        changes.left.finish(&mut self.places);
        changes.right.finish(&mut self.places);
        first..self.segments.len() as u32
    }
}

/// A pair that a merge has made.
struct Won {
    pair: u32,
    /// The neighbour of the new symbol in it, and on which side.
    symbol: u32,
    is_left: bool,
}

/// The order of the queue.
fn order<'a>(
    tie_break: TieBreak,
    pairs: &'a Pairs,
    segments: &'a [Segment],
    tokens: &'a Tokens,
) -> impl Fn(&Candidate, &Candidate) -> Ordering + 'a {
    let ids = move |candidate: &Candidate| {
        let pair = segments[candidate.segment as usize].pair;
        pairs.ids[pair as usize]
    };
    let strings = move |candidate: &Candidate| {
        let (left, right) = ids(candidate);
        (&tokens.bytes[left as usize], &tokens.bytes[right as usize])
    };
    move |a, b| {
        a.count.cmp(&b.count).then_with(|| match tie_break {
            TieBreak::HuggingFace | TieBreak::First => b.key.cmp(&a.key),
            TieBreak::Lexicographic => strings(a).cmp(&strings(b)),
            TieBreak::Alphabetic => strings(b).cmp(&strings(a)),
            TieBreak::Spelling => {
                let (left, right) = strings(a);
                let (other_left, other_right) = strings(b);
                let spelled = |bytes: &'a [u8]| bytes.iter().map(|&byte| printable::to_char(byte));
                let lefts = spelled(left).cmp(spelled(other_left));
                lefts.then_with(|| spelled(right).cmp(spelled(other_right)))
            }
            TieBreak::SentencePiece => b.key.cmp(&a.key).then_with(|| {
                let ((left, right), (other_left, other_right)) = (strings(a), strings(b));
                let other = other_left.iter().chain(other_right);
                let joined = other.cmp(left.iter().chain(right));
                joined.then_with(|| ids(b).cmp(&ids(a)))
            }),
        })
    }
}
