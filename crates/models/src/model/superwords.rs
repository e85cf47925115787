//! Superwords: a byte pair encoding whose later merges join whole words, across the boundaries of the pattern.
//!
//! By definition: the pattern splits the text into words, and each is merged by itself, by a BPE with or
//! without deletions. A word that is one token in the end, and that the rule allows, may join; any other ends
//! the stretch. Then the supermerges run over each stretch, in their order. In `of the tree` with the
//! supermerge ` of`+` the`, whatever `tree` becomes, `of the` is one token, and `often` never is a part of one.
//!
//! Source: Liu et al., "SuperBPE: Space Travel for Language Models", 2025; Schmidt et al., "Boundless Byte
//! Pair Encoding: Breaking the Pre-tokenization Barrier", 2025.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bpe::merge::{Merge, Pairs, Symbol, merge_by_queue};
use super::bpe::{Alphabet, Bpe, MergeRule};
use super::steps::{MergeStep, Observer, Priority, UnitKind};
use super::{Model, PickyBpe, Sampler, Token};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::scanner::has_letter;
use jeton_stages::split::splitter::Splitter;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result, by_name};
use jeton_text::mem::lazy::Lazy;
use jeton_text::text::{AlignedText, Pieces};

/// Which whole words may join. A word with a line feed never does, so superwords do not cross lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joining {
    /// Those with a letter.
    #[default]
    Letters,
    /// All, numbers and punctuation too.
    All,
}

impl Joining {
    const NAMES: [(&str, Self); 2] = [("letters", Self::Letters), ("all", Self::All)];

    /// Whether a word may join others.
    pub fn allows(self, word: &[u8]) -> bool {
        !word.contains(&b'\n') && (self == Self::All || has_letter(&String::from_utf8_lossy(word)))
    }

    /// Its name in files and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Letters => "letters",
            Self::All => "all",
        }
    }
}

impl FromStr for Joining {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("joining", name, &Self::NAMES)
    }
}

/// What encodes single words. Its vocabulary holds the superwords too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WordModel {
    /// By merges.
    Bpe(Bpe),
    /// By merges and deletions.
    PickyBpe(PickyBpe),
}

impl From<Bpe> for WordModel {
    fn from(model: Bpe) -> Self {
        Self::Bpe(model)
    }
}

impl From<PickyBpe> for WordModel {
    fn from(model: PickyBpe) -> Self {
        Self::PickyBpe(model)
    }
}

impl From<WordModel> for Model {
    fn from(model: WordModel) -> Self {
        match model {
            WordModel::Bpe(model) => Self::Bpe(model),
            WordModel::PickyBpe(model) => Self::PickyBpe(model),
        }
    }
}

impl TryFrom<Model> for WordModel {
    type Error = Error;

    fn try_from(model: Model) -> Result<Self> {
        match model {
            Model::Bpe(model) => Ok(Self::Bpe(model)),
            Model::PickyBpe(model) => Ok(Self::PickyBpe(model)),
            _ => {
                let message = format!("words cannot be encoded by a {}", model.kind());
                Err(Error::new(ErrorKind::Unsupported, message).hint("give a BPE or a PickyBPE"))
            }
        }
    }
}

impl WordModel {
    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        match self {
            Self::Bpe(model) => model.vocab(),
            Self::PickyBpe(model) => model.vocab(),
        }
    }

    fn withhold(&mut self, ids: &[u32]) {
        match self {
            Self::Bpe(model) => model.withhold(ids),
            Self::PickyBpe(model) => model.withhold(ids),
        }
    }

    /// Whether words are merged from bytes by a list, each by itself, and without marks.
    fn merges_bytes(&self) -> bool {
        match self {
            Self::Bpe(words) => {
                matches!(words.rule(), MergeRule::Merges(_))
                    && words.options().alphabet == Alphabet::Bytes
                    && words.merges_bytes_only()
                    && !words.takes_whole_pieces()
            }
            Self::PickyBpe(_) => true,
        }
    }

    /// How many merges and deletions come before the supermerges.
    fn steps(&self) -> usize {
        match self {
            Self::Bpe(model) => model.merges().merges.len(),
            Self::PickyBpe(model) => model.events().count(),
        }
    }

    /// The tokens of a word. Those that deletions leave are symbols to the observer, as bytes are otherwise.
    fn tokenize(
        &self,
        word: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        match self {
            Self::Bpe(model) => model.tokenize_observed(word, sampler, tokens, observer),
            Self::PickyBpe(model) => {
                let first = tokens.len();
                model.tokenize(word, tokens, &mut ())?;
                for token in &tokens[first..] {
                    observer.symbol(&word.as_bytes()[token.range.clone()]);
                }
                Ok(())
            }
        }
    }
}

