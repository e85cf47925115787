//! Unigram: the segmentation with the greatest sum of scores.
//!
//! Computed as Hugging Face `tokenizers` does, in 64-bit floats and with neighbouring unknown
//! characters fused. Source: Kudo, "Subword Regularization", 2018.

use serde::{Deserialize, Serialize};

mod nbest;

pub use nbest::LatticePart;

use super::steps::Observer;
use super::token::{Token, byte_token};
use jeton_stages::tables::trie::Trie;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::interrupt::{filled, tick};

/// Score by which an unknown character is worse than the worst token.
const UNK_PENALTY: f64 = 10.0;

/// Unigram: the segmentation with the greatest sum of scores.
///
/// ```
/// use jeton_models::model::{Model, Sampler, Sampling, Unigram};
///
/// let pieces = [("<unk>", 0.0), ("a", -2.0), ("b", -2.0), ("ab", -3.0)];
/// let model = Model::Unigram(Unigram::new(pieces, Some(0), false)?);
/// let mut tokens = Vec::new();
/// model.tokenize("abb", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [3, 2]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Unigram {
    pub(super) parts: Parts,
    pub(super) trie: Trie,
    unk_score: f64,
}

/// What a Unigram model is stored as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Parts {
    pub(super) vocab: Vocab,
    scores: Vec<f64>,
    unk_id: Option<u32>,
    byte_fallback: bool,
}

/// The best way to reach a place in the piece. There is one for each byte of what may be a text of a
/// hundred megabytes, so it is small.
#[derive(Clone, Copy)]
struct BestStep {
    score: f64,
    /// Bytes of the token; 0 where no way is known.
    length: u32,
    id: u32,
}

impl BestStep {
    const NONE: Self = Self {
        score: 0.0,
        length: 0,
        id: 0,
    };

    /// Whether a way of this score is better.
    #[inline]
    fn is_improved_by(&self, score: f64) -> bool {
        self.length == 0 || score > self.score
    }

    /// Makes it the way that ends with this token, if that is better.
    #[inline]
    fn improve(&mut self, score: f64, length: usize, id: u32) {
        if self.is_improved_by(score) {
            let length = length as u32;
            *self = Self { score, length, id };
        }
    }
}

impl Unigram {
    /// The model of these tokens and their scores; ids are places in the list.
    ///
    /// # Errors
    /// No tokens at all, a score that is not a number, an `unk_id` that is
    /// no token's.
    pub fn new<T: AsRef<[u8]>>(
        pieces: impl IntoIterator<Item = (T, f64)>,
        unk_id: Option<u32>,
        byte_fallback: bool,
    ) -> Result<Self> {
        let (tokens, scores): (Vec<T>, Vec<f64>) = pieces.into_iter().unzip();
        Self::try_from(Parts {
            vocab: Vocab::of_list(tokens.into_iter().zip(0..))?,
            scores,
            unk_id,
            byte_fallback,
        })
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.parts.vocab
    }

    /// The score of each id.
    pub fn scores(&self) -> &[f64] {
        &self.parts.scores
    }

    /// The token of unknown characters.
    pub fn unk_id(&self) -> Option<u32> {
        self.parts.unk_id
    }

    /// Whether unknown characters are written as `<0xNN>` tokens, if all are there.
    pub fn byte_fallback(&self) -> bool {
        self.parts.byte_fallback
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        self.emit(piece, &self.best_path(piece, observer)?, tokens)
    }

    /// The tokens of a path: where each ends, and its id. Neighbouring unknown ones are one.
    fn emit(&self, piece: &str, path: &[(usize, u32)], tokens: &mut Vec<Token>) -> Result<()> {
        let unknown = |id: &u32| Some(*id) == self.parts.unk_id;
        let mut start = 0;
        for run in path.chunk_by(|(_, a), (_, b)| unknown(a) && unknown(b)) {
            let end = run.last().map_or(start, |(end, _)| *end);
            self.push(piece, start..end, tokens)?;
            start = end;
        }
        Ok(())
    }

    /// Viterbi: where each token of the best path ends, and its id. The first found wins a tie.
    fn best_path(&self, piece: &str, observer: &mut impl Observer) -> Result<Vec<(usize, u32)>> {
        let Parts { scores, unk_id, .. } = &self.parts;
        let mut best = filled(BestStep::NONE, piece.len() + 1);
        for (start, character) in piece.char_indices() {
            // A path leads to each character: the one before it is a token or unknown.
            let score_here = best[start].score;
            let mut known = false;
            let rest = &piece.as_bytes()[start..];
            for (id, length) in self.trie.prefixes(self.trie.root(), rest) {
                let score = scores[id as usize];
                let (end, sum) = (start + length, score + score_here);
                best[end].improve(sum, length, id);
                known |= length == character.len_utf8();
                observer.edge(start..end, Some(id), score, sum);
            }
            if !known {
                let sum = self.unk_score + score_here;
                let length = character.len_utf8();
                let step = &mut best[start + length];
                if step.is_improved_by(sum) {
                    let id = unk_id.ok_or_else(|| unknown(piece, start))?;
                    step.improve(sum, length, id);
                }
                observer.edge(start..start + length, None, self.unk_score, sum);
            }
        }
        let mut path = Vec::new();
        let mut end = piece.len();
        while best[end].length > 0 {
            tick();
            path.push((end, best[end].id));
            observer.path(end);
            end -= best[end].length as usize;
        }
        path.reverse();
        observer.score(best[piece.len()].score);
        Ok(path)
    }

