//! Byte-level BPE, compiled: text is cut by a scanner, a piece is looked up among those met before,
//! and only a new one is merged.

use std::hash::BuildHasher;
use std::sync::Mutex;

use foldhash::fast::RandomState;

use super::cuts::Cuts;
use super::merges::{Merges, SCANNED};
use super::scanner::Scanner;
use super::sink::Sink;
use super::splitter::Splitter;
use super::words::{LONG, SHORT, ShortKey, Slot, WordCache};
use crate::error::Result;
use crate::model::bpe::Alphabet;
use crate::model::{Bpe, Sampler, Sampling};
use crate::pre_tokenizer::PreTokenizer;

/// How many pieces are looked up together, so that their memory is fetched at the same time.
const GROUP: usize = 32;

/// A byte-level BPE, compiled.
pub struct ByteLevel {
    splitter: Splitter,
    merges: Merges,
    /// Whether a piece that is a token as a whole is that token at once.
    whole: bool,
    /// Where long pieces may be cut, if a part's tokens are always those its merges make.
    cuts: Option<Cuts>,
    /// Working space of calls that have ended, for calls to come.
    spare: Mutex<Vec<Workspace>>,
}

/// What one call works with: a scanner's masks and a word cache.
struct Workspace {
    scanner: Scanner,
    words: WordCache,
}

impl ByteLevel {
    /// The compiled form of these stages, if the path knows all of them.
    pub fn new(pre_tokenizer: Option<&PreTokenizer>, bpe: &Bpe) -> Option<Self> {
        let options = bpe.options();
        if options.alphabet != Alphabet::Bytes
            || options.dropout.is_some()
            || options.continuing_subword_prefix.is_some()
            || options.end_of_word_suffix.is_some()
        {
            return None;
        }
        Some(Self {
            splitter: Splitter::of(pre_tokenizer?)?,
            merges: Merges::new(bpe)?,
            whole: bpe.takes_whole_pieces(),
            cuts: bpe.merges_make_all_tokens().then(|| Cuts::new(bpe.vocab())),
            spare: Mutex::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    pub fn encode(&self, bpe: &Bpe, text: &str, sink: &mut impl Sink) -> Result<()> {
        // A fork may have happened while another thread held the lock: never wait for it.
        let spare = self.spare.try_lock().ok().and_then(|mut spare| spare.pop());
        let mut workspace = spare.unwrap_or_else(|| Workspace {
            scanner: Scanner::default(),
            words: WordCache::new(RandomState::default().hash_one(0)),
        });
        let Workspace { scanner, words } = &mut workspace;
        let mut pieces = Pieces {
            compiled: self,
            bpe,
            text: text.as_bytes(),
            words,
            starts: [0; GROUP + 1],
            count: 0,
        };
        self.splitter.split(scanner, text, |offset, length, bits| {
            pieces.stretch(offset, length, bits, sink);
        })?;
        if let Ok(mut spare) = self.spare.try_lock() {
            spare.push(workspace);
        }
        Ok(())
    }
}

impl std::fmt::Debug for ByteLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteLevel")
            .field("splitter", &self.splitter)
            .field("cuts", &self.cuts.is_some())
            .finish_non_exhaustive()
    }
}

/// The pieces of a text as they are found, a group at a time.
struct Pieces<'c> {
    compiled: &'c ByteLevel,
    bpe: &'c Bpe,
    text: &'c [u8],
    words: &'c mut WordCache,
    starts: [usize; GROUP + 1],
    count: usize,
}

