//! The parts of one large text, encoded by several threads, where the tokens of some chunks depend on
//! the sum of scores through all the text before.
//!
//! Look here for what a thread makes of a part without that sum, a [`Guess`], and for how the parts
//! are settled one after another, which is little work: nearly all tokens are the same up to some sum.

use super::sums::{Front, MOST_WAITING, Scores, Stretch, Summing};
use super::viterbi::Viterbi;
use super::{Call, SentencePiece, Solving, Workspace};
use crate::fast::Place;
use crate::fast::cache::lookup;
use crate::fast::sentencepiece::sequential::InOrder;
use crate::fast::sink::Sink;
use crate::model;
use crate::normalizer::SentencePieceNormalizer;
use crate::split::delimiters::Chunks;

/// The tokens of a part, as far as they are known without the sum of scores before it.
#[derive(Debug, Default)]
pub struct Guess {
    /// The tokens of all stretches; unknown characters are one by one.
    pub ids: Vec<u32>,
    /// Which of them are those of the text.
    pub stretches: Vec<Stretch>,
}

/// A model whose parts of a text are guessed, each by itself, and then settled one after another.
pub struct Settling<'m> {
    compiled: &'m SentencePiece,
    scores: &'m Scores,
    model: &'m model::SentencePiece,
    normalizer: &'m SentencePieceNormalizer,
}

impl SentencePiece {
    /// The model, if the tokens of a part may depend on the parts before it.
    pub fn settling<'m>(
        &'m self,
        model: &'m model::SentencePiece,
        normalizer: &'m SentencePieceNormalizer,
    ) -> Option<Settling<'m>> {
        let Solving::Unigram(scores) = &self.solving else {
            return None;
        };
        Some(Settling {
            compiled: self,
            scores,
            model,
            normalizer,
        })
    }
}

impl Settling<'_> {
    /// The tokens of a part of a text, as far as they are known without the parts before it.
    pub fn guess(&self, text: &str, place: Place) -> Guess {
        let mut guess = Guess {
            ids: Vec::with_capacity(text.len() / 2),
            stretches: Vec::with_capacity(text.len() / 64),
        };
        self.with(|call, chunks, room| {
            let sink = Summing::new(self.scores, None, room, &mut guess.ids);
            let sink = sink.without_sum(&mut guess.stretches);
            InOrder::new(call, sink).run(chunks, text, place);
        });
        guess
    }

    /// Gives the tokens of a part to `sink`, of which this was guessed and which stands behind parts
    /// that leave off with `front`; says with what it leaves off itself.
    pub fn settle(
        &self,
        text: &str,
        place: Place,
        guess: &Guess,
        front: Front,
        sink: &mut impl Sink,
    ) -> Front {
        self.with(|call, chunks, room| {
            let sink = Summing::new(self.scores, self.model.unk_id(), room, sink);
            let in_order = InOrder::new(call, sink.behind_text(front));
            in_order.settle(chunks, text, place, guess)
        })
    }

    /// Does `work` with a workspace that is free.
    fn with<R>(
        &self,
        work: impl for<'w> FnOnce(
            Call<'w, Viterbi<'w>>,
            &'w mut Chunks,
            &'w mut [u32; MOST_WAITING],
        ) -> R,
    ) -> R {
        let mut workspace = self.compiled.pool.take();
        let Workspace {
            lookup,
            waiting,
            unclear,
            long,
            ..
        } = &mut *workspace;
        let lookup::Workspace { chunks, words, .. } = lookup;
        let viterbi = Viterbi::new(self.model, self.scores, unclear);
        let call = (self.compiled).call(self.model, self.normalizer, words, long);
        work(call.with(viterbi), chunks, waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast::Compiled;
    use crate::format::sentencepiece::stages;
    use crate::model::sentencepiece::spec::{
        Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
    };
    use crate::stages::Stages;
    use crate::tokenizer::{EncodeOptions, Tokenizer};

    fn scores() -> Stages {
        let pieces = [("▁", -1.0), ("a", -1.0), ("b", -1.0), ("ab", -2.0)];
        let pieces = pieces.map(|(text, score)| Piece::new(text, score, PieceKind::Normal));
        let unknown = Piece::new("<unk>", 0.0, PieceKind::Unknown);
        let pieces: Vec<_> = [unknown].into_iter().chain(pieces).collect();
        let trainer = TrainerSpec {
            algorithm: Algorithm::Unigram,
            ..TrainerSpec::default()
        };
        stages(ModelProto::new(pieces, trainer, NormalizerSpec::default())).unwrap()
    }

    #[test]
    fn worked_example() {
        let stages = scores();
        let compiled = Compiled::new(&stages).0.unwrap();
        let settling = compiled.settling(&stages).unwrap();

        let guess = settling.guess("a ab b", Place::First);
        assert_eq!(guess.ids, [1, 2, 1, 3]);
        let stretches = guess.stretches.iter();
        let stretches: Vec<_> = stretches
            .map(|it| (it.end, it.tokens, it.settled))
            .collect();
        // Up to the end of `a` nothing is left out, and nothing between there and `ab`.
        let expected = [(1, 2, true), (1, 2, true), (4, 2, false), (6, 4, true)];
        assert_eq!(stretches, expected);

        let mut ids = Vec::new();
        settling.settle("a ab b", Place::First, &guess, Front::default(), &mut ids);
        assert_eq!(ids, [1, 2, 1, 4, 1, 3]);
    }

    #[test]
    fn a_text_that_depends_on_the_sum_everywhere_is_not_guessed_for_long() {
        let stages = scores();
        let text = "ab b ".repeat(20_000);
        let compiled = Compiled::new(&stages).0.unwrap();
        let settling = compiled.settling(&stages).unwrap();
        let guess = settling.guess(&text, Place::First);
        assert!(guess.ids.len() < text.len() / 4);
        let last = guess.stretches.last().unwrap();
        assert!(!last.settled && last.end == text.len() - 1);
        let mut ids = Vec::new();
        settling.settle(&text, Place::First, &guess, Front::default(), &mut ids);
        let tokenizer = Tokenizer::new(stages).unwrap();
        assert_eq!(
            ids,
            tokenizer
                .encode_ids(&text, &EncodeOptions::default())
                .unwrap()
        );
    }
}
