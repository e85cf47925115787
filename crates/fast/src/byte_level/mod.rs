//! The strategy for byte-level BPE: a scanner splits the text into words, each is looked up in the word cache,
//! and only new ones are merged.

mod accepted;
mod joining;
mod links;
mod long_pieces;
mod whole_piece_tokens;

use std::hash::BuildHasher;
use std::rc::Rc;

use foldhash::fast::RandomState;

use crate::cache::entries::SHORT_IDS;
use crate::cache::group::{GROUP, Group};
use crate::cache::pending::{MAX_NEW, MAX_PENDING, Pending};
use crate::cache::word_cache::WordCache;
use crate::cache::workspace_pool::{Reusable, WorkspacePool};
use crate::compiled::Compiled;
use crate::sink::Sink;
use crate::unsupported_stage::UnsupportedStage;
use crate::{Spanning, Stretch};
use accepted::Accepted;
use jeton_models::merge::merges::{Merges, SCANNED};
use jeton_models::merge::short_word::ShortWord;
use jeton_models::stages::Stages;
use jeton_stages::normalizer::Form;
use jeton_stages::split::scanner::Scanner;
use jeton_stages::split::set_bits::set_bits;
use jeton_stages::split::split_points::SplitPoints;
use jeton_stages::split::splitter::{Splitter, uncut};
use jeton_text::error::Result;
use jeton_text::interrupt::tick;
use jeton_text::length_limit::LengthLimit;
use jeton_text::mem::short_keys::{LONG, ShortKey};
use jeton_text::threads::{LARGE, both};
use joining::{Joiner, Joining, PHRASE_END, word_starts};
use whole_piece_tokens::WholePieceTokens;

/// Bytes, about, that are copied where a space is put in front.
const SPACED_FRONT: usize = 1 << 10;
/// Blocks of 64 bytes whose word starts are found together.
const BLOCKS_AT_ONCE: usize = 1 << 10;

/// A byte-level BPE on the fast path.
pub struct ByteLevel {
    /// The form that text is brought into first.
    form: Option<Form>,
    /// Whether a space is put in front of text that does not begin with one.
    prefix_space: bool,
    splitter: Splitter,
    merges: Merges,
    whole_piece_tokens: WholePieceTokens,
    /// Where long pieces may be split.
    split_points: SplitPoints,
    /// Which words may join, if any may.
    joining: Option<Joining>,
    pool: WorkspacePool<ByteLevelWorkspace>,
}

/// What one call works with: where pieces lie, those whose tokens are cached, and those that are merged.
struct ByteLevelWorkspace {
    scanner: Scanner,
    bounds: Vec<u32>,
    /// Where words begin, and where phrases end, if phrases are cut into words.
    starts: Vec<u64>,
    ends: Vec<u32>,
    groups: [Group; 2],
    words: WordCache,
    tokens: Box<[u32; MAX_PENDING]>,
    holes: Vec<(usize, usize)>,
    works: Vec<ShortWord>,
}

impl Reusable for ByteLevelWorkspace {
    fn new() -> Box<Self> {
        Box::new(Self {
            scanner: Scanner::default(),
            bounds: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            groups: [Group::NONE; 2],
            words: WordCache::new(RandomState::default().hash_one(0)),
            tokens: Box::new([0; MAX_PENDING]),
            holes: Vec::new(),
            works: vec![ShortWord::NEW; MAX_NEW],
        })
    }

    fn is_current(&self) -> bool {
        self.words.keeps_the_limit()
    }
}

