//! The results of SentencePiece's own interface for a text: its pieces, the place of each, and its surface.
//!
//! Look here if ids and spans are not enough: for the text of an unknown piece, for segmentations
//! with their scores, and for the text of each decoded piece. Places are SentencePiece's: everything
//! that a character becomes begins where the character does, and only its last part has an end.

use jeton_models::model::sentencepiece::Segment;
use jeton_models::model::sentencepiece::spec::{Algorithm, PieceKind, Pieces};
use jeton_models::model::{Model, Sampler, SentencePiece, byte_token};
use jeton_models::stages::Stages;
use jeton_stages::decoder::{Decoder, Invalid, SentencePieceDecoder};
use jeton_stages::normalizer::{Normalizer, SentencePieceNormalizer};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::Span;

/// The parts of a tokenizer that come from a SentencePiece model.
#[derive(Clone, Copy)]
pub struct Reader<'t> {
    model: &'t SentencePiece,
    normalizer: &'t SentencePieceNormalizer,
    decoder: &'t SentencePieceDecoder,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPiece {
    /// Its id.
    pub id: u32,
    /// Its text as normalized, which of an unknown piece is not its spelling.
    pub text: String,
    /// Where it comes from, in bytes of the text.
    pub span: Span,
    /// Whether the text at its span is its surface: of the bytes of a character, only the last has one.
    pub has_surface: bool,
}

/// The pieces of a text, and a score.
pub type ReadPath = (Vec<ReadPiece>, f32);

/// A piece to decode.
pub enum IdOrPiece<'a> {
    /// Its id.
    Id(u32),
    /// Its text. It need not be a piece of the model.
    Text(&'a str),
}

/// The options of samples with scores.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// How many.
    pub count: usize,
    /// How much likelier segmentations are preferred: 0 not at all, 1 as the model says.
    pub alpha: f32,
    /// Each segmentation is drawn once at most; scores are the logarithms of the probabilities that it
    /// is among the samples, and no longer those of its own.
    pub without_replacement: bool,
    /// The best segmentation is there in any case; without replacement alone.
    pub include_best: bool,
}

