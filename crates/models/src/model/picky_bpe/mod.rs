//! Byte pair encoding that takes tokens out again: merges and deletions, in one order.
//!
//! Look here for how a tokenizer encodes that was trained with `drop_residues`.
//!
//! By definition: a piece is its bytes, and all events happen to it in their order. A merge joins its two
//! tokens wherever they are neighbours, from left to right; a deletion replaces its token everywhere, by the
//! two that it was last merged from or by its bytes. In the end a token that is not in the vocabulary becomes
//! the two that it was last merged from, until all are: a deletion to a pair may bring back a token that was
//! deleted before.
//!
//! Here only the events are looked at that a piece has: a queue holds, for each token and each pair of
//! neighbours, their next event.

mod replay;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::model::steps::{Observer, UnitKind};
use crate::model::token::{Token, only_withheld};
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result, by_name};

/// What a deleted token becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Residue {
    /// The two tokens that it was last merged from.
    #[default]
    Pair,
    /// Its bytes.
    Bytes,
}

impl Residue {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::Bytes => "bytes",
        }
    }
}

impl std::str::FromStr for Residue {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = [("pair", Self::Pair), ("bytes", Self::Bytes)];
        by_name("residues_become", name, &names)
    }
}

/// One event, by the bytes of its tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// Two neighbours become one token.
    Merge(Vec<u8>, Vec<u8>),
    /// A token becomes what it was made from.
    Deletion(Vec<u8>),
}

/// An event, by the numbers of its symbols.
#[derive(Clone, Copy, Debug)]
enum Step {
    Merge { pair: [u32; 2], made: u32 },
    Deletion { deleted: u32, pair: [u32; 2] },
}

/// A token that a piece may consist of on the way. The first 256 are the bytes.
#[derive(Clone, Debug)]
struct Symbol {
    bytes: Vec<u8>,
    /// Its id, if text may become it in the end.
    id: Option<u32>,
    /// The two that it was last merged from; a byte was not.
    pair: Option<[u32; 2]>,
}

/// Byte pair encoding by merges and deletions.
///
/// ```
/// use jeton_models::model::picky_bpe::{Event, PickyBpe, Residue};
/// use jeton_models::model::{Model, Sampler, Sampling};
/// use jeton_stages::vocab::Vocab;
///
/// let bytes = (0..=255u8).map(|byte| vec![byte]);
/// let vocab = Vocab::new(bytes.chain([b"the".to_vec()]).zip(0..))?;
/// let events = vec![
///     Event::Merge(b"t".to_vec(), b"h".to_vec()),
///     Event::Merge(b"th".to_vec(), b"e".to_vec()),
///     Event::Deletion(b"th".to_vec()),
/// ];
/// let model = Model::PickyBpe(PickyBpe::new(vocab, events, Residue::Pair)?);
/// let mut tokens = Vec::new();
/// model.tokenize("theth", &mut Sampler::new(Sampling::default()), &mut tokens)?;
/// assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), [256, 116, 104]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct PickyBpe {
    vocab: Vocab,
    residue: Residue,
    symbols: Vec<Symbol>,
    steps: Vec<Step>,
    /// The merges of each pair, and the deletions of each symbol, by the number of the event; sorted.
    merges: Vec<([u32; 2], u32)>,
    deletions: Vec<(u32, u32)>,
}

