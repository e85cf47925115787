//! The strategy of words: text is split at spaces, each chunk is looked up in the word cache as it is written,
//! and only new ones go through the stages.
//!
//! Look here for what is done with a chunk. There are two kinds, which differ in where text is split and in
//! what of it is a key of the cache: in `marked`, chunks keep their spaces, so the first of a text is another
//! one than it would be elsewhere, and an open end joins the next chunk; in `between_spaces`, spaces are dropped.

mod accepted;
mod between_spaces;
mod marked;

use crate::Place;
use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::{ChunkWorkspace, NewChunks, tokens};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::WorkspacePool;
use crate::fallback::character_table::{CharacterTable, CutWord};
use crate::fallback::{Fallback, FallbackWorkspace, ModelTables, PlainWords};
use crate::sink::Sink;
use accepted::joins_next;
use between_spaces::LoneCharacters;
use jeton_models::stages::{BeforeModel, Stages};
use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::{Delimiters, split_point};
use jeton_stages::split::split_points::SplitPoints;
use jeton_text::error::Result;
use jeton_text::interrupt::{self, Pace};
use jeton_text::mem::lazy::Lazy;
use jeton_text::mem::short_keys::{LONG, SHORT};
use jeton_text::text::AlignedText;

/// A tokenizer that sees a text as words, with the spaces before them or without spaces.
#[derive(Debug)]
pub struct Words {
    delimiters: Delimiters,
    /// What is done to the first chunk of a text, and to the first after an added token, if that is something
    /// else than what is done to other chunks.
    fronts: Option<[Chain; 2]>,
    inner: Chain,
    parts: Parts,
    tables: ModelTables,
    pool: WorkspacePool<FallbackWorkspace>,
}

/// Where long chunks are split.
#[derive(Debug)]
enum Parts {
    /// The stages change more of a chunk than its spaces, or its parts would not be what they are alone.
    Nowhere,
    /// Where no token spans; found when the first long chunk comes.
    BetweenCharacters(Lazy<SplitPoints>),
    AroundLone(LoneCharacters),
}

/// The stages in front of the model, for a chunk at some place.
#[derive(Debug)]
struct Chain {
    normalizers: Vec<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    /// The end of a chunk may belong together with the next one.
    opens: bool,
    /// White space at the ends of a text is removed.
    strips: bool,
    /// The words that printable ASCII becomes, if that is known.
    plain: Option<PlainWords>,
    /// What becomes of other words, if that is known character by character.
    characters: Option<CharacterTable>,
}

impl Words {
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
        let FallbackWorkspace { lookup, work, .. } = &mut *workspace;
        let ChunkWorkspace {
            chunks,
            words,
            tokens: room,
        } = lookup;
        let mut call = WordsCall {
            compiled: self,
            stages,
            words,
            key: Vec::new(),
            gathered: Vec::new(),
            cut: CutWord::default(),
            fallback: Fallback::new(&stages.model, &self.tables, work),
        };
        let mut sink = BufferedSink::new(room, sink);
        // No bytes of UTF-8 tell the keys of first chunks from those of others.
        let start = match (&self.fronts, place) {
            (Some([first, _]), Place::First) => call.front(first, 0xFF, text, &mut sink)?,
            (Some([_, section]), Place::Section) => call.front(section, 0xFE, text, &mut sink)?,
            _ => 0,
        };
        tokens(&mut call, &self.delimiters, chunks, text, start, &mut sink)
    }

    /// Whether a byte begins a chunk, or lies between chunks, as a space does.
    pub fn is_space(&self, byte: u8) -> bool {
        self.delimiters.is_space(byte)
    }

    /// Whether split points depend only on what comes before them.
    pub fn splits_looking_back(&self) -> bool {
        self.fronts.is_some()
    }

    /// Where a part of `text` ends that begins at `start` and has at least `reach` bytes: before a space that
    /// belongs to no chunk, before one after something that is not open, or after a line end that is a chunk
    /// by itself.
    pub fn split_point(&self, text: &str, start: usize, reach: usize) -> usize {
        if self.fronts.is_none() {
            let from = start.saturating_add(reach);
            let rest = text.as_bytes().get(from..).unwrap_or_default();
            let space = interrupt::position(rest, |byte| self.is_space(byte));
            return space.map_or(text.len(), |space| from + space);
        }
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
    /// Normalizes a chunk; says whether it is *open*: whether its result and that of the
    /// next chunk may depend on each other.
    ///
    /// # Errors
    /// As the stages.
    fn normalize(&self, text: &mut AlignedText) -> Result<bool> {
        let mut open = self.is_open(text.as_str());
        for normalizer in &self.normalizers {
            if self.opens && normalizer.facts().sees_clusters {
                open |= text.as_str().chars().next_back().is_some_and(joins_next);
            }
            normalizer.normalize(text)?;
            open |= self.is_open(text.as_str());
        }
        Ok(open)
    }

    /// Whether a space that follows this text may be taken together with it.
    fn is_open(&self, text: &str) -> bool {
        let joins =
            |last: char| matches!(last, ' ' | SPACE_MARK) || self.strips && last.is_whitespace();
        self.opens && text.chars().next_back().is_none_or(joins)
    }
}

