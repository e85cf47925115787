//! Byte-level BPE, compiled: text is cut by a scanner, a piece is looked up among those met before,
//! and only a new one is merged.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::cuts::Cuts;
use super::merges::{Merges, SCANNED, Work};
use super::scanner::Scanner;
use super::sink::Sink;
use super::spare::Spare;
use super::splitter::Splitter;
use super::starts::places;
use super::waiting::{MOST_WAITING, Waiting};
use super::words::{LONG, LongKey, SHORT, ShortKey, WordCache};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Bpe;
use crate::model::bpe::Alphabet;
use crate::pre_tokenizer::PreTokenizer;

/// How many pieces are looked up together, so that their memory is fetched at the same time.
const GROUP: usize = 32;

/// A byte-level BPE, compiled.
pub struct ByteLevel {
    splitter: Splitter,
    merges: Merges,
    /// Whether a piece that is a token as a whole is that token at once, though its merges make
    /// something else.
    whole: bool,
    /// Where long pieces may be cut, if a part's tokens are always those its merges make.
    cuts: Option<Cuts>,
    /// Working space of calls that have ended, for calls to come.
    spare: Spare<Workspace>,
}

/// What one call works with: a scanner's masks, the places that they stand for, and a word cache.
struct Workspace {
    scanner: Scanner,
    bounds: Vec<u32>,
    words: WordCache,
    tokens: Box<[u32; MOST_WAITING]>,
    works: Vec<Work>,
}

impl Workspace {
    /// One that has met nothing.
    fn new() -> Box<Self> {
        Box::new(Self {
            scanner: Scanner::default(),
            bounds: Vec::new(),
            words: WordCache::new(RandomState::default().hash_one(0)),
            tokens: Box::new([0; MOST_WAITING]),
            works: vec![Work::NEW; GROUP],
        })
    }
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
            whole: bpe.takes_whole_pieces() && !bpe.merges_make_all_tokens(),
            cuts: bpe.merges_make_all_tokens().then(|| Cuts::new(bpe.vocab())),
            spare: Spare::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`.
    ///
    /// # Errors
    /// A pattern that gave up on this text; more than 4 GiB without a place to cut.
    pub fn encode(&self, bpe: &Bpe, text: &str, sink: &mut impl Sink) -> Result<()> {
        let mut workspace = self.spare.take().unwrap_or_else(Workspace::new);
        let Workspace {
            scanner,
            bounds,
            words,
            tokens,
            works,
        } = &mut *workspace;
        let mut pieces = Pieces {
            compiled: self,
            bpe,
            words,
            works,
            waiting: Waiting::new(tokens),
        };
        let mut too_long = None;
        self.splitter.split(scanner, text, |offset, length, bits| {
            let Ok(end) = u32::try_from(length) else {
                too_long = Some(length);
                return;
            };
            bounds.clear();
            places(bits, 0, bounds);
            bounds.push(end);
            pieces.all(&text.as_bytes()[offset..], bounds, sink);
        })?;
        if let Some(length) = too_long {
            let message = format!("{length} bytes without a place to cut are more than 4 GiB");
            return Err(Error::new(ErrorKind::Encode, message).hint("encode the text in parts"));
        }
        self.spare.put(workspace);
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
    works: &'c mut [Work],
    waiting: Waiting<'c>,
}

impl Pieces<'_> {
    /// Tokens of the pieces of `text` that lie between neighbours in `bounds`.
    fn all(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features that the function is compiled for.
            unsafe { self.all_avx2(text, bounds, sink) };
            return;
        }
        self.all_portable(text, bounds, sink);
    }

    /// The same code, with what newer processors have for shifts and products.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn all_avx2(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        self.all_portable(text, bounds, sink);
    }

    #[inline(always)]
    fn all_portable(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        let mut first = 0;
        while first + 1 < bounds.len() {
            let last = (first + GROUP).min(bounds.len() - 1);
            self.group(text, &bounds[first..=last], sink);
            first = last;
        }
        self.waiting.give(sink);
    }

    #[inline(always)]
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
        for (i, ((pair, &key), &hash)) in bounds.windows(2).zip(&keys).zip(&hashes).enumerate() {
            let (start, end) = (pair[0] as usize, pair[1] as usize);
            if end - start <= SHORT {
                let mut place = self.words.place_short(key, hash);
                if place.is_none() {
                    self.learn(text, &bounds[i..], &keys[i..], &hashes[i..]);
                    place = self.words.place_short(key, hash);
                }
                match place {
                    Some(place) => self.waiting.found(self.words.short(place), sink),
                    None => self.uncut(&text[start..end], sink),
                }
            } else if end - start <= LONG {
                let key = LongKey::new(text, start, end - start);
                let mut place = self.words.place_long(key, hash);
                if place.is_none() {
                    self.learn(text, &bounds[i..], &keys[i..], &hashes[i..]);
                    place = self.words.place_long(key, hash);
                }
                match place {
                    Some(place) => self.waiting.found(self.words.long(place), sink),
                    None => self.uncut(&text[start..end], sink),
                }
            } else {
                self.very_long(text, start, end, sink);
            }
        }
    }

    #[inline(never)]
    fn parts(&mut self, text: &[u8], bounds: &[u32], sink: &mut impl Sink) {
        self.group(text, bounds, sink);
    }

    /// Merges all pieces between `bounds` that are new, and remembers them.
    #[inline(never)]
    fn learn(&mut self, text: &[u8], bounds: &[u32], keys: &[ShortKey], hashes: &[u64]) {
        let mut new = [(0, 0); GROUP];
        let mut count = 0;
        for ((pair, &key), &hash) in bounds.windows(2).zip(keys).zip(hashes) {
            let (start, length) = (pair[0] as usize, (pair[1] - pair[0]) as usize);
            let known = if length <= SHORT {
                self.words.find_short(key, hash).is_some()
            } else if length <= LONG {
                let key = LongKey::new(text, start, length);
                self.words.find_long(key, hash).is_some()
            } else {
                true
            };
            new[count] = (start, start + length);
            count += usize::from(!known);
        }
        let Self {
            compiled,
            words,
            works,
            bpe,
            ..
        } = self;
        let new = &new[..count];
        let pieces = new.iter().map(|&(start, end)| &text[start..end]);
        compiled.merges.merge_together(pieces.clone(), works);
        for (piece, work) in pieces.zip(works.iter_mut()) {
            if words.knows(piece) {
                continue;
            }
            let whole = compiled.whole.then(|| bpe.vocab().id(piece)).flatten();
            words.insert(
                piece,
                whole.as_ref().map_or(work.finish(), std::slice::from_ref),
            );
        }
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
                self.parts(text, &bounds[..=count], sink);
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
        let Self {
            compiled,
            bpe,
            words,
            works,
            ..
        } = self;
        let whole = compiled.whole.then(|| bpe.vocab().id(piece)).flatten();
        let long;
        let ids = match &whole {
            Some(id) => std::slice::from_ref(id),
            None if piece.len() <= SCANNED => compiled.merges.merge(piece, &mut works[0]),
            None => {
                long = compiled.merges.merge_long(piece);
                &long
            }
        };
        sink.push_all(ids);
        words.insert(piece, ids);
    }
}
