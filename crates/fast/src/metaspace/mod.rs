//! The strategy for a `tokenizer.json` that writes spaces as `▁`, as SentencePiece does: text is split
//! before spaces into chunks, each is looked up in the word cache, and only new ones go through the stages.
//!
//! Look here for which normalizers, pre-tokenizers and models are accepted, and for why a chunk's tokens
//! do not depend on its neighbours. Llama 2's, Gemma's, T5's and XLM-R's files get this strategy.

mod accepted;

use crate::Place;
use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup;
use crate::cache::lookup::{NewChunks, tokens};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::{Fallback, FallbackWorkspace, ModelTables, PlainWords};
use crate::sink::Sink;
use crate::unsupported_stage::{UnsupportedStage, caches_words};
use accepted::{
    joins_next, keeps_in_proportion, lines_stand_alone, merges_nothing_across_cuts,
    only_marks_spaces, plain,
};
use jeton_models::model::Model;
use jeton_models::stages::{BeforeModel, Stages};
use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::{Delimiters, split_point};
use jeton_stages::split::split_points::SplitPoints;
use jeton_stages::vocab::Vocab;
use jeton_text::error::Result;
use jeton_text::interrupt::{self, Pace};
use jeton_text::mem::lazy::Lazy;
use jeton_text::mem::short_keys::{LONG, SHORT};
use jeton_text::text::AlignedText;

/// A tokenizer that sees a text as words with the spaces before them.
#[derive(Debug)]
pub struct Metaspace {
    delimiters: Delimiters,
    /// What is done to the first chunk of a text, to the first after an added token, and to others.
    first: Chain,
    section: Chain,
    inner: Chain,
    /// Where long chunks are split, made when the first one comes; none if the stages change more of
    /// a chunk than its spaces, or if its parts would not be what they are alone.
    split_points: Option<Lazy<SplitPoints>>,
    tables: ModelTables,
    pool: WorkspacePool<FallbackWorkspace>,
}

/// The stages in front of the model, for a chunk at some place.
#[derive(Clone, Debug)]
struct Chain {
    normalizers: Vec<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    /// White space at the ends of a text is removed.
    strips: bool,
    /// The words that a space and printable ASCII become, if that is known.
    plain: Option<PlainWords>,
}