impl Pieces<'_> {
    fn stretch(&mut self, offset: usize, length: usize, bits: &[u64], sink: &mut impl Sink) {
        for (i, &word) in bits.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                self.starts[self.count] = offset + i * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.count += 1;
                if self.count == GROUP + 1 {
                    self.group(sink);
                    self.starts[0] = self.starts[GROUP];
                    self.count = 1;
                }
            }
        }
        self.starts[self.count] = offset + length;
        self.group(sink);
        self.count = 0;
    }

    /// Tokens of the pieces between `starts[0]`, `starts[1]`, … `starts[count]`.
    fn group(&mut self, sink: &mut impl Sink) {
        let pieces = self.count.min(GROUP);
        let mut keys = [(ShortKey::EMPTY, Slot::NONE); GROUP];
        for (i, prepared) in keys[..pieces].iter_mut().enumerate() {
            let (start, end) = (self.starts[i], self.starts[i + 1]);
            if end - start <= SHORT {
                let key = ShortKey::new(self.text, start, end - start);
                *prepared = (key, self.words.prefetch_short(key));
            }
        }
        for (i, &(key, slot)) in keys[..pieces].iter().enumerate() {
            let (start, end) = (self.starts[i], self.starts[i + 1]);
            if end - start > SHORT {
                self.long(start, end, sink);
            } else if !self.words.emit_short(key, slot, sink) {
                self.short(start, end, key, sink);
            }
        }
    }

    #[cold]
    fn short(&mut self, start: usize, end: usize, key: ShortKey, sink: &mut impl Sink) {
        let piece = &self.text[start..end];
        // The table may have grown since the look-up was prepared.
        let slot = self.words.prefetch_short(key);
        if self.words.emit_short(key, slot, sink) || self.words.emit(piece, sink) {
            return;
        }
        let mut space = [0; SCANNED];
        let ids = self.tokens(piece, &mut space);
        sink.push_all(ids);
        if !self.words.insert_short(key, ids) {
            self.words.insert(piece, ids);
        }
    }

    #[inline(never)]
    fn long(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        let text = self.text;
        let piece = &text[start..end];
        if piece.len() <= LONG && self.words.emit(piece, sink) {
            return;
        }
        if let Some(cuts) = &self.compiled.cuts {
            let mut part = start;
            let mut next = cuts.part_end(text, part, end);
            if next < end {
                if self.whole_token(piece, sink) {
                    return;
                }
                loop {
                    self.part(part, next, sink);
                    part = next;
                    if part == end {
                        return;
                    }
                    next = cuts.part_end(text, part, end);
                }
            }
        }
        if piece.len() > LONG && self.words.emit(piece, sink) {
            return;
        }
        self.merged(piece, sink);
    }

    /// A part of a piece, which is merged by itself.
    fn part(&mut self, start: usize, end: usize, sink: &mut impl Sink) {
        let part = &self.text[start..end];
        if part.len() > SHORT {
            if !self.words.emit(part, sink) {
                self.merged(part, sink);
            }
            return;
        }
        let key = ShortKey::new(self.text, start, end - start);
        let slot = self.words.prefetch_short(key);
        if !self.words.emit_short(key, slot, sink) {
            self.short(start, end, key, sink);
        }
    }

    /// Merges a piece that is new, and remembers it.
    fn merged(&mut self, piece: &[u8], sink: &mut impl Sink) {
        if piece.len() <= SCANNED {
            let mut space = [0; SCANNED];
            let ids = self.tokens(piece, &mut space);
            sink.push_all(ids);
            self.words.insert(piece, ids);
            return;
        }
        let mut tokens = Vec::new();
        let mut sampler = Sampler::new(Sampling::default());
        if self
            .bpe
            .tokenize_bytes(piece, &mut sampler, &mut tokens)
            .is_ok()
        {
            let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
            sink.push_all(&ids);
            self.words.insert(piece, &ids);
        }
    }

    fn whole_token(&self, piece: &[u8], sink: &mut impl Sink) -> bool {
        let id = self
            .compiled
            .whole
            .then(|| self.bpe.vocab().id(piece))
            .flatten();
        sink.push_all(id.as_slice());
        id.is_some()
    }

    fn tokens<'s>(&self, piece: &[u8], space: &'s mut [u32; SCANNED]) -> &'s [u32] {
        if self.compiled.whole
            && let Some(id) = self.bpe.vocab().id(piece)
        {
            space[0] = id;
            return &space[..1];
        }
        self.compiled.merges.merge(piece, space)
    }
}