impl PickyBpe {
    /// The model of a vocabulary and events.
    ///
    /// # Errors
    /// A byte that is not in the vocabulary; an event with a token that none made before; a token of the
    /// last merge that is neither deleted nor in the vocabulary.
    pub fn new(
        vocab: Vocab,
        events: impl IntoIterator<Item = Event>,
        residue: Residue,
    ) -> Result<Self> {
        let wrong = |message: String| Error::new(ErrorKind::Format, message);
        let mut symbols = Vec::with_capacity(256);
        let mut numbers: HashMap<Vec<u8>, u32, FixedState> = HashMap::default();
        for byte in 0..=u8::MAX {
            if vocab.id(&[byte]).is_none() {
                let message = format!("the vocabulary has no token for the byte {byte:#04x}");
                return Err(wrong(message).hint("this model needs a token for each byte"));
            }
            numbers.insert(vec![byte], u32::from(byte));
            symbols.push(Symbol {
                bytes: vec![byte],
                id: None,
                pair: None,
            });
        }
        let mut is_deleted = vec![false; symbols.len()];
        let (mut steps, mut merges, mut deletions) = (Vec::new(), Vec::new(), Vec::new());
        for (number, event) in (0..u32::MAX).zip(events) {
            let known = |token: &[u8]| {
                numbers.get(token).copied().ok_or_else(|| {
                    let token = show(token);
                    wrong(format!(
                        "event {number} has the token {token}, which no merge made"
                    ))
                })
            };
            match event {
                Event::Merge(left, right) => {
                    let pair = [known(&left)?, known(&right)?];
                    let bytes = [left, right].concat();
                    let made = match numbers.get(&bytes) {
                        Some(&made) => made,
                        None => {
                            let made = symbols.len() as u32;
                            numbers.insert(bytes.clone(), made);
                            symbols.push(Symbol {
                                bytes,
                                id: None,
                                pair: None,
                            });
                            is_deleted.push(false);
                            made
                        }
                    };
                    symbols[made as usize].pair = Some(pair);
                    is_deleted[made as usize] = false;
                    merges.push((pair, number));
                    steps.push(Step::Merge { pair, made });
                }
                Event::Deletion(token) => {
                    let deleted = known(&token)?;
                    let Some(pair) = symbols[deleted as usize].pair else {
                        let message = format!("event {number} deletes the byte {}", show(&token));
                        return Err(wrong(message));
                    };
                    is_deleted[deleted as usize] = true;
                    deletions.push((deleted, number));
                    steps.push(Step::Deletion { deleted, pair });
                }
            }
        }
        let mut left = symbols.iter().zip(is_deleted);
        if let Some((symbol, _)) = left.find(|(symbol, is_deleted)| {
            symbol.pair.is_some() && !is_deleted && vocab.id(&symbol.bytes).is_none()
        }) {
            return Err(wrong(format!(
                "the token {} is merged and not deleted, and not in the vocabulary",
                show(&symbol.bytes)
            )));
        }
        merges.sort_unstable();
        deletions.sort_unstable();
        let mut model = Self {
            vocab,
            residue,
            symbols,
            steps,
            merges,
            deletions,
        };
        model.find_ids();
        Ok(model)
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// What a deleted token becomes.
    pub fn residue(&self) -> Residue {
        self.residue
    }

    /// The merges and deletions in their order.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        let bytes = |symbol: u32| self.symbols[symbol as usize].bytes.clone();
        self.steps.iter().map(move |step| match *step {
            Step::Merge {
                pair: [left, right],
                ..
            } => Event::Merge(bytes(left), bytes(right)),
            Step::Deletion { deleted, .. } => Event::Deletion(bytes(deleted)),
        })
    }

    /// See [`Model::withhold`](super::Model::withhold).
    pub(in crate::model) fn withhold(&mut self, ids: &[u32]) {
        self.vocab.withhold(ids);
        self.find_ids();
    }

    fn find_ids(&mut self) {
        for symbol in &mut self.symbols {
            symbol.id = self.vocab.text_id(&symbol.bytes);
        }
    }

    /// The tokens of `piece`, appended to `tokens`.
    pub(crate) fn tokenize(
        &self,
        piece: &str,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let bytes = piece.as_bytes();
        let symbols = self.replay(bytes);
        let mut start = 0;
        let mut rest = Vec::new();
        while start < bytes.len() {
            rest.push(symbols[start].symbol);
            while let Some(symbol) = rest.pop() {
                let symbol = &self.symbols[symbol as usize];
                match (symbol.id, symbol.pair) {
                    (Some(id), _) => {
                        let range = start..start + symbol.bytes.len();
                        observer.unit(&symbol.bytes, &[id], UnitKind::Known);
                        start = range.end;
                        tokens.push(Token { id, range });
                    }
                    (None, Some([left, right])) => rest.extend([right, left]),
                    (None, None) => return Err(only_withheld(&symbol.bytes)),
                }
            }
        }
        Ok(())
    }
}

/// What is stored of a model; everything else follows from it.
#[derive(Serialize, Deserialize)]
struct Parts {
    vocab: Vocab,
    events: Vec<Event>,
    residue: Residue,
}

impl TryFrom<Parts> for PickyBpe {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::new(parts.vocab, parts.events, parts.residue)
    }
}

impl From<PickyBpe> for Parts {
    fn from(model: PickyBpe) -> Self {
        Self {
            events: model.events().collect(),
            vocab: model.vocab,
            residue: model.residue,
        }
    }
}

