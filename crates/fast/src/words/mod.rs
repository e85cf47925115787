//! The strategy of words: text is split at spaces, each chunk is looked up in the word cache as it is written,
//! and only new ones go through the stages.
//!
//! Look here for what is done with a chunk. There are two kinds, which differ in where text is split and in
//! what of it is a key of the cache: in `marked`, chunks keep their spaces, so the first of a text is another
//! one than it would be elsewhere, and an open end joins the next chunk; in `between_spaces`, spaces are dropped.

mod accepted;
mod between_spaces;
mod marked;

use std::rc::Rc;

use crate::cache::buffered_sink::BufferedSink;
use crate::cache::lookup::{ChunkWorkspace, NewChunks, tokens};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::WorkspacePool;
use crate::compiled::Compiled;
use crate::fallback::character_table::{CharacterTable, CutWord};
use crate::fallback::{Fallback, FallbackWorkspace, ModelTables, PlainWords};
use crate::sink::Sink;
use crate::{Place, Spanning, Stretch};
use accepted::joins_next;
use jeton_models::stages::{BeforeModel, Stages};
use jeton_stages::normalizer::{Normalizer, SPACE_MARK};
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::split::delimiters::{Delimiters, split_point};
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::short_keys::LONG;
use jeton_text::text::AlignedText;

/// A tokenizer that sees a text as words, with the spaces before them or without spaces.
#[derive(Debug)]
pub struct Words {
    delimiters: Delimiters,
    /// What is done to the first chunk of a text, and to the first after an added token, if that is something
    /// else than what is done to other chunks.
    fronts: Option<[Chain; 2]>,
    inner: Chain,
    tables: ModelTables,
    pool: WorkspacePool<FallbackWorkspace>,
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
    /// All that happens to a chunk is that each space becomes `▁`.
    only_marks: bool,
    /// The words that printable ASCII becomes, if that is known.
    plain: Option<PlainWords>,
    /// What becomes of other words, if that is known character by character.
    characters: Option<CharacterTable>,
}

impl Compiled for Words {
    fn encode(
        &self,
        stages: &Stages,
        stretch: Stretch<'_>,
        _: &Rc<LengthLimit>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let Stretch { text, place, .. } = stretch;
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
            key: Vec::new(),
            cut: CutWord::default(),
            fallback: Fallback::new(&stages.model, &self.tables, work, words),
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

    fn spanning(&self) -> Spanning {
        Spanning::Chunks
    }

    fn is_space(&self, byte: u8) -> bool {
        self.delimiters.is_space(byte)
    }

    fn splits_looking_back(&self) -> bool {
        self.fronts.is_some()
    }

    /// Before a space that belongs to no chunk, before one after something that is not open, or after a line end
    /// that is a chunk by itself.
    fn split_point(&self, _: &Stages, text: &str, start: usize, reach: usize) -> usize {
        if self.fronts.is_none() {
            let from = start.saturating_add(reach);
            let rest = text.as_bytes().get(from..).unwrap_or_default();
            let space = rest.iter().position(|&byte| self.is_space(byte));
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
    /// Room for keys, and for the characters of a chunk.
    key: Vec<u8>,
    cut: CutWord,
    fallback: Fallback<'c>,
}

impl NewChunks for WordsCall<'_> {
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
        let (longer, whole) = self.new_chunk(&self.compiled.inner, text, start, end)?;
        sink.push_all(self.fallback.ids());
        if whole && end - start <= LONG {
            (self.fallback).remember(&text.as_bytes()[start..end]);
        }
        Ok(longer)
    }
}

impl WordsCall<'_> {
    /// The first chunk; says where it ends. `mark` is no byte of UTF-8 and tells its key from those
    /// of other chunks.
    fn front(
        &mut self,
        chain: &Chain,
        mark: u8,
        text: &str,
        sink: &mut BufferedSink<'_>,
    ) -> Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        let end = (self.compiled.delimiters).chunk_end(text.as_bytes(), 0);
        self.key.clear();
        self.key.push(mark);
        self.key.extend_from_slice(&text.as_bytes()[..end]);
        if self.fallback.words.emit(&self.key, sink) {
            return Ok(end);
        }
        let (longer, whole) = self.new_chunk(chain, text, 0, end)?;
        sink.push_all(self.fallback.ids());
        if whole {
            self.fallback.remember(&self.key);
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
        if chain.only_marks && !chain.is_open(chunk) {
            self.fallback.marked(chunk)?;
            return Ok((end, true));
        }
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

    fn encode(
        compiled: &Words,
        stages: &Stages,
        text: &str,
        place: Place,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let limit = Rc::new(LengthLimit::of(text.len()));
        compiled.encode(stages, Stretch::whole(text, place), &limit, ids)
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
            encode(&compiled, &stages, text, place, &mut ids).unwrap();
            ids
        };
        // U+3000 becomes a space, so the chunk before `·be` is open.
        assert_eq!(tokens("to\u{3000} be", Place::First), [2, 1, 3]);
        assert_eq!(tokens("to be", Place::Section), [4, 3]);
        assert_eq!(
            compiled.split_point(&stages, "to\u{3000} be to", 0, 1),
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
            encode(&compiled, &stages, text, Place::First, &mut ids).unwrap();
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
            let done = encode(
                &compiled,
                stages,
                "known known unknown",
                Place::First,
                &mut ids,
            );
            assert!(done.is_err());
            let workspace = compiled.pool.take_kept().unwrap();
            assert!(workspace.lookup.words.emit(key.as_bytes(), &mut Vec::new()));
        }
    }
}