    /// Appends the token of a part of the piece, or what replaces it.
    fn push(
        &self,
        piece: &str,
        range: std::ops::Range<usize>,
        tokens: &mut Vec<Token>,
    ) -> Result<()> {
        let Parts { vocab, unk_id, .. } = &self.parts;
        let bytes = &piece.as_bytes()[range.clone()];
        if let Some(id) = vocab.text_id(bytes) {
            tokens.push(Token { id, range });
            return Ok(());
        }
        if self.parts.byte_fallback {
            let ids = bytes.iter().map(|&byte| vocab.id(&byte_token(byte)));
            if let Some(ids) = ids.collect::<Option<Vec<u32>>>() {
                tokens.extend(ids.into_iter().map(|id| {
                    let range = range.clone();
                    Token { id, range }
                }));
                return Ok(());
            }
        }
        let id = unk_id.ok_or_else(|| unknown(piece, range.start))?;
        tokens.push(Token { id, range });
        Ok(())
    }
}

fn unknown(piece: &str, at: usize) -> Error {
    let character = piece[at..].chars().next().map(String::from);
    Error::new(
        ErrorKind::Encode,
        format!(
            "{:?} is unknown, and the model has no unknown token",
            character.unwrap_or_default()
        ),
    )
    .hint("give the model an unk_id")
}

impl TryFrom<Parts> for Unigram {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let Parts {
            vocab,
            scores,
            unk_id,
            ..
        } = &parts;
        let broken = |message: String| Err(Error::new(ErrorKind::Format, message));
        if scores.is_empty() {
            return broken("a Unigram model needs at least one token".to_owned());
        }
        let tokens = vocab.max_id().map_or(0, |id| id as usize + 1);
        if scores.len() != tokens {
            let scores = scores.len();
            return broken(format!("{scores} scores for {tokens} tokens"));
        }
        if let Some((token, id)) = vocab
            .iter()
            .find(|(_, id)| scores.get(*id as usize).is_none_or(|score| score.is_nan()))
        {
            let token = show(token);
            return broken(format!(
                "token {token} (id {id}) has no number as its score"
            ));
        }
        if let Some(id) = unk_id.filter(|id| vocab.token(*id).is_none()) {
            let tokens = vocab.len();
            return broken(format!(
                "unk_id {id} is not the id of one of the {tokens} tokens"
            ));
        }
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(Self {
            trie: Trie::new(vocab.iter()),
            unk_score: lowest - UNK_PENALTY,
            parts,
        })
    }
}

impl From<Unigram> for Parts {
    fn from(model: Unigram) -> Self {
        model.parts
    }
}

impl PartialEq for Unigram {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl std::fmt::Debug for Unigram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Parts { vocab, unk_id, .. } = &self.parts;
        write!(f, "Unigram({} tokens, unk_id: {unk_id:?})", vocab.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_parameters_are_refused() {
        let refused = |pieces: &[(&str, f64)], unk_id| {
            Unigram::new(pieces.iter().copied(), unk_id, false)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(&[], None),
            "a Unigram model needs at least one token"
        );
        assert_eq!(
            refused(&[("a", f64::NAN)], None),
            "token \"a\" (id 0) has no number as its score"
        );
        assert_eq!(
            refused(&[("a", 0.0)], Some(1)),
            "unk_id 1 is not the id of one of the 1 tokens"
        );
    }

    #[test]
    fn of_a_token_listed_twice_the_later_counts() {
        let pieces = [("<unk>", 0.0), ("a", 0.0), ("a", -1.0)];
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let mut tokens = Vec::new();
        model.tokenize("a", &mut tokens, &mut ()).unwrap();
        assert_eq!(tokens[0].id, 2);
    }

    #[test]
    fn a_million_characters_take_no_quadratic_time() {
        let pieces = [("<unk>", 0.0), ("a", -1.0), ("aaaaaaaa", -2.0)];
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let mut tokens = Vec::new();
        let text = "a".repeat(1_000_000);
        model.tokenize(&text, &mut tokens, &mut ()).unwrap();
        assert_eq!(tokens.len(), 125_000);
    }
}