/// A byte pair encoding of words and superwords. Its pieces are whole texts: it splits them itself.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Superwords {
    parts: Parts,
    /// The supermerges, but for those of withheld tokens.
    pairs: Lazy<Pairs>,
}

/// What is stored of it. The vocabulary of the words holds the superwords too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Parts {
    words: WordModel,
    pattern: PreTokenizer,
    joining: Joining,
    merges: Vec<((u32, u32), u32)>,
}

impl std::fmt::Debug for Superwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Superwords").field(&self.parts).finish()
    }
}

impl PartialEq for Superwords {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

impl TryFrom<Parts> for Superwords {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let Parts {
            words,
            pattern,
            joining,
            merges,
        } = parts;
        let vocab = words.vocab();
        let token = |id: u32| {
            vocab.token(id).ok_or_else(|| {
                let message = format!("a supermerge of the unknown id {id}");
                Error::new(ErrorKind::Format, message)
            })
        };
        let pairs = merges.iter();
        let pairs = pairs.map(|&((left, right), _)| Ok((token(left)?, token(right)?)));
        let pairs = pairs.collect::<Result<Vec<_>>>()?;
        let merges = ids_of(vocab, pairs)?;
        Self::new(words, pattern, joining, merges)
    }
}

impl From<Superwords> for Parts {
    fn from(model: Superwords) -> Self {
        model.parts
    }
}

/// Checks that a pattern splits text into words, and changes and drops nothing.
///
/// # Errors
/// It does not.
pub fn check_pattern(pattern: &PreTokenizer) -> Result<()> {
    let facts = pattern.facts();
    let is_fit = !facts.adds_prefix_space && !facts.drops_white_space;
    if is_fit && Splitter::of(pattern).is_some() {
        return Ok(());
    }
    let message =
        "superwords need a pattern that splits text into words, and changes and drops nothing";
    Err(Error::new(ErrorKind::Unsupported, message)
        .hint("set pattern=\"gpt4o\", or another pattern by its name"))
}

/// The ids of pairs of tokens and of what they make.
fn ids_of<'p>(
    vocab: &Vocab,
    pairs: impl IntoIterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<Vec<((u32, u32), u32)>> {
    let id_of = |token: &[u8]| {
        vocab.id(token).ok_or_else(|| {
            let message = format!("{} is not in the vocabulary", show(token));
            Error::new(ErrorKind::Format, message)
        })
    };
    let resolve = |(rank, (left, right)): (usize, (&[u8], &[u8]))| {
        let ids = || {
            Ok((
                (id_of(left)?, id_of(right)?),
                id_of(&[left, right].concat())?,
            ))
        };
        ids().map_err(|error: Error| {
            error.at(format!(
                "superwords[{rank}] ({} {})",
                show(left),
                show(right)
            ))
        })
    };
    pairs.into_iter().enumerate().map(resolve).collect()
}

impl Superwords {
    /// The model of words, of the pattern that splits them, and of supermerges, all known to be right.
    ///
    /// # Errors
    /// Words that are not merged from bytes by a list of merges; a pattern that does more than split.
    pub fn new(
        words: impl Into<WordModel>,
        pattern: PreTokenizer,
        joining: Joining,
        merges: Vec<((u32, u32), u32)>,
    ) -> Result<Self> {
        let words = words.into();
        if !words.merges_bytes() {
            let message = "superwords need words that are merged from bytes, without marks of words \
                           and without ignore_merges";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        check_pattern(&pattern)?;
        Ok(Self {
            parts: Parts {
                words,
                pattern,
                joining,
                merges,
            },
            pairs: Lazy::new(),
        })
    }

    /// As [`Superwords::new`], of supermerges as pairs of tokens.
    ///
    /// # Errors
    /// As [`Superwords::new`]; a supermerge of tokens that the vocabulary lacks.
    pub fn by_merges<'p>(
        words: impl Into<WordModel>,
        pattern: PreTokenizer,
        joining: Joining,
        merges: impl IntoIterator<Item = (&'p [u8], &'p [u8])>,
    ) -> Result<Self> {
        let words = words.into();
        let merges = ids_of(words.vocab(), merges)?;
        Self::new(words, pattern, joining, merges)
    }

    /// The encoding of single words, whose vocabulary holds the superwords too.
    pub fn words(&self) -> &WordModel {
        &self.parts.words
    }

    /// What splits text into words.
    pub fn pattern(&self) -> &PreTokenizer {
        &self.parts.pattern
    }

