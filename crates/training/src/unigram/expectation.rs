//! Expectation and maximization: how often each piece is used if every way to split the fragments counts
//! by its probability, and the resulting probabilities.
//!
//! From the back, each place gets the probability of everything after it: the sum over the pieces
//! there of the piece times what follows the piece. From the front, the uses of a place are then
//! shared among the pieces there in these proportions. The probabilities of long fragments are too
//! small for floating point, so each comes with an exponent of its own.
//!
//! Uses are summed up as fixed-point numbers: then the order of the sum does not matter, and the
//! result does not depend on the threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::matches::{MatchedPiece, Matches, NONE};
use jeton_text::interrupt::{Listener, poll};

/// How often each piece is expected to be used.
pub(super) fn expected_counts(matches: &Matches) -> Vec<f64> {
    let steps = matches.steps(f64::exp);
    // The uses of all pieces together are no more than the symbols.
    let places = matches.total().max(1).ilog2() + 1;
    let scale = 2_f64.powi(62 - places as i32);
    let sums = sum_by_thread(matches, |part, sums| {
        let mut following = Following::default();
        for (longest, weight) in matches.units_of(part) {
            following.share(longest, &steps, weight as f64 * scale, sums);
        }
    });
    sums.into_iter().map(|sum| sum as f64 / scale).collect()
}

/// Has each part of the fragments added to the sums of one thread, and adds these up.
pub(super) fn sum_by_thread(
    matches: &Matches,
    add: impl Fn(super::matches::FragmentRange, &mut [u64]) + Sync,
) -> Vec<u64> {
    let threads = rayon::current_num_threads().max(1);
    let sums: Vec<Mutex<Vec<u64>>> = (0..threads).map(|_| Mutex::default()).collect();
    let add = |part| {
        let thread = rayon::current_thread_index().unwrap_or(0) % threads;
        let mut sums = sums[thread].lock().unwrap_or_else(PoisonError::into_inner);
        sums.resize(matches.len(), 0);
        poll();
        add(part, &mut sums);
    };
    Listener::lend(|listener| {
        let parts = matches.parts().into_par_iter();
        parts.for_each(|part| listener.during(|| add(part)));
    });
    let mut total = vec![0; matches.len()];
    for sums in sums {
        let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (total, sum) in total.iter_mut().zip(sums) {
            *total += sum;
        }
    }
    total
}

/// The probability of what follows each place of a fragment.
#[derive(Default)]
struct Following {
    places: Vec<Scaled>,
    /// How often each place is used as the beginning of a piece.
    uses: Vec<f64>,
}

/// The number `value · 2^(256 · exponent)`.
#[derive(Clone, Copy)]
struct Scaled {
    value: f64,
    exponent: i32,
}

/// Values are kept above 2^-256. The least probability of a piece is far above that, too.
const LEAST: f64 = f64::from_bits((1023 - 256) << 52);
const LARGE: f64 = f64::from_bits((1023 + 256) << 52);

impl Scaled {
    /// Its value as one with another exponent. Where it is not a number of the usual size then, it
    /// does not count beside numbers that are.
    fn at(self, exponent: i32) -> f64 {
        match self.exponent - exponent {
            0 => self.value,
            1 => self.value * LARGE,
            -1 => self.value * LEAST,
            apart if apart < 0 => 0.0,
            _ => f64::MAX,
        }
    }
}

impl Following {
    /// Shares `uses` of a fragment among the pieces it may be split into.
    fn share(&mut self, longest: &[u32], steps: &[MatchedPiece], uses: f64, sums: &mut [u64]) {
        let length = longest.len();
        let end = Scaled {
            value: 1.0,
            exponent: 0,
        };
        self.places.clear();
        self.places.resize(length + 1, end);
        for start in (0..length).rev() {
            let mut exponent = self.places[start + 1].exponent;
            let mut sum = 0.0;
            let mut piece = longest[start];
            while piece != NONE {
                let step = steps[piece as usize];
                let after = self.places[start + step.length as usize];
                if after.exponent > exponent {
                    sum *= Scaled {
                        value: 1.0,
                        exponent,
                    }
                    .at(after.exponent);
                    exponent = after.exponent;
                }
                sum += step.weight * after.at(exponent);
                piece = step.next;
            }
            if sum < LEAST {
                sum *= LARGE;
                exponent -= 1;
            }
            self.places[start] = Scaled {
                value: sum,
                exponent,
            };
        }

        self.uses.clear();
        self.uses.resize(length + 1, 0.0);
        self.uses[0] = uses;
        for (start, &longest) in longest.iter().enumerate() {
            let here = self.places[start];
            let share = self.uses[start] / here.value;
            let mut piece = longest;
            while piece != NONE {
                let step = steps[piece as usize];
                let end = start + step.length as usize;
                let uses = share * step.weight * self.places[end].at(here.exponent);
                self.uses[end] += uses;
                sums[piece as usize] += uses as u64;
                piece = step.next;
            }
        }
    }
}

/// Expected uses below which a piece is dropped.
const MIN_USED: f64 = 0.5;

/// Sets the probabilities to what the expected counts ask for, and drops pieces that are hardly
/// used, but no single characters; of longer ones, `least` stay, those expected most often.
///
/// The logarithm of a count is its digamma, which makes rare pieces rarer: a sparse prior.
pub(super) fn maximize(matches: &mut Matches, expected: &[f64], least: usize) {
    let mut stays: Vec<bool> = (expected.iter().enumerate())
        .map(|(piece, &count)| count >= MIN_USED || matches.length(piece) == 1)
        .collect();
    matches.fill_up(&mut stays, least, expected);
    let counts: Vec<Option<f64>> = (expected.iter().zip(&stays))
        .map(|(count, stays)| stays.then_some(count.max(MIN_USED)))
        .collect();
    let sum: f64 = counts.iter().flatten().sum();
    let sum = digamma(sum);
    let scores: Vec<Option<f64>> = counts
        .par_iter()
        .map(|count| count.map(|count| digamma(count) - sum))
        .collect();
    matches.keep(&scores);
}

/// The derivative of the logarithm of the gamma function, for positive numbers: by its recurrence
/// up to 7, then by its asymptotic series.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
    ];
    let tail = series
        .iter()
        .rev()
        .fold(0.0, |sum, term| inverse * (term + sum));
    result + x.ln() - 0.5 / x - tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_is_known_at_these() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let half = -EULER - 2.0 * std::f64::consts::LN_2;
        for (x, expected) in [
            (0.5, half),
            (1.0, -EULER),
            (2.0, 1.0 - EULER),
            (100.0, 4.600161852738087),
        ] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}: {}", digamma(x));
        }
    }
}