impl Metaspace {
    /// The compiled form of these stages, if text may be split before spaces and if what a chunk
    /// becomes does not depend on other chunks.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn new(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        let steps = stages.normalizer.as_ref().map(Normalizer::steps);
        let normalizers: Vec<_> = steps.into_iter().flatten().cloned().collect();
        if let Some(step) = normalizers.iter().find(|it| !it.facts().keeps_chunks_apart) {
            let why = "may change a chunk depending on text beyond the space before it";
            return Err(UnsupportedStage::normalizer(Some(step), why));
        }
        if !keeps_in_proportion(&normalizers) {
            let why = "may make a text many times longer";
            return Err(UnsupportedStage::normalizer(
                stages.normalizer.as_ref(),
                why,
            ));
        }
        let mut steps = normalizers.iter().skip_while(|it| !it.facts().writes_marks);
        if let Some(step) = steps.find(|it| it.facts().sees_clusters) {
            let why = "may know the ▁ that an earlier step writes";
            return Err(UnsupportedStage::normalizer(Some(step), why));
        }
        let cut = stages.pre_tokenizer.as_ref();
        let writes_spaces = normalizers.last().is_some_and(Normalizer::marks_spaces);
        let marking = cut.and_then(PreTokenizer::space_marking);
        // Where all spaces are written by then, nothing is left to act on.
        let is_idle = writes_spaces && cut.is_none_or(PreTokenizer::acts_only_at_spaces);
        if marking.is_none() && !is_idle {
            let why = match cut {
                Some(_) => "does not split before spaces written as ▁",
                None => "and the normalizer does not write spaces as ▁",
            };
            return Err(UnsupportedStage::pre_tokenizer(cut, why));
        }
        caches_words(stages)?;
        let keeps_apart = marking.as_ref().is_some_and(|it| it.splits)
            || match &stages.model {
                Model::Bpe(bpe) => merges_nothing_across_cuts(bpe),
                _ => false,
            };
        if !keeps_apart {
            let why = "may form a token from a space and the text before it";
            return Err(UnsupportedStage::model(&stages.model, why));
        }
        let strips = normalizers.iter().any(|it| it.facts().strips);
        let first = Chain {
            pre_tokenizer: stages.pre_tokenizer.clone(),
            strips,
            normalizers,
            plain: None,
        };
        let inner_steps = first
            .normalizers
            .iter()
            .filter_map(Normalizer::behind_front);
        let normalizers: Vec<_> = inner_steps.collect();
        let inner = Chain {
            plain: plain(&normalizers, marking.as_ref()),
            normalizers,
            pre_tokenizer: marking.as_ref().map(|it| it.inside.clone()),
            strips,
        };
        let (mut spaces, mut alone) = (vec![b' '..=b' '], Vec::new());
        let lines_part = match &stages.model {
            Model::Bpe(bpe) => {
                lines_stand_alone(bpe)
                    && first
                        .normalizers
                        .iter()
                        .all(|it| it.facts().changes_only_spaces)
            }
            _ => false,
        };
        if lines_part {
            alone.push(b'\n'..=b'\n')
        } else {
            let blanks = [b'\t', b'\n', b'\r'].into_iter();
            spaces.extend(
                blanks
                    .filter(|blank| inner.makes_space(*blank))
                    .map(|blank| blank..=blank),
            );
        }
        Ok(Self {
            delimiters: Delimiters::new(spaces, false, alone),
            split_points: (lines_part && only_marks_spaces(&inner.normalizers, marking.as_ref()))
                .then(Lazy::new),
            section: Chain {
                pre_tokenizer: marking.map(|it| it.behind_tokens),
                ..first.clone()
            },
            first,
            inner,
            tables: ModelTables::new(),
            pool: WorkspacePool::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`.
    ///
    /// # Errors
    /// As the stages.
    pub fn encode(
        &self,
        stages: &Stages,
        text: &str,
        place: Place,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut workspace = self.pool.take();
        let FallbackWorkspace { lookup, work } = &mut *workspace;
        let lookup::ChunkWorkspace {
            chunks,
            words,
            tokens: room,
        } = lookup;
        let mut call = MetaspaceCall {
            compiled: self,
            vocab: stages.model.vocab(),
            words,
            key: Vec::new(),
            gathered: Vec::new(),
            fallback: Fallback::new(&stages.model, &self.tables, work),
        };
        let mut sink = BufferedSink::new(room, sink);
        let start = match place {
            Place::First => call.front(&self.first, 0xFF, text, &mut sink)?,
            Place::Section => call.front(&self.section, 0xFE, text, &mut sink)?,
            Place::Inner => 0,
        };
        tokens(&mut call, &self.delimiters, chunks, text, start, &mut sink)
    }

    /// Whether a byte begins a chunk as a space does.
    pub fn is_space(&self, byte: u8) -> bool {
        self.delimiters.is_space(byte)
    }

    /// Where a part of `text` ends that begins at `start` and has at least `reach` bytes: after a line end that is a chunk by itself, or before a space after something that is not open.
    pub fn split_point(&self, text: &str, start: usize, reach: usize) -> usize {
        let cuts_behind = |byte| self.delimiters.is_alone(byte);
        split_point(text, start, reach, cuts_behind, |space, at| {
            let before = text[..space].chars().next_back();
            let mut new = AlignedText::original(&text[space..at]);
            (space == start || before.is_none_or(|before| !joins_next(before)))
                && self.inner.normalize(&mut new).is_ok_and(|open| !open)
        })
    }
}

impl Chain {
    /// Whether this character of ASCII becomes what a space becomes, whatever is next to it.
    fn makes_space(&self, blank: u8) -> bool {
        let normalized = |text: String| {
            let mut text = AlignedText::original(&text);
            self.normalize(&mut text).ok()?;
            Some(text.as_str().to_owned())
        };
        let new = normalized(format!("a{}a", char::from(blank)));
        !self.normalizers.iter().any(|it| it.joins(blank))
            && new.is_some()
            && new == normalized("a a".into())
    }

    /// Normalizes a chunk; says whether it is *open*: whether its result and that of the
    /// next chunk may depend on each other.
    ///
    /// # Errors
    /// As the stages.
    fn normalize(&self, text: &mut AlignedText) -> Result<bool> {
        let mut open = self.is_open(text.as_str());
        for normalizer in &self.normalizers {
            if normalizer.facts().sees_clusters {
                open |= text.as_str().chars().next_back().is_some_and(joins_next);
            }
            normalizer.normalize(text)?;
            open |= self.is_open(text.as_str());
        }
        Ok(open)
    }

    /// Whether a space that follows this text may be taken together with it.
    fn is_open(&self, text: &str) -> bool {
        text.chars().next_back().is_none_or(|last| {
            matches!(last, ' ' | SPACE_MARK) || self.strips && last.is_whitespace()
        })
    }
}

/// One text on its way.
struct MetaspaceCall<'c> {
    compiled: &'c Metaspace,
    vocab: &'c Vocab,
    words: &'c mut WordCache,
    /// Room for keys, and for the tokens of a chunk.
    key: Vec<u8>,
    gathered: Vec<u32>,
    fallback: Fallback<'c>,
}

impl<S: Sink> NewChunks<S> for MetaspaceCall<'_> {
    #[inline(always)]
    fn words(&self) -> &WordCache {
        self.words
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut BufferedSink<'_, S>,
    ) -> Result<usize> {
        if let Some(split_points) = &self.compiled.split_points
            && !self.compiled.inner.is_open(&text[start..end])
        {
            self.parts(
                split_points.get(|| SplitPoints::new(self.vocab)),
                text,
                start,
                end,
                sink,
            )?;
            return Ok(end);
        }
        let (longer, whole) = match &self.compiled.inner.plain {
            Some(plain) if self.fallback.plain(plain, &text[start..end])? => (end, true),
            _ => self.through_the_stages(&self.compiled.inner, text, start, end)?,
        };
        sink.push_all(self.fallback.ids());
        if whole {
            let chunk = &text.as_bytes()[start..end];
            self.words.insert(chunk, self.fallback.ids());
        }
        Ok(longer)
    }
}

impl MetaspaceCall<'_> {
    /// A chunk that is not open and of which only the spaces change, part by part.
    fn parts(
        &mut self,
        split_points: &SplitPoints,
        text: &str,
        start: usize,
        end: usize,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let bytes = text.as_bytes();
        let spaces = interrupt::position(&bytes[start..end], |byte| byte != b' ');
        let spaces = spaces.unwrap_or(end - start);
        let (mut part, mut from) = (start, start + spaces);
        let mut cut = false;
        self.gathered.clear();
        let mut pace = Pace::default();
        while part < end {
            pace.step();
            let next = if end - part <= SHORT {
                end
            } else {
                split_points.first_split_point(bytes, from, end)
            };
            let key = &bytes[part..next];
            // That the whole chunk is not known was found out before, if it is no longer than this.
            let is_new = key.len() == end - start && key.len() <= LONG;
            if is_new || !self.words.emit(key, &mut self.gathered) {
                self.fallback.marked(from - part, &text[from..next])?;
                self.gathered.extend_from_slice(self.fallback.ids());
                // A part that ends in a mark is not to be taken for a chunk, whose next may begin in
                // one.
                if !text[part..next].ends_with(SPACE_MARK) {
                    self.words.insert(key, self.fallback.ids());
                }
            }
            cut |= next < end;
            (part, from) = (next, next);
        }
        sink.push_all(&self.gathered);
        if cut && end - start <= LONG {
            self.words.insert(&bytes[start..end], &self.gathered);
        }
        Ok(())
    }

    /// The first chunk; says where it ends. `mark` is no byte of UTF-8 and tells its key from those
    /// of other chunks.
    fn front(
        &mut self,
        chain: &Chain,
        mark: u8,
        text: &str,
        sink: &mut impl Sink,
    ) -> Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        let end = (self.compiled.delimiters).chunk_end(text.as_bytes(), 0);
        self.key.clear();
        self.key.push(mark);
        self.key.extend_from_slice(&text.as_bytes()[..end]);
        if self.words.emit(&self.key, sink) {
            return Ok(end);
        }
        let (longer, whole) = self.through_the_stages(chain, text, 0, end)?;
        sink.push_all(self.fallback.ids());
        if whole {
            self.words.insert(&self.key, self.fallback.ids());
        }
        Ok(longer)
    }

    /// Makes tokens of a chunk, made longer until it is not open; says where it ends, and whether
    /// the chunk as it was has these tokens wherever it is.
    fn through_the_stages(
        &mut self,
        chain: &Chain,
        text: &str,
        start: usize,
        end: usize,
    ) -> Result<(usize, bool)> {
        let delimiters = &self.compiled.delimiters;
        let bytes = text.as_bytes();
        let (mut longer, mut more) = (end, 1);
        let (new, open) = loop {
            let mut new = AlignedText::original(&text[start..longer]);
            let open = chain.normalize(&mut new)?;
            let beside_alone = delimiters.is_alone(bytes[longer - 1])
                || (bytes.get(longer)).is_some_and(|next| delimiters.is_alone(*next));
            if !open || beside_alone || longer == text.len() {
                break (new, open);
            }
            for _ in 0..more {
                longer = delimiters.chunk_end(bytes, longer);
            }
            more *= 2;
        };
        // What is removed in front moves where the text begins.
        let new = new.slice(0..new.as_str().len());
        let before_model = BeforeModel {
            normalizer: None, // It ran above.
            pre_tokenizer: chain.pre_tokenizer.as_ref(),
        };
        self.fallback.pieces(&before_model.pieces(new)?)?;
        // After a run of spaces comes a character that is a chunk by itself, or nothing.
        let ends_there =
            !chain.strips && (bytes[start..end].iter()).all(|byte| delimiters.is_space(*byte));
        let alone = delimiters.is_alone(bytes[start]);
        Ok((longer, longer == end && (!open || ends_there || alone)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::Unigram;
    use jeton_stages::pre_tokenizer::PrependScheme;

    #[test]
    fn worked_example() {
        let pieces = ["<unk>", "▁", "▁to", "▁be", "to", "be"].map(|piece| (piece, -1.0));
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let mut stages = Stages::of_model(Model::Unigram(model));
        stages.normalizer = Some(Normalizer::Nfkc);
        stages.pre_tokenizer = Some(PreTokenizer::Metaspace {
            replacement: SPACE_MARK,
            prepend_scheme: PrependScheme::First,
            split: true,
        });
        let compiled = Metaspace::new(&stages).unwrap();
        let tokens = |text: &str, place| {
            let mut ids = Vec::new();
            compiled.encode(&stages, text, place, &mut ids).unwrap();
            ids
        };
        // U+3000 becomes a space, so the chunk before `·be` is open.
        assert_eq!(tokens("to\u{3000} be", Place::First), [2, 1, 3]);
        assert_eq!(tokens("to be", Place::Section), [4, 3]);
        assert_eq!(
            compiled.split_point("to\u{3000} be to", 0, 1),
            "to\u{3000} be".len()
        );
    }

    #[test]
    fn a_warm_cache_outlives_an_error() {
        let vocab = Vocab::new([("▁known", 0)]).unwrap();
        let model = jeton_models::model::WordLevel::new(vocab, "[UNK]");
        let mut stages = Stages::of_model(Model::WordLevel(model));
        stages.pre_tokenizer = Some(PreTokenizer::Metaspace {
            replacement: SPACE_MARK,
            prepend_scheme: PrependScheme::Always,
            split: true,
        });
        let compiled = Metaspace::new(&stages).unwrap();
        let mut ids = Vec::new();
        let done = compiled.encode(&stages, "known known unknown", Place::First, &mut ids);
        assert!(done.is_err());
        let workspace = compiled.pool.take_kept().unwrap();
        assert!(workspace.lookup.words.emit(b" known", &mut Vec::new()));
    }
}