    /// Which whole words may join.
    pub fn joining(&self) -> Joining {
        self.parts.joining
    }

    /// The supermerges, first to last: pairs of ids, and what they make.
    pub fn merges(&self) -> &[((u32, u32), u32)] {
        &self.parts.merges
    }

    /// See [`Model::withhold`](super::Model::withhold).
    pub(crate) fn withhold(&mut self, ids: &[u32]) {
        self.parts.words.withhold(ids);
        self.pairs = Lazy::new();
    }

    /// The supermerges by their pairs.
    pub fn pairs(&self) -> &Pairs {
        self.pairs.get(|| {
            let mut pairs = Pairs::with_capacity(self.parts.merges.len());
            let withheld = self.parts.words.vocab().withheld();
            for (rank, &((left, right), id)) in (0..).zip(&self.parts.merges) {
                if !withheld.contains(id) {
                    pairs.insert(left, right, Merge { rank, id });
                }
            }
            pairs
        })
    }

    /// The tokens of a text, by the definition.
    pub(crate) fn tokenize(
        &self,
        text: &str,
        sampler: &mut Sampler,
        tokens: &mut Vec<Token>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        let mut pieces = Pieces::new(AlignedText::original(text));
        self.parts.pattern.cut(&mut pieces)?;
        let mut observer = Shifted {
            observer,
            symbols: 0,
            shift: 0,
        };
        let mut stretch = Stretch::default();
        for word in pieces.iter() {
            let first = tokens.len();
            observer.shift = observer.symbols;
            (self.parts.words).tokenize(word.as_str(), sampler, tokens, &mut observer)?;
            let start = word.original_start();
            for token in &mut tokens[first..] {
                token.range = start + token.range.start..start + token.range.end;
            }
            if tokens.len() == first + 1 && self.parts.joining.allows(word.as_str().as_bytes()) {
                stretch.at.push(observer.shift);
            } else {
                let rest = tokens.split_off(first);
                self.join(&mut stretch, tokens, &mut observer);
                tokens.extend(rest);
            }
        }
        self.join(&mut stretch, tokens, &mut observer);
        Ok(())
    }

    /// Runs the supermerges over the words of a stretch, which are the last tokens, and empties it.
    fn join<O: Observer>(
        &self,
        stretch: &mut Stretch,
        tokens: &mut Vec<Token>,
        observer: &mut Shifted<'_, O>,
    ) {
        let Stretch { at } = std::mem::take(stretch);
        let words = tokens.split_off(tokens.len() - at.len());
        let symbol = |token: &Token| Symbol {
            id: token.id,
            length: 1,
        };
        let mut symbols: Vec<Symbol> = words.iter().map(symbol).collect();
        let vocab = self.parts.words.vocab();
        let steps = self.parts.words.steps() as u32;
        merge_by_queue(
            &mut symbols,
            self.pairs(),
            u32::MAX,
            || false,
            |left, pair, Merge { rank, id }| {
                observer.observer.merge(MergeStep {
                    at: at[left],
                    parts: pair.map(|id| vocab.token(id).unwrap_or_default()),
                    id,
                    priority: Priority::Rank(steps + rank),
                });
            },
        );
        let mut words = words.into_iter();
        for Symbol { id, length } in symbols {
            let mut joined = words.by_ref().take(length as usize);
            let ranges = joined.next().map(|word| word.range);
            let end = joined.last().map(|word| word.range.end);
            let start = ranges.unwrap_or_default();
            let range: Range<usize> = start.start..end.unwrap_or(start.end);
            tokens.push(Token { id, range });
        }
    }
}

/// Whole words that may join, each with the number of its first symbol in the text.
#[derive(Default)]
struct Stretch {
    at: Vec<usize>,
}

/// Hears the steps of a word as those of a text.
struct Shifted<'o, O> {
    observer: &'o mut O,
    /// How many symbols there were so far.
    symbols: usize,
    /// How many of them come before this word.
    shift: usize,
}

impl<O: Observer> Observer for Shifted<'_, O> {
    const HEARS: bool = O::HEARS;

    fn unit(&mut self, unit: &[u8], ids: &[u32], kind: UnitKind) {
        self.observer.unit(unit, ids, kind);
    }

    fn symbol(&mut self, symbol: &[u8]) {
        self.symbols += 1;
        self.observer.symbol(symbol);
    }

    fn merge(&mut self, merge: MergeStep<'_>) {
        let at = merge.at + self.shift;
        self.observer.merge(MergeStep { at, ..merge });
    }
}