impl<'t> Reader<'t> {
    /// The parts of these stages.
    ///
    /// # Errors
    /// Stages that are no SentencePiece model, or more than that.
    pub fn new(stages: &'t Stages) -> Result<Self> {
        match (&stages.model, &stages.normalizer, &stages.decoder) {
            (
                Model::SentencePiece(model),
                Some(Normalizer::SentencePiece(normalizer)),
                Some(Decoder::SentencePiece(decoder)),
            ) if stages.pre_tokenizer.is_none() && stages.post_processor.is_none() => Ok(Self {
                model,
                normalizer,
                decoder,
            }),
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                "only a tokenizer as a SentencePiece .model file holds it has SentencePiece's interface",
            )),
        }
    }

    /// By which algorithm it encodes.
    pub fn algorithm(&self) -> Algorithm {
        self.model.proto().trainer().algorithm
    }

    /// The pieces of the model.
    pub fn pieces(&self) -> &'t Pieces {
        &self.model.proto().pieces
    }

    /// The id of the unknown piece.
    pub fn unk_id(&self) -> Option<u32> {
        self.model.unk_id()
    }

    /// The id of the piece of this spelling.
    pub fn id(&self, piece: &str) -> Option<u32> {
        self.model.vocab().id(piece.as_bytes())
    }

    /// The ids of the pieces at the beginning and at the end of a text, and of that which fills rows.
    pub fn marks(&self) -> [Option<u32>; 3] {
        let trainer = self.model.proto().trainer();
        [&trainer.bos_piece, &trainer.eos_piece, &trainer.pad_piece].map(|piece| {
            let id = self.id(piece)?;
            (self.model.kind(id) == PieceKind::Control).then_some(id)
        })
    }

    /// A text as normalized, and where each byte of it comes from, and where it ends.
    pub fn normalize(&self, text: &str) -> (String, Vec<usize>) {
        self.normalizer.normalize_with_origins(text)
    }

    /// The pieces of a text.
    ///
    /// # Errors
    /// A model that cannot be drawn from, if the sampler draws.
    pub fn encode(&self, text: &str, sampler: &mut Sampler) -> Result<Vec<ReadPiece>> {
        let (normalized, origins) = self.normalize(text);
        let segments = self.model.segments(&normalized, sampler, &mut ())?;
        Ok(self.read(&normalized, &origins, segments))
    }

    /// The `size` best segmentations, best first, with the sums of their scores; but, as in
    /// SentencePiece, the score of a single one is 0.
    ///
    /// # Errors
    /// A model that is not Unigram.
    pub fn n_best(&self, text: &str, size: usize) -> Result<Vec<ReadPath>> {
        self.model.check_knows_all()?;
        let (normalized, origins) = self.normalize(text);
        let paths = self.model.best_paths(&normalized, size).into_iter();
        let read = |(path, score)| {
            let score = if size > 1 { score } else { 0.0 };
            (self.read(&normalized, &origins, path), score)
        };
        Ok(paths.map(read).collect())
    }

    /// Segmentations drawn at random, with the logarithms of their probabilities.
    ///
    /// # Errors
    /// A model that is not Unigram.
    pub fn sample(
        &self,
        text: &str,
        samples: Samples,
        sampler: &mut Sampler,
    ) -> Result<Vec<ReadPath>> {
        self.model.check_knows_all()?;
        let (normalized, origins) = self.normalize(text);
        let Samples {
            count,
            alpha,
            without_replacement,
            include_best,
        } = samples;
        let alpha = f64::from(alpha);
        let model = self.model;
        let paths = if without_replacement {
            model.sample_without_replacement(&normalized, alpha, count, include_best, sampler)
        } else {
            model.sample_with_scores(&normalized, alpha, count, sampler)
        };
        let read = |(path, score)| (self.read(&normalized, &origins, path), score as f32);
        Ok(paths.into_iter().map(read).collect())
    }

    /// How uncertain the segmentation of a text is: the entropy of all segmentations, in nats.
    ///
    /// # Errors
    /// A model that is not Unigram.
    pub fn entropy(&self, text: &str, alpha: f32) -> Result<f32> {
        let (normalized, _) = self.normalize(text);
        Ok(self.model.entropy(&normalized, f64::from(alpha))? as f32)
    }

    /// The pieces of segments: unknown ones become bytes, or else neighbours become one piece.
    fn read(&self, text: &str, origins: &[usize], segments: Vec<Segment>) -> Vec<ReadPiece> {
        let mut pieces: Vec<ReadPiece> = Vec::with_capacity(segments.len());
        let mut after_unknown = false;
        for (range, id) in segments {
            let span = Span::new(origins[range.start], origins[range.end]);
            let segment = &text[range];
            match (id, self.model.byte_ids(), self.model.unk_id()) {
                (None, Some(ids), _) => {
                    for (at, &byte) in segment.as_bytes().iter().enumerate() {
                        let is_last = at + 1 == segment.len();
                        let end = if is_last { span.end } else { span.start };
                        pieces.push(ReadPiece {
                            id: ids[usize::from(byte)],
                            text: byte_token(byte).map(char::from).iter().collect(),
                            span: Span::new(span.start, end),
                            has_surface: is_last,
                        });
                    }
                }
                (id, _, unk_id) => match (id, pieces.last_mut()) {
                    (None, Some(last)) if after_unknown => {
                        last.text.push_str(segment);
                        last.span.end = span.end;
                    }
                    _ => pieces.push(ReadPiece {
                        id: id.or(unk_id).expect("checked when the model was made"),
                        text: segment.to_owned(),
                        span,
                        has_surface: true,
                    }),
                },
            }
            after_unknown = id.is_none();
        }
        pieces
    }

    /// What each piece becomes as a part of the decoded text, and the text, which the model may
    /// normalize at last. A piece that the model does not know is decoded to itself.
    ///
    /// # Errors
    /// An id that is no piece's.
    pub fn decode(&self, given: &[IdOrPiece<'_>]) -> Result<(Vec<DecodedPiece>, String)> {
        let unk_id = self.unk_id();
        let mut tokens = Vec::with_capacity(given.len());
        let mut pieces = Vec::with_capacity(given.len());
        for (at, given) in given.iter().enumerate() {
            let (id, text) = match *given {
                IdOrPiece::Id(id) => match self.pieces().get(id) {
                    Some(piece) => (Some(id), piece.text),
                    None => {
                        let message =
                            format!("id {id} has no piece; there are {}", self.pieces().len());
                        return Err(Error::new(ErrorKind::Lookup, message).at(format!("ids[{at}]")));
                    }
                },
                IdOrPiece::Text(text) => (self.id(text).or(unk_id), text),
            };
            let is_unknown = id.is_none_or(|id| {
                let spelled = self.pieces().get(id).map(|piece| piece.text);
                self.model.kind(id) == PieceKind::Unknown && spelled != Some(text)
            });
            let is_control =
                |id| self.pieces().get(id).map(|it| it.kind) == Some(PieceKind::Control);
            let token = match *given {
                _ if !is_unknown && id.is_some_and(is_control) => b"",
                IdOrPiece::Id(id) => self.model.to_decoder(id).unwrap_or(text.as_bytes()),
                IdOrPiece::Text(_) => text.as_bytes(),
            };
            tokens.push((token.to_vec(), is_unknown));
            pieces.push((id, text.to_owned()));
        }
        let surfaces = self.decoder.surfaces(tokens, Invalid::Replace)?;
        let lossy = |surface: Vec<u8>| String::from_utf8_lossy(&surface).into_owned();
        let pieces: Vec<DecodedPiece> = pieces
            .into_iter()
            .zip(surfaces)
            .map(|((id, text), surface)| DecodedPiece {
                id,
                text,
                surface: lossy(surface),
            })
            .collect();
        let text: String = pieces.iter().map(|piece| piece.surface.as_str()).collect();
        let text = match &self.decoder.denormalizer {
            Some(denormalizer) => denormalizer.normalize_str(&text),
            None => text,
        };
        Ok((pieces, text))
    }
}

