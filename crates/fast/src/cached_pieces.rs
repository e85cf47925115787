//! The strategy of cached pieces, for any pre-tokenizer: the stages normalize and split the text, each piece is
//! looked up in the word cache, and the model sees only new ones.
//!
//! Look here last: the other strategies find their pieces with less work.

use std::rc::Rc;

use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::{ChunkWorkspace, NewChunks, tokens_of};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::WorkspacePool;
use crate::compiled::Compiled;
use crate::fallback::{Fallback, FallbackWorkspace, ModelTables};
use crate::sink::Sink;
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use crate::{Spanning, Stretch};
use jeton_models::stages::Stages;
use jeton_stages::split::any_splitter::AnySplitter;
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::short_keys::LONG;
use jeton_text::printable;

/// A tokenizer whose pieces are cached, whatever splits them.
#[derive(Debug)]
pub struct CachedPieces {
    splitter: AnySplitter,
    tables: ModelTables,
    pool: WorkspacePool<FallbackWorkspace>,
}

impl CachedPieces {
    /// The compiled form of these stages, if pieces are split separately and have the same tokens
    /// wherever they are.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn new(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        caches_words(stages)?;
        let normalizer = stages.normalizer.as_ref();
        if normalizer.is_some_and(|it| it.facts().leaves_added_tokens) {
            let why = "depends on where in its text a stretch is, or is a function";
            return Err(UnsupportedStage::normalizer(normalizer, why));
        }
        let pre_tokenizer = stages.pre_tokenizer.as_ref();
        let splitter = pre_tokenizer.map(AnySplitter::new).ok_or_else(|| {
            UnsupportedStage::pre_tokenizer(None, "a text is one word, whose tokens no cache knows")
        })?;
        let splitter = splitter.ok_or_else(|| {
            let why = "writes spaces as another character, or puts one in front after another step";
            UnsupportedStage::pre_tokenizer(pre_tokenizer, why)
        })?;
        Ok(Self {
            splitter,
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
    }
}

impl Compiled for CachedPieces {
    fn encode(
        &self,
        stages: &Stages,
        stretch: Stretch<'_>,
        limit: &Rc<LengthLimit>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut before_model = stages.before_model();
        if stretch.is_normalized {
            before_model.normalizer = None;
        }
        let mut workspace = self.pool.take();
        let FallbackWorkspace {
            scanner,
            lookup,
            work,
        } = &mut *workspace;
        let ChunkWorkspace {
            words,
            tokens: room,
            ..
        } = lookup;
        let mut call = PiecesCall {
            splitter: &self.splitter,
            fallback: Fallback::new(&stages.model, &self.tables, work, words),
            printable: self.splitter.printable.then(String::new),
        };
        let cut = |text| self.splitter.cut(scanner, text);
        let (text, pieces) = before_model.pieces_by(stretch.text, limit, cut)?;
        let mut sink = BufferedSink::new(room, sink);
        tokens_of(&mut call, &text, &pieces, &mut sink)
    }

    fn split_point(&self, stages: &Stages, text: &str, start: usize, reach: usize) -> usize {
        let normalizer = (stages.normalizer.as_ref()).filter(|it| !it.changes_nothing());
        if normalizer.is_none_or(|it| it.facts().keeps_words_apart) {
            self.splitter.split_point(normalizer, text, start, reach)
        } else {
            text.len()
        }
    }

    fn spanning(&self) -> Spanning {
        Spanning::Pieces
    }

    fn may_be_normalized(&self) -> bool {
        true
    }
}

/// One text on its way.
struct PiecesCall<'c> {
    splitter: &'c AnySplitter,
    fallback: Fallback<'c>,
    /// Room for a piece in GPT-2's printable characters, if the model sees those.
    printable: Option<String>,
}

impl PiecesCall<'_> {
    /// Appends the tokens of a piece that no stage splits any more to those of the word.
    fn add(&mut self, piece: &str) -> Result<()> {
        let seen = match &mut self.printable {
            Some(printable) => {
                printable.clear();
                printable.extend(piece.chars().flat_map(printable::of_character));
                printable
            }
            None => piece,
        };
        self.fallback.add(seen.as_bytes())
    }
}

