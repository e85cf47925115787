//! Segmentations drawn at random with their probabilities, and the entropy of all of them.
//!
//! By definition: the probability of a segmentation is the product of its pieces' probabilities, to the
//! power of `alpha`, normalized over all segmentations of the text. Look here for samples
//! with and without replacement, and for the entropy.
//!
//! Sources: Kudo, "Subword Regularization", 2018; Kool, van Hoof and Welling, "Stochastic Beams and Where to
//! Find Them", 2019, whose perturbed search draws without replacement; SentencePiece, for the calls and scores.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::lattice::{Lattice, Node};
use super::{Segment, SentencePiece};
use crate::model::Sampler;
use jeton_text::error::Result;
use jeton_text::interrupt::{filled, tick};

/// Beginnings of samples that may wait; when there are more, those that are hardly drawn are forgotten,
/// as in SentencePiece. So many are kept for each sample, and this many at most.
const MAX_WAITING: usize = 10_000;
const KEPT_FOR_EACH: usize = 10;
const MAX_KEPT: usize = 512;

/// A segmentation and its score.
pub(crate) type Scored = (Vec<Segment>, f64);

/// A lattice with the logarithm of the sum of all paths from the front to each byte.
struct Weighted {
    lattice: Lattice,
    alpha: f64,
    sums: Vec<f64>,
}

impl Weighted {
    fn new(model: &SentencePiece, text: &str, alpha: f64) -> Self {
        let mut this = Self {
            lattice: Lattice::new(model, text),
            alpha,
            sums: filled(f64::NEG_INFINITY, text.len() + 1),
        };
        this.sums[0] = 0.0;
        for end in 1..=text.len() {
            this.sums[end] = log_sum(&this.weights(end));
        }
        this
    }

    /// The nodes that end at a byte.
    fn ending_at(&self, end: usize) -> &[usize] {
        &self.lattice.ending_at[end]
    }

    /// The weights of these nodes, each with all that may come before it, as logarithms.
    fn weights(&self, end: usize) -> Vec<f64> {
        tick();
        let weight = |node: &usize| {
            let Node { start, score, .. } = self.lattice.nodes[*node];
            self.sums[start] + self.alpha * f64::from(score)
        };
        self.ending_at(end).iter().map(weight).collect()
    }

    fn segment(&self, node: usize) -> Segment {
        self.lattice.segment(node)
    }

    fn start(&self, node: usize) -> usize {
        self.lattice.nodes[node].start
    }

    /// The logarithms of the probabilities of the nodes that end at a byte, if the rest of the path
    /// after it is known.
    fn transitions(&self, end: usize) -> impl Iterator<Item = (usize, f64)> {
        let weights = self.weights(end).into_iter();
        let logs = weights.map(move |weight| weight - self.sums[end]);
        self.ending_at(end).iter().copied().zip(logs)
    }
}

/// The end of a path, with what it was drawn by.
struct Beginning {
    /// Where its first piece begins.
    start: usize,
    /// Its pieces, by number, the first one first; each with the next.
    first: Option<usize>,
    /// The logarithm of the probability that a path ends with it.
    log: f64,
    /// That, with the noise that decides which paths are drawn.
    noisy: f64,
}

impl SentencePiece {
    /// A segmentation drawn at random. Its probability is that of the model to the power of
    /// `alpha`, made to sum to one over all segmentations, or over the best of them.
    pub(super) fn sample_path(
        &self,
        text: &str,
        alpha: f32,
        sampler: &mut Sampler,
    ) -> Vec<Segment> {
        match sampler.nbest_size() {
            None => self.sample_lattice(text, f64::from(alpha), sampler),
            Some(0 | 1) => self.best_path(text),
            Some(size) => {
                let mut paths = self.best_paths(text, size);
                let logs: Vec<f64> = paths
                    .iter()
                    .map(|(_, score)| f64::from(alpha) * f64::from(*score))
                    .collect();
                let chosen = choose(&logs, sampler);
                paths.swap_remove(chosen).0
            }
        }
    }

    fn sample_lattice(&self, text: &str, alpha: f64, sampler: &mut Sampler) -> Vec<Segment> {
        let lattice = Weighted::new(self, text, alpha);
        let mut path = Vec::new();
        let mut end = text.len();
        while end > 0 {
            let node = lattice.ending_at(end)[choose(&lattice.weights(end), sampler)];
            path.push(lattice.segment(node));
            end = lattice.start(node);
        }
        path.reverse();
        path
    }

    /// This many segmentations, drawn independently, with the logarithms of their probabilities.
    pub fn sample_with_scores(
        &self,
        text: &str,
        alpha: f64,
        samples: usize,
        sampler: &mut Sampler,
    ) -> Vec<Scored> {
        let lattice = Weighted::new(self, text, alpha);
        let one = |_| {
            let (mut path, mut score) = (Vec::new(), 0.0);
            let mut end = text.len();
            while end > 0 {
                let weights = lattice.weights(end);
                let chosen = choose(&weights, sampler);
                let node = lattice.ending_at(end)[chosen];
                score += weights[chosen] - lattice.sums[end];
                path.push(lattice.segment(node));
                end = lattice.start(node);
            }
            path.reverse();
            (path, score)
        };
        (0..samples).map(one).collect()
    }