impl PartialEq for PickyBpe {
    fn eq(&self, other: &Self) -> bool {
        self.residue == other.residue
            && self.vocab == other.vocab
            && self.events().eq(other.events())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The definition, event by event.
    fn plain(model: &PickyBpe, piece: &str) -> Vec<Vec<u8>> {
        let mut symbols: Vec<Vec<u8>> = piece.bytes().map(|byte| vec![byte]).collect();
        let mut made: HashMap<Vec<u8>, [Vec<u8>; 2]> = HashMap::new();
        let replace = |symbols: &mut Vec<Vec<u8>>, token: &Vec<u8>, by: &[Vec<u8>]| {
            let each = std::mem::take(symbols).into_iter();
            *symbols = each
                .flat_map(|symbol| {
                    if symbol == *token {
                        by.to_vec()
                    } else {
                        vec![symbol]
                    }
                })
                .collect();
        };
        for event in model.events() {
            match event {
                Event::Merge(left, right) => {
                    let mut at = 0;
                    while at + 1 < symbols.len() {
                        if symbols[at] == left && symbols[at + 1] == right {
                            let right = symbols.remove(at + 1);
                            symbols[at].extend(right);
                        }
                        at += 1;
                    }
                    made.insert([left.clone(), right.clone()].concat(), [left, right]);
                }
                Event::Deletion(token) => match model.residue {
                    Residue::Pair => replace(&mut symbols, &token, &made[&token]),
                    Residue::Bytes => {
                        let bytes: Vec<_> = token.iter().map(|&byte| vec![byte]).collect();
                        replace(&mut symbols, &token, &bytes);
                    }
                },
            }
        }
        while let Some(unknown) = symbols.iter().find(|it| model.vocab.text_id(it).is_none()) {
            let unknown = unknown.clone();
            replace(&mut symbols, &unknown, &made[&unknown]);
        }
        symbols
    }

    #[test]
    fn encoding_is_that_of_the_definition() {
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        for round in 0..400 {
            let mut known: Vec<Vec<u8>> = b"abc".iter().map(|&byte| vec![byte]).collect();
            let mut live: Vec<Vec<u8>> = Vec::new();
            let mut events = Vec::new();
            for _ in 0..numbers.random_range(1..30) {
                if !live.is_empty() && numbers.random_range(0..3) == 0 {
                    let token = live.swap_remove(numbers.random_range(0..live.len()));
                    events.push(Event::Deletion(token));
                    continue;
                }
                let [left, right] =
                    [0, 1].map(|_| known[numbers.random_range(0..known.len())].clone());
                let token = [left.clone(), right.clone()].concat();
                if token.len() > 8 {
                    continue;
                }
                events.push(Event::Merge(left, right));
                if !known.contains(&token) {
                    known.push(token.clone());
                }
                if !live.contains(&token) {
                    live.push(token);
                }
            }
            let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
            let vocab = Vocab::new(bytes.chain(live).zip(0..)).unwrap();
            let residue = [Residue::Pair, Residue::Bytes][round % 2];
            let mut model = PickyBpe::new(vocab, events, residue).unwrap();
            let last = model.vocab.max_id().unwrap();
            if round % 3 == 0 && last > 256 {
                model.withhold(&[last]);
            }
            for _ in 0..20 {
                let length = numbers.random_range(0..24);
                let piece: String = (0..length)
                    .map(|_| char::from(b"abc"[numbers.random_range(0..3)]))
                    .collect();
                let mut tokens = Vec::new();
                model.tokenize(&piece, &mut tokens, &mut ()).unwrap();
                let spelled = tokens.iter().map(|it| model.vocab.token(it.id).unwrap());
                let spelled: Vec<Vec<u8>> = spelled.map(<[u8]>::to_vec).collect();
                assert_eq!(spelled, plain(&model, &piece), "round {round}: {piece}");
                let ranges = tokens.iter().map(|it| &piece.as_bytes()[it.range.clone()]);
                assert!(ranges.eq(spelled.iter().map(Vec::as_slice)));
            }
            let stored = Parts::from(model.clone());
            assert_eq!(PickyBpe::try_from(stored).unwrap(), model);
        }
    }

    #[test]
    fn long_pieces_take_time_in_proportion() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let vocab = Vocab::new(bytes.chain([b"aaaa".to_vec()]).zip(0..)).unwrap();
        let events = [
            Event::Merge(b"a".to_vec(), b"a".to_vec()),
            Event::Merge(b"aa".to_vec(), b"aa".to_vec()),
            Event::Deletion(b"aa".to_vec()),
        ];
        let model = PickyBpe::new(vocab, events, Residue::Pair).unwrap();
        let mut tokens = Vec::new();
        model
            .tokenize(&"a".repeat(1_000_003), &mut tokens, &mut ())
            .unwrap();
        assert_eq!(tokens.len(), 250_003);
    }

    #[test]
    fn events_that_make_no_sense_are_refused() {
        let vocab = |tokens: &[&[u8]]| {
            let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
            let all = bytes.chain(tokens.iter().map(|it| it.to_vec())).zip(0..);
            Vocab::new(all).unwrap()
        };
        let merge = |left: &[u8], right: &[u8]| Event::Merge(left.to_vec(), right.to_vec());
        let delete = |token: &[u8]| Event::Deletion(token.to_vec());
        let refused = |tokens: &[&[u8]], events: Vec<Event>| {
            let model = PickyBpe::new(vocab(tokens), events, Residue::Pair);
            model.unwrap_err().to_string()
        };
        for (error, expected) in [
            (
                refused(&[b"ab"], vec![merge(b"ab", b"c")]),
                "event 0 has the token \"ab\", which no merge made",
            ),
            (
                refused(&[], vec![delete(b"a")]),
                "event 0 deletes the byte \"a\"",
            ),
            (
                refused(&[], vec![merge(b"a", b"b")]),
                "the token \"ab\" is merged and not deleted, and not in the vocabulary",
            ),
        ] {
            assert_eq!(error, expected);
        }
        let no_bytes = Vocab::new([("a", 0)]).unwrap();
        let error = PickyBpe::new(no_bytes, [], Residue::Pair).unwrap_err();
        assert!(error.to_string().contains("no token for the byte 0x00"));
    }
}