impl NewChunks for PiecesCall<'_> {
    #[inline(always)]
    fn words(&self) -> &WordCache {
        self.fallback.words
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_>,
    ) -> Result<usize> {
        let word = &text[start..end];
        if word.len() > LONG && self.fallback.words.emit(word.as_bytes(), sink) {
            return Ok(end);
        }
        self.fallback.begin();
        if self.splitter.cuts_words() {
            let (text, pieces) = self.splitter.cut_word(word)?;
            pieces.into_iter().try_for_each(|it| self.add(&text[it]))?;
        } else {
            self.add(word)?;
        }
        sink.push_all(self.fallback.ids());
        self.fallback.remember(word.as_bytes());
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use jeton_models::model::{Model, WordLevel};
    use jeton_stages::normalizer::Normalizer;
    use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior};
    use jeton_stages::vocab::Vocab;

    #[test]
    fn pieces_are_normalized_before_they_are_looked_up() {
        let entries = ["[UNK]", "room ", "101", "."];
        let vocab = Vocab::new(entries.into_iter().zip(0..)).unwrap();
        let mut stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "[UNK]")));
        stages.normalizer = Some(Normalizer::Lowercase);
        let punctuation = PreTokenizer::Punctuation {
            behavior: SplitBehavior::Isolated,
        };
        let digits = PreTokenizer::Digits {
            individual_digits: false,
        };
        stages.pre_tokenizer = Some(PreTokenizer::Sequence(vec![punctuation, digits]));
        let cached = CachedPieces::new(&stages).unwrap();
        let mut ids = Vec::new();
        let limit = Rc::new(LengthLimit::of(9));
        let mut stretch = Stretch::whole("Room 101.", Place::First);
        cached.encode(&stages, stretch, &limit, &mut ids).unwrap();
        stretch.text = "ROOM 101!";
        cached.encode(&stages, stretch, &limit, &mut ids).unwrap();
        assert_eq!(ids, [1, 2, 3, 1, 2, 0]);
        ids.clear();
        stretch.text = "Room 101.";
        stretch.is_normalized = true;
        cached.encode(&stages, stretch, &limit, &mut ids).unwrap();
        assert_eq!(ids, [0, 2, 3]);
    }

    #[test]
    fn what_only_the_stages_know() {
        let vocab = || Vocab::new([("[UNK]", 0)]).unwrap();
        let mut stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab(), "[UNK]")));
        assert!(CachedPieces::new(&stages).is_err());
        let bytes = |add_prefix_space, printable| PreTokenizer::ByteLevel {
            add_prefix_space,
            trim_offsets: true,
            use_regex: true,
            printable,
        };
        let (plain, written) = (bytes(false, false), bytes(false, true));
        for (parts, is_known) in [
            (vec![bytes(true, true)], true),
            (vec![PreTokenizer::Bert, written.clone()], true),
            (vec![written, plain.clone()], true),
            (vec![plain, bytes(true, false)], false),
            (vec![], false),
        ] {
            stages.pre_tokenizer = Some(PreTokenizer::Sequence(parts));
            assert_eq!(CachedPieces::new(&stages).is_ok(), is_known, "{stages:?}");
        }
    }

    #[test]
    fn a_warm_cache_outlives_an_error() {
        let vocab = Vocab::new([("known", 0)]).unwrap();
        let mut stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "[UNK]")));
        stages.pre_tokenizer = Some(PreTokenizer::CharDelimiterSplit { delimiter: ',' });
        let compiled = CachedPieces::new(&stages).unwrap();
        let limit = Rc::new(LengthLimit::of(13));
        let mut ids = Vec::new();
        let stretch = Stretch::whole("known,unknown", Place::First);
        let done = compiled.encode(&stages, stretch, &limit, &mut ids);
        assert!(done.is_err());
        let workspace = compiled.pool.take_kept().unwrap();
        assert!(workspace.lookup.words.emit(b"known", &mut Vec::new()));
    }
}