impl ByteLevel {
    /// The compiled form of these stages.
    ///
    /// # Errors
    /// The stage that is no part of a byte-level BPE.
    pub fn new(stages: &Stages) -> std::result::Result<Self, UnsupportedStage> {
        let Accepted {
            bpe,
            superwords,
            form,
            prefix_space,
            splitter,
        } = Accepted::of(stages)?;
        let vocab = bpe.vocab();
        let is_large = vocab.len() >= LARGE;
        let phrases = match superwords {
            Some(_) => None,
            None => Joining::of_phrases(bpe),
        };
        let (listed, phrases) = phrases.unzip();
        let too_large = || UnsupportedStage::model(&stages.model, "has an id of 2²⁰ or more");
        let joining = match superwords {
            Some(model) => Some(Joining::of(bpe, model).ok_or_else(too_large)?),
            None => phrases,
        };
        let merges = || match (bpe.newly_derived(), listed) {
            (Some(growing), _) => (Some(growing), None),
            (None, listed) => {
                let listed = listed.unwrap_or_else(|| bpe.reachable_merges());
                (None, Merges::new(bpe.vocab(), listed))
            }
        };
        let ((growing, listed), split_points) = both(is_large, merges, || SplitPoints::new(vocab));
        let (mut merges, characters, whole_piece_tokens) = match growing {
            Some(growing) => {
                let (table, (characters, whole_piece_tokens)) = both(
                    is_large,
                    || growing.pairs().completed(),
                    || {
                        (
                            growing.characters(vocab),
                            WholePieceTokens::of(bpe, &growing),
                        )
                    },
                );
                (growing.complete(table), characters, whole_piece_tokens)
            }
            None => {
                let merges = listed.ok_or_else(too_large)?;
                let (characters, whole_piece_tokens) = both(
                    is_large,
                    || merges.characters(vocab),
                    || WholePieceTokens::of(bpe, &merges),
                );
                (merges, characters, whole_piece_tokens)
            }
        };
        merges.begin_as(characters, split_points.partial());
        Ok(Self {
            form,
            prefix_space,
            splitter,
            whole_piece_tokens,
            merges,
            split_points,
            joining,
            pool: WorkspacePool::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`: those that may join, with a
    /// mark.
    ///
    /// # Errors
    /// A pattern that gave up on this text; more than 4 GiB without a place to split.
    fn encode_words(&self, text: &str, sink: &mut dyn Sink) -> Result<()> {
        let text = match self.form {
            Some(form) => form.normalized(text),
            None => text.into(),
        };
        let (front, rest) = self.front(&text);
        let mut workspace = self.pool.take();
        let ByteLevelWorkspace {
            scanner,
            bounds,
            starts,
            ends,
            groups,
            words,
            tokens,
            holes,
            works,
        } = &mut *workspace;
        let mut pieces = ByteLevelCall {
            compiled: self,
            words,
            works,
            pending: Pending::new(tokens, holes),
        };
        let joining = self.joining.as_ref();
        let cuts_phrases = joining.is_some_and(|joining| !joining.joins_words());
        let mut too_long = None;
        for text in [&*front, rest] {
            self.splitter.split(scanner, text, |offset, length, bits| {
                let Ok(end) = u32::try_from(length) else {
                    too_long = Some(length);
                    return;
                };
                let text = &text.as_bytes()[offset..];
                if cuts_phrases {
                    word_starts(&text[..length], starts);
                    starts
                        .iter_mut()
                        .zip(bits)
                        .for_each(|(word, bit)| *word |= bit);
                    pieces.bounds(bits, end, ends);
                    pieces.bounds(starts, end, bounds);
                } else {
                    pieces.bounds(bits, end, bounds);
                }
                pieces.all(groups, text, bounds, ends, sink);
            })?;
        }
        pieces.fill(sink);
        if let Some(length) = too_long {
            return Err(uncut(length));
        }
        Ok(())
    }
}

impl ByteLevel {
    /// The beginning of `text` with a space in front, if one is put there, and the rest of it.
    fn front<'t>(&self, text: &'t str) -> (String, &'t str) {
        if !self.prefix_space || text.is_empty() || text.starts_with(' ') {
            return (String::new(), text);
        }
        let (first, rest) = text.split_at(self.splitter.split_point(text, 0, SPACED_FRONT));
        (format!(" {first}"), rest)
    }
}

impl Compiled for ByteLevel {
    fn encode(
        &self,
        _: &Stages,
        stretch: Stretch<'_>,
        _: &Rc<LengthLimit>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        match &self.joining {
            None => self.encode_words(stretch.text, sink),
            Some(joining) => {
                let mut joiner = Joiner::new(joining, sink);
                self.encode_words(stretch.text, &mut joiner)?;
                joiner.finish();
                Ok(())
            }
        }
    }

    /// See [`Splitter::split_point`].
    fn split_point(&self, _: &Stages, text: &str, start: usize, reach: usize) -> usize {
        // An expression's places are certain in the text that it sees; a prefix has a scanner.
        if self.form.is_some() && !matches!(self.splitter, Splitter::Scanner(_)) {
            return text.len();
        }
        let joins_words = self.joining.as_ref().is_some_and(Joining::joins_words);
        if joins_words && !matches!(self.splitter, Splitter::Scanner(_)) {
            return text.len();
        }
        let fixes = |at| self.form.is_none_or(|form| form.fixes_at(text, at));
        self.splitter
            .split_point_where(text, start, reach, |before, after| {
                // What ends in a line feed joins nothing.
                let ends_a_line = text.as_bytes()[after - 1] == b'\n';
                if joins_words && !ends_a_line {
                    return false;
                }
                let puts_no_space = !self.prefix_space || text.as_bytes()[after - 1] == b' ';
                puts_no_space && fixes(before) && fixes(after)
            })
    }

    fn spanning(&self) -> Spanning {
        Spanning::Lengths
    }

    fn may_be_normalized(&self) -> bool {
        true
    }

    fn tokens_are_bytes_of_text(&self) -> bool {
        self.form.is_none() && !self.prefix_space
    }

    fn adds_space(&self) -> bool {
        self.prefix_space
    }
}

impl std::fmt::Debug for ByteLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByteLevel")
            .field("splitter", &self.splitter)
            .finish_non_exhaustive()
    }
}

/// The pieces of a text, a group at a time.
struct ByteLevelCall<'c, 't> {
    compiled: &'c ByteLevel,
    words: &'c mut WordCache,
    works: &'c mut [ShortWord],
    pending: Pending<'c, 't>,
}

impl<'t> ByteLevelCall<'_, 't> {
    /// Writes where pieces begin whose bits are set, and where the last one ends.
    fn bounds(&mut self, bits: &[u64], end: u32, bounds: &mut Vec<u32>) {
        bounds.clear();
        for (base, bits) in (0..)
            .step_by(BLOCKS_AT_ONCE * 64)
            .zip(bits.chunks(BLOCKS_AT_ONCE))
        {
            set_bits(bits, base, bounds);
        }
        bounds.push(end);
    }

    /// Tokens of the pieces of `text` that lie between neighbours in `bounds`, some of which are `ends` of
    /// phrases. Memory is requested on behalf of a group while the one before it is looked up.
    fn all(
        &mut self,
        groups: &mut [Group; 2],
        text: &'t [u8],
        bounds: &[u32],
        mut ends: &[u32],
        sink: &mut dyn Sink,
    ) {
        let [mut group, mut next] = groups.each_mut();
        let end = bounds.len() - 1;
        let until = |first: usize| (first + GROUP).min(end);
        group.ask_between(self.words, text, &bounds[..=until(0)]);
        let mut first = 0;
        while first < end {
            tick();
            let last = until(first);
            if last < end {
                next.ask_between(self.words, text, &bounds[last..=until(last)]);
            }
            let bounds = &bounds[first..=last];
            let mut number = 0;
            while let Some((&end, later)) = ends.split_first()
                && end <= bounds[last - first]
            {
                let count = bounds.partition_point(|&bound| bound < end);
                self.group(group, text, &bounds[..=count], number, sink);
                if !self.pending.has_room(1) {
                    self.fill(sink);
                }
                self.pending.many(&[PHRASE_END]);
                (number, ends) = (count, later);
            }
            if number < last - first {
                self.group(group, text, bounds, number, sink);
            }
            std::mem::swap(&mut group, &mut next);
            first = last;
        }
    }

    /// Tokens of the pieces of a group from `number` on, whose memory is prefetched.
    fn group(
        &mut self,
        group: &Group,
        text: &'t [u8],
        bounds: &[u32],
        mut number: usize,
        sink: &mut dyn Sink,
    ) {
        self.make_room(sink);
        loop {
            number = group.emit_known(self.words, text, bounds, number, &mut self.pending);
            let [start, end] = match bounds.get(number..number + 2) {
                Some(bounds) => [bounds[0] as usize, bounds[1] as usize],
                None => return,
            };
            if end - start <= LONG {
                let (key, hash) = group.piece(number);
                self.new_piece(&text[start..end], key, hash, sink);
            } else {
                self.very_long(text, start, end, sink);
                self.make_room(sink);
            }
            number += 1;
        }
    }

    /// Makes room for the tokens of a group, a byte of a piece being a token at worst.
    #[inline(always)]
    fn make_room(&mut self, sink: &mut dyn Sink) {
        if !self.pending.has_room(GROUP * LONG) {
            self.fill(sink);
        }
    }

    /// A piece of up to [`SCANNED`] bytes that is not known.
    #[inline(never)]
    fn new_piece(&mut self, piece: &'t [u8], key: ShortKey, hash: u64, sink: &mut dyn Sink) {
        if !self.pending.hole(piece, key, hash) {
            self.fill(sink);
            self.pending.hole(piece, key, hash);
        }
    }

    /// Merges all pieces that are new, remembers them, and gives all tokens away.
    #[inline(never)]
    fn fill(&mut self, sink: &mut dyn Sink) {
        let Self {
            compiled,
            words,
            works,
            pending,
            ..
        } = self;
        let new = pending.new_pieces();
        let pieces = new.pieces();
        if pieces.is_empty() {
            return pending.give(|_| (&[], 0), sink);
        }
        for &hash in new.hashes() {
            // Both lines are looked at for a free place; by the time the words are merged they are here.
            words.prefetch_beside(hash);
        }
        compiled.merges.merge_together(pieces, works);
        let takes_whole = !compiled.whole_piece_tokens.is_empty();
        for (((piece, &key), &hash), work) in pieces
            .iter()
            .zip(new.keys())
            .zip(new.hashes())
            .zip(works.iter_mut())
        {
            if takes_whole
                && work.tokens().len() > 1
                && let Some(id) = compiled.whole_piece_tokens.token(piece)
            {
                work.become_tokens(&[id]);
            }
            if let Some(joining) = &compiled.joining {
                joining.mark(work.tokens_mut());
            }
            let tokens = work.tokens();
            if key == ShortKey::NONE {
                words.insert(piece, tokens);
            } else if tokens.len() <= SHORT_IDS {
                words.insert_few(key, hash, work.first_tokens(), tokens.len());
            } else {
                words.insert_many(key, hash, tokens);
            }
        }
        pending.give(
            |number| {
                let work = &works[number];
                (&work.first_tokens::<SCANNED>()[..], work.tokens().len())
            },
            sink,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::model::Bpe;
    use jeton_models::model::Model;
    use jeton_stages::pre_tokenizer::PreTokenizer;
    use jeton_stages::pre_tokenizer::SplitBehavior;
    use jeton_stages::vocab::Vocab;
    use jeton_text::pattern::{Dialect, Regex, SearchPattern};

    #[test]
    fn a_warm_cache_outlives_an_error() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let bpe = Bpe::by_ranks(Vocab::new(bytes.zip(0..)).unwrap()).unwrap();
        let mut stages = Stages::of_model(Model::Bpe(bpe));
        // The engine tries each way to part a run of `a`, until its budget is spent.
        let regex = Regex::new(r"(?:(a|a|a)+)+(?=b)\1", Dialect::Oniguruma).unwrap();
        stages.pre_tokenizer = Some(PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            behavior: SplitBehavior::Isolated,
            invert: false,
        });
        let compiled = ByteLevel::new(&stages).unwrap();
        let mut ids = Vec::new();
        compiled.encode_words("known", &mut ids).unwrap();
        let hard = "a".repeat(64);
        assert!(compiled.encode_words(&hard, &mut ids).is_err());
        let workspace = compiled.pool.take_kept().unwrap();
        assert!(workspace.words.emit(b"known", &mut Vec::new()));
    }
}