/// One text on its way.
struct WordsCall<'c> {
    compiled: &'c Words,
    stages: &'c Stages,
    words: &'c mut WordCache,
    /// Room for keys, for the tokens of a chunk, and for its characters.
    key: Vec<u8>,
    gathered: Vec<u32>,
    cut: CutWord,
    fallback: Fallback<'c>,
}

impl<S: Sink> NewChunks<S> for WordsCall<'_> {
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
        let Words { inner, parts, .. } = self.compiled;
        let chunk = &text[start..end];
        let is_split = match parts {
            Parts::Nowhere => false,
            Parts::BetweenCharacters(_) => !inner.is_open(chunk),
            Parts::AroundLone(_) => end - start > SHORT,
        };
        if is_split {
            self.parts(text, start, end, sink)?;
            return Ok(end);
        }
        let (longer, whole) = self.new_chunk(inner, text, start, end)?;
        sink.push_all(self.fallback.ids());
        if whole {
            self.words.insert(chunk.as_bytes(), self.fallback.ids());
        }
        Ok(longer)
    }
}

impl WordsCall<'_> {
    /// A chunk that is not open, part by part if it is long.
    fn parts(&mut self, text: &str, start: usize, end: usize, sink: &mut impl Sink) -> Result<()> {
        let Words { inner, parts, .. } = self.compiled;
        let bytes = text.as_bytes();
        let spaces = interrupt::position(&bytes[start..end], |byte| byte != b' ');
        let (mut part, mut from) = (start, start + spaces.unwrap_or(end - start));
        self.gathered.clear();
        let mut is_whole = true;
        let mut pace = Pace::default();
        while part < end {
            pace.step();
            let next = match parts {
                _ if end - part <= SHORT => end,
                Parts::Nowhere => end,
                Parts::BetweenCharacters(split_points) => split_points
                    .get(|| SplitPoints::new(self.stages.model.vocab()))
                    .first_split_point(bytes, from, end),
                Parts::AroundLone(lone) => lone.word_end(bytes, part, end),
            };
            let key = &bytes[part..next];
            // That the whole chunk is not known was found out before, if it is no longer than this.
            let is_new = key.len() == end - start && key.len() <= LONG;
            if is_new || !self.words.emit(key, &mut self.gathered) {
                if matches!(parts, Parts::BetweenCharacters(_)) {
                    self.fallback.marked(from - part, &text[from..next])?;
                } else {
                    self.new_chunk(inner, text, part, next)?;
                }
                self.gathered.extend_from_slice(self.fallback.ids());
                // A part that ends in a mark is not to be taken for a chunk, whose next may begin in
                // one.
                if !text[part..next].ends_with(SPACE_MARK) {
                    self.words.insert(key, self.fallback.ids());
                }
            }
            is_whole &= next == end;
            (part, from) = (next, next);
        }
        sink.push_all(&self.gathered);
        if !is_whole && end - start <= LONG {
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
        let (longer, whole) = self.new_chunk(chain, text, 0, end)?;
        sink.push_all(self.fallback.ids());
        if whole {
            self.words.insert(&self.key, self.fallback.ids());
        }
        Ok(longer)
    }

    /// Makes tokens of a chunk, made longer until it is not open; says where it ends, and whether
    /// the chunk as it was has these tokens wherever it is.
    fn new_chunk(
        &mut self,
        chain: &Chain,
        text: &str,
        start: usize,
        end: usize,
    ) -> Result<(usize, bool)> {
        let chunk = &text[start..end];
        if let Some(plain) = &chain.plain
            && self.fallback.plain(plain, chunk)?
        {
            return Ok((end, true));
        }
        if let Some(characters) = &chain.characters
            && characters.cut(self.stages, chunk, &mut self.cut)
        {
            self.fallback.cut(&self.cut)?;
            return Ok((end, true));
        }
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
    use jeton_models::model::{Model, Unigram, WordLevel};
    use jeton_stages::pre_tokenizer::PrependScheme;
    use jeton_stages::split::delimiters::Chunks;
    use jeton_stages::vocab::Vocab;

    fn metaspace(prepend_scheme: PrependScheme) -> PreTokenizer {
        PreTokenizer::Metaspace {
            replacement: SPACE_MARK,
            prepend_scheme,
            split: true,
        }
    }

    fn word_level(token: &str) -> Stages {
        let vocab = Vocab::new([(token, 0)]).unwrap();
        Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "[UNK]")))
    }

    #[test]
    fn an_open_chunk_is_read_with_the_next() {
        let pieces = ["<unk>", "▁", "▁to", "▁be", "to", "be"].map(|piece| (piece, -1.0));
        let model = Unigram::new(pieces, Some(0), false).unwrap();
        let mut stages = Stages::of_model(Model::Unigram(model));
        stages.normalizer = Some(Normalizer::Nfkc);
        stages.pre_tokenizer = Some(metaspace(PrependScheme::First));
        let compiled = Words::marked(&stages).unwrap();
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
    fn words_are_split_at_spaces_and_lone_characters() {
        let mut stages = word_level("[UNK]");
        stages.normalizer = Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: true,
        });
        stages.pre_tokenizer = Some(PreTokenizer::Bert);
        let compiled = Words::between_spaces(&stages).unwrap();
        let text = "Wörter, 漢字!";
        let mut words = Vec::new();
        let visit = |starts: &[usize], ends: &[usize]| -> Result<()> {
            let found = starts.iter().zip(ends);
            words.extend(found.map(|(&start, &end)| &text[start..end]));
            Ok(())
        };
        let mut chunks = Chunks::default();
        compiled
            .delimiters
            .chunks(text.as_bytes(), 0, &mut chunks, visit)
            .unwrap();
        assert_eq!(words, ["Wörter", ",", "漢字", "!"]);
        for text in [text, "漢字,Wörter漢字漢字漢字"] {
            let mut ids = Vec::new();
            compiled
                .encode(&stages, text, Place::First, &mut ids)
                .unwrap();
            let words = if text.ends_with('!') { 5 } else { 10 };
            assert_eq!(ids, vec![0; words]);
        }
    }

    #[test]
    fn a_warm_cache_outlives_an_error() {
        let mut stages = word_level("▁known");
        stages.pre_tokenizer = Some(metaspace(PrependScheme::Always));
        let marked = Words::marked(&stages).unwrap();
        let mut other = word_level("known");
        other.pre_tokenizer = Some(PreTokenizer::WhitespaceSplit);
        let between_spaces = Words::between_spaces(&other).unwrap();
        for (stages, compiled, key) in [
            (&stages, marked, " known"),
            (&other, between_spaces, "known"),
        ] {
            let mut ids = Vec::new();
            let done = compiled.encode(stages, "known known unknown", Place::First, &mut ids);
            assert!(done.is_err());
            let workspace = compiled.pool.take_kept().unwrap();
            assert!(workspace.lookup.words.emit(key.as_bytes(), &mut Vec::new()));
        }
    }
}
