//! The fallback: how new words become tokens in the strategies that work for any model, by the stages or by
//! something faster with the same result.
//!
//! Look here for the words that skip the stages before the model, because the result is known.

pub(super) mod bpe_merger;
pub(super) mod character_table;
pub(super) mod initial_symbols;
mod longest_match;

use crate::cache::lookup;
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::Reusable;
use bpe_merger::BpeMerger;
use character_table::CutWord;
use jeton_models::merge::ShortWord;
use jeton_models::model::{Model, Sampler, Sampling, Token};
use jeton_stages::normalizer::SPACE_MARK;
use jeton_stages::split::scanner::Scanner;
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::mem::lazy::Lazy;
use jeton_text::mem::short_keys::SHORT;
use jeton_text::text::Pieces;
use longest_match::Longest;

/// No byte of UTF-8: before the key of a part of a piece, which is no word of the text.
const PART: u8 = 0xFD;

/// Which words are plain: of ASCII, possibly after a space, and left as they are by the stages before the
/// model, except as these fields say.
#[derive(Clone, Debug)]
pub struct PlainWords {
    /// What a space becomes, if each word begins with a single space; none if words hold no space.
    pub mark: Option<char>,
    /// Whether words of punctuation are plain too, or only those of letters and digits.
    pub punctuation: bool,
    /// Whether letters become lower case.
    pub lowers: bool,
    /// Texts that the stages replace: no word that holds one is plain.
    pub replaced: Vec<String>,
}

impl PlainWords {
    /// Writes the piece that a word becomes to `piece`, if it is such a word.
    pub(super) fn piece(&self, word: &str, piece: &mut String) -> bool {
        let (mark, word) = match self.mark {
            None => (None, word),
            Some(mark) => match word.strip_prefix(' ') {
                Some(word) => (Some(mark), word),
                None => return false,
            },
        };
        let is_kept = |byte: u8| {
            byte.is_ascii_alphanumeric() || self.punctuation && byte.is_ascii_punctuation()
        };
        if word.is_empty()
            || !word.bytes().all(is_kept)
            || self.replaced.iter().any(|text| word.contains(text))
        {
            return false;
        }
        piece.clear();
        piece.extend(mark);
        piece.push_str(word);
        if self.lowers {
            piece.make_ascii_lowercase();
        }
        true
    }
}

/// The tables by which new pieces become tokens, for models that have some; built for the first new piece.
#[derive(Debug)]
pub(super) struct ModelTables(Lazy<ModelTable>);

#[derive(Debug)]
pub(super) enum ModelTable {
    Longest(Longest),
    BpeMerger(Box<BpeMerger>),
    None,
}

impl ModelTables {
    pub(super) fn new() -> Self {
        Self(Lazy::new())
    }

    pub(super) fn of(&self, model: &Model) -> &ModelTable {
        self.0.get(|| match model {
            Model::WordPiece(model) => ModelTable::Longest(Longest::new(model)),
            Model::Bpe(bpe) => match BpeMerger::new(bpe) {
                Some(merged) => ModelTable::BpeMerger(Box::new(merged)),
                None => ModelTable::None,
            },
            _ => ModelTable::None,
        })
    }
}

/// The working memory of one call.
pub(super) struct FallbackWorkspace {
    pub(super) scanner: Scanner,
    pub(super) lookup: lookup::ChunkWorkspace,
    pub(super) work: ShortWord,
}

impl Reusable for FallbackWorkspace {
    fn new() -> Box<Self> {
        Box::new(Self {
            scanner: Scanner::default(),
            lookup: lookup::ChunkWorkspace::default(),
            work: ShortWord::NEW,
        })
    }

    fn is_current(&self) -> bool {
        self.lookup.words.keeps_the_limit()
    }
}

/// A model with its tables, and working memory for one word.
pub(super) struct Fallback<'c> {
    model: &'c Model,
    tables: &'c ModelTables,
    work: &'c mut ShortWord,
    /// The cache of words, which has the parts of long pieces, too.
    pub(super) words: &'c mut WordCache,
    ids: Vec<u32>,
    tokens: Vec<Token>,
    piece: String,
    key: Vec<u8>,
}

impl<'c> Fallback<'c> {
    /// No word yet.
    pub(super) fn new(
        model: &'c Model,
        tables: &'c ModelTables,
        work: &'c mut ShortWord,
        words: &'c mut WordCache,
    ) -> Self {
        Self {
            model,
            tables,
            work,
            words,
            ids: Vec::new(),
            tokens: Vec::new(),
            piece: String::new(),
            key: Vec::new(),
        }
    }

    /// Remembers the tokens of the last word, of which this is the key.
    pub fn remember(&mut self, key: &[u8]) {
        self.words.insert(key, &self.ids);
    }