    /// So many different segmentations, the likeliest to be drawn first, each with the logarithm of the
    /// probability that it is among them; with the best one at their head, if it shall be there in any
    /// case.
    ///
    /// The probability is an estimate that takes one more segmentation than asked for: where there are
    /// not this many, the last one drawn is that one and left out, as in SentencePiece. Of a text with a
    /// single segmentation, that one is given.
    pub fn sample_without_replacement(
        &self,
        text: &str,
        alpha: f64,
        samples: usize,
        with_best: bool,
        sampler: &mut Sampler,
    ) -> Vec<Scored> {
        let lattice = Weighted::new(self, text, alpha);
        let mut drawn = lattice.draw(text.len(), samples.saturating_add(1), sampler);
        let mut given = Vec::new();
        if with_best {
            let (best, _) = self.best_paths(text, 2).swap_remove(0);
            match drawn.iter().position(|(path, ..)| *path == best) {
                Some(at) => drop(drawn.remove(at)),
                None => drop(drawn.pop()),
            }
            given.push((best, 0.0));
        }
        let Some((path, _, threshold)) = drawn.pop() else {
            return given;
        };
        if drawn.is_empty() && given.is_empty() {
            given.push((path, 0.0));
        }
        given.extend(
            (drawn.into_iter()).map(|(path, log, _)| (path, log_inclusion(log - threshold))),
        );
        given
    }

    /// How uncertain the segmentation is: the entropy of all segmentations, in nats.
    ///
    /// # Errors
    /// A model that is not Unigram.
    pub fn entropy(&self, text: &str, alpha: f64) -> Result<f64> {
        self.check_knows_all()?;
        let lattice = Weighted::new(self, text, alpha);
        let mut entropies = filled(0.0, text.len() + 1);
        for end in 1..=text.len() {
            let parts = lattice.transitions(end).map(|(node, log)| {
                let before: f64 = entropies[lattice.start(node)];
                log.exp() * (before - log)
            });
            entropies[end] = parts.sum();
        }
        Ok(entropies[text.len()])
    }
}

impl Weighted {
    /// So many different paths, or all there are: with each the logarithm of its probability, and that
    /// with noise, by which they are ordered.
    fn draw(
        &self,
        end: usize,
        count: usize,
        sampler: &mut Sampler,
    ) -> Vec<(Vec<Segment>, f64, f64)> {
        let mut waiting = BinaryHeap::from([Beginning {
            start: end,
            first: None,
            log: 0.0,
            noisy: noise(sampler),
        }]);
        // Pieces, each with the one after it.
        let mut pieces: Vec<(usize, Option<usize>)> = Vec::new();
        let mut drawn = Vec::new();
        while let Some(top) = waiting.pop() {
            tick();
            if top.start == 0 {
                let mut path = Vec::new();
                let mut next = top.first;
                while let Some((node, behind)) = next.map(|at| pieces[at]) {
                    path.push(self.segment(node));
                    next = behind;
                }
                drawn.push((path, top.log, top.noisy));
                if drawn.len() == count {
                    break;
                }
                continue;
            }
            let options: Vec<(usize, f64, f64)> = self
                .transitions(top.start)
                .map(|(node, log)| (node, top.log + log, top.log + log + noise(sampler)))
                .collect();
            let greatest = options.iter().map(|option| option.2);
            let greatest = greatest.fold(f64::NEG_INFINITY, f64::max);
            for (node, log, noisy) in options {
                pieces.push((node, top.first));
                waiting.push(Beginning {
                    start: self.start(node),
                    first: Some(pieces.len() - 1),
                    log,
                    noisy: truncated(noisy, greatest, top.noisy),
                });
            }
            if waiting.len() >= MAX_WAITING {
                let kept = MAX_KEPT.min(count.saturating_mul(KEPT_FOR_EACH));
                let mut best: Vec<Beginning> = Vec::with_capacity(kept);
                best.extend(std::iter::from_fn(|| waiting.pop()).take(kept));
                waiting = best.into();
            }
        }
        drawn
    }
}

/// The noise of a maximum of many: it follows Gumbel's distribution.
fn noise(sampler: &mut Sampler) -> f64 {
    // Draws are multiples of 2⁻²⁴, and half of that more is neither zero nor one.
    let uniform = f64::from(sampler.draw()) + f64::from(f32::EPSILON) / 4.0;
    -(-uniform.ln()).ln()
}

/// What noisy values, of which `greatest` is the greatest, become if the greatest shall be `limit`.
fn truncated(noisy: f64, greatest: f64, limit: f64) -> f64 {
    let v = limit - noisy + (-(noisy - greatest).exp()).ln_1p();
    limit - v.max(0.0) - (-v.abs()).exp().ln_1p()
}

/// The logarithm of the probability that a value exceeds the threshold that it is so far above, before
/// noise.
fn log_inclusion(above: f64) -> f64 {
    let rate = above.exp();
    if above < -20.0 {
        // The first terms of the series, where the rest is beyond rounding.
        above - rate / 2.0
    } else {
        (-(-rate).exp_m1()).ln()
    }
}

impl Ord for Beginning {
    fn cmp(&self, other: &Self) -> Ordering {
        self.noisy.total_cmp(&other.noisy)
    }
}

impl PartialOrd for Beginning {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Beginning {}

impl PartialEq for Beginning {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

/// One of the weights, which are logarithms, with a probability in proportion.
fn choose(logs: &[f64], sampler: &mut Sampler) -> usize {
    let total = log_sum(logs);
    let mut left = f64::from(sampler.draw());
    for (at, log) in logs.iter().enumerate() {
        left -= (log - total).exp();
        if left < 0.0 {
            return at;
        }
    }
    logs.len() - 1
}

/// The logarithm of a sum, of logarithms.
fn log_sum(logs: &[f64]) -> f64 {
    let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - greatest).exp()).sum();
    greatest + sum.ln()
}
