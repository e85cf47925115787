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
use super::starts::places;
use super::waiting::{MOST_WAITING, Waiting};
use super::words::{LONG, LongKey, SHORT, ShortKey, WordCache};
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

/// What one call works with: a scanner's masks, the places that they stand for, and a word cache.
struct Workspace {
    scanner: Scanner,
    bounds: Vec<u32>,
    words: WordCache,
    tokens: Box<[u32; MOST_WAITING]>,
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
            bounds: Vec::new(),
            words: WordCache::new(RandomState::default().hash_one(0)),
            tokens: Box::new([0; MOST_WAITING]),
        });
        let Workspace {
            scanner,
            bounds,
            words,
            tokens,
        } = &mut workspace;
        let mut pieces = Pieces {
            compiled: self,
            bpe,
            words,
            waiting: Waiting::new(tokens),
        };
        self.splitter.split(scanner, text, |offset, length, bits| {
            bounds.clear();
            places(bits, 0, bounds);
            bounds.push(length as u32);
            pieces.all(&text.as_bytes()[offset..], bounds, sink);
        })?;
        if let Ok(mut spare) = self.spare.try_lock() {
            spare.push(workspace);
        }
        Ok(())
    }
}

impl ByteLevel {
    /// Where a part of `text` that is encoded by itself ends; see [`Splitter::part_end`].
    pub fn part_end(&self, text: &str, start: usize, reach: usize) -> usize {
        self.splitter.part_end(text, start, reach)
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

/// The pieces of a text, a group at a time.
struct Pieces<'c> {
    compiled: &'c ByteLevel,
    bpe: &'c Bpe,
    words: &'c mut WordCache,
    waiting: Waiting<'c>,
}

impl Pieces<'_> {
    /// Tokens of the pieces of `text` that lie between neighbours in `bounds`.
    fn all(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        let mut first = 0;
        while first + 1 < bounds.len() {
            let last = (first + GROUP).min(bounds.len() - 1);
            self.group(text, &bounds[first..=last], sink);
            first = last;
        }
        self.waiting.give(sink);
    }

    fn group(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        let mut keys = [ShortKey::EMPTY; GROUP];
        let mut hashes = [0; GROUP];
        for ((pair, key), hash) in bounds.windows(2).zip(&mut keys).zip(&mut hashes) {
            let (start, length) = (pair[0] as usize, (pair[1] - pair[0]) as usize);
            if length <= SHORT {
                *key = ShortKey::new(text, start, length);
                *hash = self.words.prefetch_short(*key);
            } else if length <= LONG {
                *hash = self.words.prefetch_long(LongKey::new(text, start, length));
            }
        }
        for ((pair, &key), &hash) in bounds.windows(2).zip(&keys).zip(&hashes) {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if end - start <= SHORT {
                match self.words.find_short(key, hash) {
                    Some(found) => self.waiting.found(found, sink),
                    None => self.new_short(&text[start..end], key, sink),
                }
            } else if end - start <= LONG {
                let key = LongKey::new(text, start, end - start);
                match self.words.find_long(key, hash) {
                    Some(found) => self.waiting.found(found, sink),
                    None => self.new_long(&text[start..end], key, sink),
                }
            } else {
                self.very_long(text, start, end, sink);
            }
        }
    }

    #[inline(never)]
    fn new_short(&mut self, piece: &[u8], key: ShortKey, sink: &mut impl Sink) {
        let mut space = [0; SCANNED];
        let ids = self.tokens(piece, &mut space);
        self.waiting.many(ids, sink);
        self.words.insert_short(key, ids);
    }

    #[inline(never)]
    fn new_long(&mut self, piece: &[u8], key: LongKey, sink: &mut impl Sink) {
        let mut space = [0; SCANNED];
        let ids = self.tokens(piece, &mut space);
        self.waiting.many(ids, sink);
        self.words.insert_long(key, ids);
    }

    /// A piece longer than [`LONG`]: cut where no token spans, else merged as it is.
    #[inline(never)]
    fn very_long(&mut self, text: &[u8], start: usize, end: usize, sink: &mut impl Sink) {
        let Some(cuts) = &self.compiled.cuts else {
            return self.uncut(&text[start..end], sink);
        };
        let mut at = cuts.part_end(text, start, end);
        if at == end {
            return self.uncut(&text[start..end], sink);
        }
        let mut bounds = [start as u32; GROUP + 1];
        let mut count = 1;
        loop {
            bounds[count] = at as u32;
            if at == end || count == GROUP {
                self.group(text, &bounds[..=count], sink);
                bounds[0] = at as u32;
                count = 0;
            }
            if at == end {
                return;
            }
            count += 1;
            at = cuts.part_end(text, at, end);
        }
    }

    /// Merges a piece that is longer than [`LONG`], unless it is known.
    fn uncut(&mut self, piece: &[u8], sink: &mut impl Sink) {
        self.waiting.give(sink);
        if self.words.emit(piece, sink) {
            return;
        }
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