    /// The tokens of the last word.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Makes the tokens of a word, if it is one of those that are known to be one piece.
    ///
    /// # Errors
    /// As the model.
    pub fn plain(&mut self, plain: &PlainWords, word: &str) -> Result<bool> {
        if !plain.piece(word, &mut self.piece) {
            return Ok(false);
        }
        let piece = std::mem::take(&mut self.piece);
        let done = self.piece(&piece);
        self.piece = piece;
        done.map(|()| true)
    }

    /// Makes the tokens of a chunk of which no stage changes anything but its spaces, which become `▁`.
    ///
    /// # Errors
    /// As the model.
    pub fn marked(&mut self, chunk: &str) -> Result<()> {
        let word = chunk.trim_start_matches(' ');
        let mut piece = std::mem::take(&mut self.piece);
        piece.clear();
        piece.extend(std::iter::repeat_n(SPACE_MARK, chunk.len() - word.len()));
        piece.push_str(word);
        let done = self.piece(&piece);
        self.piece = piece;
        done
    }

    /// Makes the tokens of what the stages before the model make of a text.
    ///
    /// # Errors
    /// As the model.
    pub fn pieces(&mut self, pieces: &Pieces) -> Result<()> {
        self.ids.clear();
        pieces
            .iter()
            .try_for_each(|piece| self.add(piece.as_str().as_bytes()))
    }

    /// No tokens yet.
    pub fn begin(&mut self) {
        self.ids.clear();
    }

    /// Makes the tokens of a piece.
    ///
    /// # Errors
    /// As the model.
    fn piece(&mut self, piece: &str) -> Result<()> {
        self.ids.clear();
        self.add(piece.as_bytes())
    }

    /// Makes the tokens of a word's pieces.
    ///
    /// # Errors
    /// As the model.
    pub fn cut(&mut self, cut: &CutWord) -> Result<()> {
        self.ids.clear();
        cut.pieces().try_for_each(|piece| self.add(piece))
    }

    /// Appends the tokens of a piece. A long one is split where no token spans, and its parts are remembered:
    /// text without spaces falls apart into runs of a few characters, which come again.
    ///
    /// # Errors
    /// As the model.
    pub fn add(&mut self, piece: &[u8]) -> Result<()> {
        let mut start = 0;
        while start < piece.len() {
            tick();
            let end = match (self.tables.of(self.model), self.model) {
                (ModelTable::BpeMerger(merger), Model::Bpe(bpe)) if piece.len() - start > SHORT => {
                    merger.first_split_point(bpe, piece, start)
                }
                _ => piece.len(),
            };
            if end - start == piece.len() {
                return self.solve(piece);
            }
            let part = &piece[start..end];
            self.key.clear();
            self.key.push(PART);
            self.key.extend_from_slice(part);
            if !self.words.emit(&self.key, &mut self.ids) {
                let first = self.ids.len();
                self.solve(part)?;
                self.words.insert(&self.key, &self.ids[first..]);
            }
            start = end;
        }
        Ok(())
    }

    /// Appends the tokens of a piece, or of a part of one.
    fn solve(&mut self, piece: &[u8]) -> Result<()> {
        let ids = &mut self.ids;
        let done = match (self.tables.of(self.model), self.model) {
            (ModelTable::Longest(longest), _) => longest.tokenize(piece, ids),
            (ModelTable::BpeMerger(merger), Model::Bpe(bpe)) => {
                merger.merge(bpe, piece, self.work, ids)
            }
            _ => false,
        };
        if !done {
            self.tokens.clear();
            let mut sampler = Sampler::new(Sampling::default());
            let piece = String::from_utf8_lossy(piece);
            (self.model).tokenize(&piece, &mut sampler, &mut self.tokens)?;
            ids.extend(self.tokens.iter().map(|token| token.id));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_become_one_piece() {
        let marked = PlainWords {
            mark: Some('▁'),
            punctuation: true,
            lowers: true,
            replaced: vec!["--".to_owned()],
        };
        let mut piece = String::new();
        assert!(marked.piece(" Don't", &mut piece));
        assert_eq!(piece, "▁don't");
        for other in ["Don't", " ", "  a", " a b", " a--b", " é", " \u{7f}"] {
            assert!(!marked.piece(other, &mut piece), "{other:?}");
        }
        let bare = PlainWords {
            mark: None,
            punctuation: false,
            lowers: false,
            replaced: Vec::new(),
        };
        assert!(bare.piece("Don", &mut piece));
        assert_eq!(piece, "Don");
        assert!(!bare.piece("Don't", &mut piece) && !bare.piece(" Don", &mut piece));
    }
}