/// A piece of a decoded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedPiece {
    /// Its id; none for an unknown piece of a model that has no piece for it.
    pub id: Option<u32>,
    /// Its text.
    pub text: String,
    /// What it became.
    pub surface: String,
}

#[cfg(test)]
mod tests {
    use super::super::stages;
    use super::*;
    use jeton_models::model::Sampling;
    use jeton_models::model::sentencepiece::spec::{
        ModelProto, NormalizerSpec, Piece, TrainerSpec,
    };
    use std::collections::{BTreeMap, HashMap};

    fn reader(stages: &Stages) -> Reader<'_> {
        Reader::new(stages).unwrap()
    }

    fn unigram() -> Stages {
        let scores = [
            ("▁", -2.0),
            ("a", -1.5),
            ("b", -2.5),
            ("ab", -3.0),
            ("▁a", -2.2),
            ("ba", -4.0),
        ];
        let normal = scores.map(|(text, score)| Piece::new(text, score, PieceKind::Normal));
        let mut pieces = vec![Piece::new("<unk>", 0.0, PieceKind::Unknown)];
        pieces.extend(normal);
        let proto = ModelProto::new(pieces, TrainerSpec::default(), NormalizerSpec::default());
        stages(proto).unwrap()
    }

    fn sampler(seed: u64) -> Sampler {
        Sampler::new(Sampling {
            seed: Some(seed),
            ..Sampling::default()
        })
    }

    /// All segmentations of a text by their pieces, with the logarithms of their probabilities.
    fn all(reader: &Reader<'_>, text: &str, alpha: f64) -> BTreeMap<String, f64> {
        let paths = reader.n_best(text, 512).unwrap();
        let logs = paths
            .into_iter()
            .map(|(path, score)| (name(&path), alpha * f64::from(score)));
        let logs: BTreeMap<String, f64> = logs.collect();
        let sum: f64 = logs.values().map(|log| log.exp()).sum();
        logs.into_iter()
            .map(|(path, log)| (path, log - sum.ln()))
            .collect()
    }

    fn name(path: &[ReadPiece]) -> String {
        path.iter()
            .map(|piece| piece.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn entropy_is_that_of_all_segmentations() {
        let stages = unigram();
        let reader = reader(&stages);
        for text in ["ab", "abab", "aabbab", "axb"] {
            for alpha in [0.0, 0.3, 1.0, 2.5] {
                let logs = all(&reader, text, alpha);
                let expected: f64 = logs.values().map(|log| -log.exp() * log).sum();
                let entropy = f64::from(reader.entropy(text, alpha as f32).unwrap());
                assert!(
                    (entropy - expected).abs() < 1e-5,
                    "{text} {alpha}: {entropy} {expected}"
                );
            }
        }
        assert_eq!(reader.entropy("", 1.0).unwrap(), 0.0);
    }

    #[test]
    fn samples_have_the_probabilities_that_they_are_drawn_with() {
        let stages = unigram();
        let reader = reader(&stages);
        let (text, alpha, count) = ("abab", 0.5, 20_000);
        let logs = all(&reader, text, alpha);
        let samples = Samples {
            count,
            alpha: alpha as f32,
            without_replacement: false,
            include_best: false,
        };
        let mut drawn: HashMap<String, usize> = HashMap::new();
        for (path, score) in reader.sample(text, samples, &mut sampler(1)).unwrap() {
            let path = name(&path);
            assert!((f64::from(score) - logs[&path]).abs() < 1e-5);
            *drawn.entry(path).or_default() += 1;
        }
        for (path, log) in logs {
            let expected = log.exp() * count as f64;
            let got = drawn.get(&path).copied().unwrap_or(0) as f64;
            assert!(
                (got - expected).abs() < 5.0 * expected.sqrt() + 1.0,
                "{path}"
            );
        }
    }

    #[test]
    fn samples_without_replacement_estimate_without_bias() {
        let stages = unigram();
        let reader = reader(&stages);
        let (text, alpha, rounds) = ("abab", 0.5, 4_000);
        let logs = all(&reader, text, alpha);
        for include_best in [false, true] {
            let samples = Samples {
                count: 3,
                alpha: alpha as f32,
                without_replacement: true,
                include_best,
            };
            // Of each segmentation, how often it is expected to be drawn for each time that it is:
            // each time counts as one over the probability of being among the samples.
            let mut weights: HashMap<String, f64> = HashMap::new();
            for round in 0..rounds {
                let drawn = reader.sample(text, samples, &mut sampler(round)).unwrap();
                assert_eq!(drawn.len(), 3);
                if include_best {
                    assert_eq!(drawn[0].1, 0.0);
                    assert_eq!(drawn[0].0, reader.n_best(text, 2).unwrap()[0].0);
                }
                for (path, score) in drawn {
                    assert!(score <= 0.0);
                    *weights.entry(name(&path)).or_default() += f64::from(-score).exp();
                }
            }
            for path in logs.keys() {
                let estimate = weights.get(path).copied().unwrap_or(0.0) / rounds as f64;
                assert!((estimate - 1.0).abs() < 0.25, "{path}: {estimate}");
            }
        }
    }

    #[test]
    fn fewer_segmentations_than_samples() {
        let stages = unigram();
        let reader = reader(&stages);
        let samples = |include_best| Samples {
            count: 100,
            alpha: 1.0,
            without_replacement: true,
            include_best,
        };
        let there = all(&reader, "ab", 1.0).len();
        for (include_best, expected) in [(false, there - 1), (true, there - 1)] {
            let drawn = reader
                .sample("ab", samples(include_best), &mut sampler(1))
                .unwrap();
            assert_eq!(drawn.len(), expected);
        }
        for text in ["", "b"] {
            for include_best in [false, true] {
                let drawn = reader
                    .sample(text, samples(include_best), &mut sampler(1))
                    .unwrap();
                assert_eq!(drawn.len(), 1, "{text}");
                assert_eq!(drawn[0].1, 0.0);
            }
        }
    }

    #[test]
    fn a_restricted_vocabulary_keeps_characters_and_what_they_cost() {
        let stages = unigram();
        let Model::SentencePiece(model) = &stages.model else {
            panic!()
        };
        let restricted = model.restricted(|piece| piece == "ab").unwrap();
        let stages = Stages {
            model: Model::SentencePiece(restricted),
            ..stages.clone()
        };
        let reader = reader(&stages);
        let texts = |text| name(&reader.encode(text, &mut sampler(0)).unwrap());
        assert_eq!(texts("aba x"), "▁ ab a ▁ x");
    }
}
