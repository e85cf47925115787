//! The strategy for SentencePiece `.model` files: text is cut before spaces, which no piece spans, each
//! chunk is looked up in the word cache, and only new ones are normalized and segmented.
//!
//! Look here for which models are accepted, for chunks that are new, and for what happens where the
//! character map makes a space of something else (see [`ChunksCall::chunk`] on open chunks). What
//! differs between the two algorithms stands in `merging` and `viterbi`.

mod batch_merge;
mod long;
mod merging;
mod pieces;
mod raw_cuts;
mod seen_filter;
mod sequential;
mod sums;
mod unknown;
mod viterbi;

use crate::error::Result;
use crate::fast::Place;
use crate::fast::cache::group::GROUP;
use crate::fast::cache::lookup;
use crate::fast::cache::words::{LONGEST, WordCache};
use crate::fast::cache::workspace_pool::{Reusable, WorkspacePool};
use crate::fast::obstacle::Obstacle;
use crate::fast::sink::Sink;
use crate::interrupt::{Pace, position, rposition};
use crate::mem::lazy::Lazy;
use crate::mem::short_keys::{LONG, SHORT};
use crate::model::sentencepiece::spec::{Algorithm, Piece, PieceKind, Pieces};
use crate::model::{self, Model};
use crate::normalizer::{Charsmap, Normalizer, SentencePieceNormalizer};
use crate::split::delimiters::{Chunks, Delimiters, split_point};
use crate::split::safe_cuts::SafeCuts;
use crate::stages::Stages;
use batch_merge::{BatchMerge, Room};
use merging::Merging;
use pieces::PieceIndex;
use raw_cuts::KeptCharacters;
use seen_filter::SeenFilter;
use sequential::Sequential;
use sums::{MOST_WAITING, Scores, Summing};
use unknown::Fusing;
use viterbi::Viterbi;

/// What stands for a space.
const SPACE: &str = "▁";
/// No byte of UTF-8: before the key of a normalized part, which is no chunk of the text.
const NORMALIZED: u8 = 0xFF;

/// A SentencePiece model on the fast path.
pub struct SentencePiece {
    delimiters: Delimiters,
    /// The character map leaves all text of printable ASCII characters as it is.
    keeps_ascii: bool,
    /// Runs of spaces are one space, and none stand at the ends.
    collapses: bool,
    /// A space is put in front.
    prefix: bool,
    parts: Parts,
    /// Where long chunks may be cut; made when the first one is met.
    cuts: Lazy<SafeCuts>,
    /// Which characters of a long chunk need no look at the character map; made likewise.
    kept: Lazy<KeptCharacters>,
    solving: Solving,
    pool: WorkspacePool<SentencePieceWorkspace>,
}

/// What a model's algorithm needs to know of its pieces.
enum Solving {
    /// Their spellings; none if there are too many. Made at the first call.
    Bpe(Lazy<Option<PieceIndex>>),
    /// Their scores.
    Unigram(Scores),
}

/// What one call works with.
struct SentencePieceWorkspace {
    lookup: lookup::ChunkWorkspace,
    room: Room,
    waiting: Box<[u32; MOST_WAITING]>,
    unclear: Box<SeenFilter>,
    long: Box<SeenFilter>,
}

impl Reusable for SentencePieceWorkspace {
    fn new() -> Box<Self> {
        Box::new(Self {
            lookup: lookup::ChunkWorkspace::default(),
            room: Room::default(),
            waiting: Box::new([0; MOST_WAITING]),
            unclear: Box::default(),
            long: Box::default(),
        })
    }

    fn is_current(&self) -> bool {
        self.lookup.is_current()
    }
}

/// Where a text may be cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Nowhere,
    BeforeSpaces,
    /// And behind line ends.
    BehindLines,
}

/// What segments normalized text between places that no piece spans.
pub(super) trait Solver<S: Sink> {
    /// Whether what was remembered is true at this place of the text.
    fn may_recall(&self, sink: &S) -> bool;

    /// Adds the tokens of `text`, which are the next for `sink`, to `ids` and gives them to `sink`;
    /// says whether they are the same wherever the text stands.
    /// What it remembers itself is in `words`, under keys that no text has.
    fn solve(
        &mut self,
        text: &str,
        words: &mut WordCache,
        ids: &mut Vec<u32>,
        sink: &mut S,
    ) -> bool;

    /// Whether a chunk may be remembered whose parts have these tokens wherever they stand.
    fn may_remember(&self, _ids: &[u32]) -> bool {
        true
    }
}

impl SentencePiece {
    /// The compiled form of these stages, if text may be cut before spaces and if what a chunk
    /// becomes does not depend on other chunks.
    ///
    /// # Errors
    /// The stage for which this is not so.
    pub fn new(stages: &Stages) -> std::result::Result<Self, Obstacle> {
        let Model::SentencePiece(model) = &stages.model else {
            return Err(Obstacle::model(&stages.model, "not of a .model file"));
        };
        let Some(Normalizer::SentencePiece(normalizer)) = &stages.normalizer else {
            let why = "not that of a .model file";
            return Err(Obstacle::normalizer(stages.normalizer.as_ref(), why));
        };
        if let Some(cut) = &stages.pre_tokenizer {
            let why = "cuts text that a .model file leaves whole";
            return Err(Obstacle::pre_tokenizer(Some(cut), why));
        }
        check_normalizer(normalizer)
            .map_err(|why| Obstacle::normalizer(stages.normalizer.as_ref(), why))?;
        check_model(model).map_err(|why| Obstacle::model(&stages.model, why))?;
        let pieces = &model.proto().pieces;
        let algorithm = model.proto().trainer().algorithm;
        let white_space = normalizer.white_space();
        let charsmap = normalizer.charsmap();
        let becomes = |byte: u8| match charsmap {
            None => None,
            Some(map) => map.longest_prefix(&[byte]).map(|(_, new)| new),
        };
        let inner = charsmap.map(Charsmap::inner_bytes);
        let inside = |byte: u8| inner.is_some_and(|inner| inner[usize::from(byte)]);
        if becomes(b' ').is_some_and(|new| new != " ") || inside(b' ') {
            let why = "has a rule for a space";
            return Err(Obstacle::normalizer(stages.normalizer.as_ref(), why));
        }
        let in_a_piece = |byte: u8| {
            // Hardly any file holds it anywhere.
            pieces.texts().as_bytes().contains(&byte)
                && texts_of(pieces).any(|piece| piece.text.as_bytes().contains(&byte))
                || (normalizer.user_defined().iter()).any(|text| text.as_bytes().contains(&byte))
        };
        let (mut spaces, mut alone) = (vec![b' '..=b' '], Vec::new());
        for byte in [b'\n', b'\t'] {
            if inside(byte) || in_a_piece(byte) {
                continue;
            }
            match becomes(byte) {
                Some(" ") => spaces.push(byte..=byte),
                None => alone.push(byte..=byte),
                Some(_) => {}
            }
        }
        if spaces.len() == 3 {
            spaces = vec![b' '..=b' ', b'\t'..=b'\n'];
        }
        let delimiters = Delimiters::new(spaces, false, alone);
        Ok(Self {
            parts: match model.byte_ids() {
                // Which of two segmentations wins may depend on the sum of scores from the front.
                _ if algorithm == Algorithm::Unigram => Parts::Nowhere,
                Some(_) if delimiters.is_alone(b'\n') => Parts::BehindLines,
                Some(_) => Parts::BeforeSpaces,
                None if model.piece_id(SPACE).is_some() => Parts::BeforeSpaces,
                None => Parts::Nowhere,
            },
            delimiters,
            keeps_ascii: charsmap.is_none_or(Charsmap::keeps_ascii),
            collapses: white_space.remove_extra,
            prefix: white_space.add_dummy_prefix,
            cuts: Lazy::new(),
            kept: Lazy::new(),
            solving: match algorithm {
                Algorithm::Unigram => Solving::Unigram(Scores::new(model)),
                _ => Solving::Bpe(Lazy::new()),
            },
            pool: WorkspacePool::default(),
        })
    }

    /// Gives the tokens of `text`, in which no added tokens are left, to `sink`.
    ///
    /// # Errors
    /// None; the families share one form.
    pub fn encode(
        &self,
        model: &model::SentencePiece,
        normalizer: &SentencePieceNormalizer,
        text: &str,
        place: Place,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut workspace = self.pool.take();
        let SentencePieceWorkspace {
            lookup,
            room,
            waiting,
            unclear,
            long,
        } = &mut *workspace;
        let lookup::ChunkWorkspace { chunks, words, .. } = lookup;
        let call = self.call(model, normalizer, words, long);
        match &self.solving {
            Solving::Unigram(scores) => {
                let sink = Summing::new(scores, model.unk_id(), waiting, sink);
                let call = call.with(Viterbi::new(model, scores, unclear));
                Sequential::new(call, sink).run(chunks, text, place);
            }
            Solving::Bpe(index) => {
                let index = index.get(|| PieceIndex::new(model)).as_ref();
                let call = call.with(Merging { model, index });
                match model.unk_id().filter(|_| model.byte_ids().is_none()) {
                    None => call.side_by_side(text, place, chunks, room, sink),
                    Some(unk_id) => {
                        let mut sink = Fusing::new(unk_id, sink);
                        call.side_by_side(text, place, chunks, room, &mut sink);
                    }
                }
            }
        }
        Ok(())
    }

    /// A call that has no solver yet.
    fn call<'c>(
        &'c self,
        model: &'c model::SentencePiece,
        normalizer: &'c SentencePieceNormalizer,
        words: &'c mut WordCache,
        long: &'c mut SeenFilter,
    ) -> ChunksCall<'c, ()> {
        ChunksCall {
            compiled: self,
            solver: (),
            model,
            normalizer,
            words,
            long,
            gathered: Gathered::default(),
            normalized: String::new(),
            key: Vec::new(),
        }
    }

    /// Whether the tokens of a text depend on all that stands before them, so that it cannot be encoded
    /// in parts.
    pub fn needs_whole_text(&self) -> bool {
        matches!(self.solving, Solving::Unigram(_))
    }

    /// Where a part of `text` ends that begins at `start` and has at least `reach` bytes.
    ///
    /// Before a space, if what stands before it ends in something else once it is normalized: it is
    /// asked of the stretch from the space before. No key of the character map and no piece spans
    /// such a place, and the normalizer has nothing to remember there. The same is true behind a
    /// line end that stands alone.
    pub fn split_point(
        &self,
        normalizer: &SentencePieceNormalizer,
        text: &str,
        start: usize,
        reach: usize,
    ) -> usize {
        if self.parts == Parts::Nowhere {
            return text.len();
        }
        let cuts_behind = |byte| byte == b'\n' && self.parts == Parts::BehindLines;
        split_point(text, start, reach, cuts_behind, |space, at| {
            let before = &text[space..at];
            before != " " && {
                let before = normalizer.normalize_part(before, false);
                !before.is_empty() && !before.ends_with(SPACE)
            }
        })
    }
}

/// Checks that what a normalizer makes of text before a space does not depend on what follows.
fn check_normalizer(normalizer: &SentencePieceNormalizer) -> std::result::Result<(), &'static str> {
    let white_space = normalizer.white_space();
    if !white_space.escape {
        return Err("leaves spaces as they are (escape_whitespaces)");
    }
    if white_space.suffix {
        return Err("puts a space behind a text (treat_whitespace_as_suffix)");
    }
    if white_space.remove_extra && !white_space.add_dummy_prefix {
        return Err("removes spaces in front and puts none there (add_dummy_prefix)");
    }
    match (normalizer.user_defined().iter()).any(|piece| piece.contains([' ', '▁'])) {
        true => Err("keeps a user-defined piece that has a space"),
        false => Ok(()),
    }
}

/// Checks that no token of a model may lie on both sides of a space.
fn check_model(model: &model::SentencePiece) -> std::result::Result<(), &'static str> {
    let pieces = &model.proto().pieces;
    let algorithm = model.proto().trainer().algorithm;
    if !matches!(algorithm, Algorithm::Bpe | Algorithm::Unigram) {
        return Err("of words or characters");
    }
    // Which parts an unused piece falls into depends on where it was made last.
    if algorithm == Algorithm::Bpe && pieces.of_kind(PieceKind::Unused).next().is_some() {
        return Err("BPE with unused pieces");
    }
    if spans_a_cut(pieces) {
        return Err("has a piece with a space behind something else");
    }
    match (pieces.of_kind(PieceKind::UserDefined)).any(|(piece, _)| piece.text.contains('▁')) {
        true => Err("has a user-defined piece with a space"),
        false => Ok(()),
    }
}

/// The pieces that text may consist of, unused ones included.
fn texts_of(pieces: &Pieces) -> impl Iterator<Item = Piece<&str>> {
    use PieceKind::{Normal, Unused, UserDefined};
    (pieces.iter()).filter(|piece| matches!(piece.kind, Normal | Unused | UserDefined))
}

/// Whether text that becomes a piece may lie on both sides of a place where chunks are cut: a space
/// behind anything but a space.
fn spans_a_cut(pieces: &Pieces) -> bool {
    // Mostly, all pieces together have no more spaces than stand in front of one.
    let texts = pieces.texts().as_bytes();
    let [a, b, c] = *SPACE.as_bytes() else {
        return true;
    };
    // Counted in bytes, of which a processor adds many at once.
    let spaces = |part: &[u8]| {
        let places = part.iter().zip(&part[1..]).zip(&part[2..]);
        let spaces = places.map(|((x, y), z)| u8::from((*x == a) & (*y == b) & (*z == c)));
        usize::from(spaces.sum::<u8>())
    };
    let last = SPACE.len() - 1;
    let parts = (0..texts.len().saturating_sub(last)).step_by(usize::from(u8::MAX));
    let ends = |at: usize| texts.len().min(at + usize::from(u8::MAX) + last);
    let spaces: usize = parts.map(|at| spaces(&texts[at..ends(at)])).sum();
    let mut start = 0;
    let mut in_front = 0;
    for &end in pieces.ends() {
        while start < end && texts[start..].starts_with(SPACE.as_bytes()) {
            start += SPACE.len();
            in_front += 1;
        }
        start = end;
    }
    (in_front != spaces || texts.contains(&b' '))
        && texts_of(pieces).any(|piece| behind_spaces(piece.text).contains(['▁', ' ']))
}

/// What of a piece stands behind the spaces in front.
fn behind_spaces(mut piece: &str) -> &str {
    while let Some(behind) = piece.strip_prefix(SPACE) {
        piece = behind;
    }
    piece
}

/// One text on its way.
pub(super) struct ChunksCall<'c, V> {
    compiled: &'c SentencePiece,
    solver: V,
    model: &'c model::SentencePiece,
    normalizer: &'c SentencePieceNormalizer,
    words: &'c mut WordCache,
    /// Chunks that no entry of the cache holds and that were met.
    long: &'c mut SeenFilter,
    /// Room for tokens, for normalized text and for keys.
    gathered: Gathered,
    normalized: String,
    key: Vec<u8>,
}

/// The tokens of the parts of a chunk.
struct Gathered {
    ids: Vec<u32>,
    /// How many of them the sink has got.
    given: usize,
    /// Whether they are the same wherever the chunk stands.
    anywhere: bool,
}

impl Default for Gathered {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            given: 0,
            anywhere: true,
        }
    }
}

impl Gathered {
    /// None yet, with the room that there is.
    fn take(&mut self) -> Self {
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        Self {
            ids,
            ..Self::default()
        }
    }

    /// Whether they are the same anywhere, and not more than a normalizer makes of text that is as
    /// long as an entry of the cache has room for; other chunks are remembered part by part.
    fn fits(&self) -> bool {
        self.anywhere && self.ids.len() <= LONG
    }

    fn give(&mut self, sink: &mut impl Sink) {
        if self.given < self.ids.len() {
            sink.push_all(&self.ids[self.given..]);
            self.given = self.ids.len();
        }
    }
}

impl<'c, V> ChunksCall<'c, V> {
    /// The same call with another solver.
    fn with<W>(self, solver: W) -> ChunksCall<'c, W> {
        let Self {
            compiled,
            model,
            normalizer,
            words,
            long,
            gathered,
            normalized,
            key,
            ..
        } = self;
        ChunksCall {
            compiled,
            solver,
            model,
            normalizer,
            words,
            long,
            gathered,
            normalized,
            key,
        }
    }

    /// Gives the tokens of the first chunk to `sink`, if it is another one than it would be
    /// elsewhere; says where it ends, and what of the text counts.
    fn begin<'t, S: Sink>(&mut self, text: &'t str, place: Place, sink: &mut S) -> (&'t str, usize)
    where
        V: Solver<S>,
    {
        let (text, prefix) = self.bounds(text, place);
        let start = match prefix {
            true => self.front(text, sink),
            false => 0,
        };
        (text, start)
    }

    /// What of a text counts, and whether a space is put in front.
    fn bounds<'t>(&self, text: &'t str, place: Place) -> (&'t str, bool) {
        let compiled = self.compiled;
        let is_space = |byte: u8| compiled.delimiters.is_space(byte);
        let text = match compiled.collapses {
            true => {
                let last = rposition(text.as_bytes(), |byte| !is_space(byte));
                &text[..last.map_or(0, |last| last + 1)]
            }
            false => text,
        };
        let prefix = compiled.prefix && place != Place::Inner && !text.is_empty();
        (text, prefix)
    }

    /// Any chunk; says where what was read ends.
    pub fn chunk<S: Sink>(&mut self, text: &str, start: usize, end: usize, sink: &mut S) -> usize
    where
        V: Solver<S>,
    {
        let chunk = &text[start..end];
        if !self.ends_open(chunk) && self.keeps(chunk) {
            self.parts(text, start, end, sink);
            return end;
        }
        self.normalized(text, start, end, sink)
    }

    /// What makes tokens.
    pub fn solver(&self) -> &V {
        &self.solver
    }

    /// The chunks met before.
    #[inline(always)]
    pub fn words(&self) -> &WordCache {
        self.words
    }

    /// Remembers the tokens of a chunk.
    pub fn remember(&mut self, chunk: &[u8], ids: &[u32]) {
        self.words.insert(chunk, ids);
    }

    /// Remembers the tokens of a chunk whose parts are remembered: of a long one, if it is not the
    /// first time that it is met, since most never are again.
    pub fn remember_whole(&mut self, chunk: &[u8], ids: &[u32]) {
        if chunk.len() <= LONG || self.long.may_hold(chunk) {
            self.words.insert_whole(chunk, ids);
        } else {
            self.long.add(chunk);
        }
    }

    /// Where text is cut.
    pub fn delimiters(&self) -> &'c Delimiters {
        &self.compiled.delimiters
    }

    /// Whether a chunk that the character map leaves as it is ends in a space, and more spaces may
    /// follow. Behind a chunk of nothing but spaces there is no space.
    fn ends_open(&self, chunk: &str) -> bool {
        chunk.ends_with(SPACE)
    }

    /// With how many spaces a chunk begins, or what is one once it is normalized.
    fn spaces(&self, chunk: &str) -> usize {
        let first = position(chunk.as_bytes(), |byte| !self.delimiters().is_space(byte));
        first.unwrap_or(chunk.len())
    }

    /// Whether the character map leaves a chunk as it is, spaces apart.
    fn keeps(&self, chunk: &str) -> bool {
        let Some(map) = self.normalizer.charsmap() else {
            return true;
        };
        let rest = &chunk[self.spaces(chunk)..];
        let is_odd = |byte| !matches!(byte, b'!'..=b'~');
        self.compiled.keeps_ascii && position(rest.as_bytes(), is_odd).is_none() || map.keeps(rest)
    }

    /// With how many spaces a chunk begins, if nothing becomes of it but that these are `▁`.
    pub fn kept_behind_spaces(&self, chunk: &str) -> Option<usize> {
        let spaces = position(chunk.as_bytes(), |byte| byte != b' ').unwrap_or(chunk.len());
        let word = &chunk[spaces..];
        let is_space = |c| u8::try_from(c).is_ok_and(|c| self.delimiters().is_space(c));
        let is_changed = self.compiled.collapses && spaces > 1
            || word.starts_with(is_space)
            || self.ends_open(chunk)
            || !self.keeps(chunk);
        (!is_changed).then_some(spaces)
    }

    /// The first chunk, with a space in front; says where it ends.
    fn front<S: Sink>(&mut self, text: &str, sink: &mut S) -> usize
    where
        V: Solver<S>,
    {
        let end = self.delimiters().chunk_end(text.as_bytes(), 0);
        let first = [" ", &text[..end]].concat();
        if self.words.emit(first.as_bytes(), sink) {
            return end;
        }
        if end == text.len() || !self.ends_open(&first) && self.keeps(&first) {
            self.chunk(&first, 0, first.len(), sink);
            return end;
        }
        let whole = [" ", text].concat();
        self.normalized(&whole, 0, end + 1, sink) - 1
    }

    /// A chunk that the character map leaves as it is, part by part.
    fn parts<S: Sink>(&mut self, text: &str, start: usize, end: usize, sink: &mut S)
    where
        V: Solver<S>,
    {
        let bytes = text.as_bytes();
        let spaces = self.spaces(&text[start..end]);
        let mut gathered = self.gathered.take();
        let (mut part, mut from) = (start, start + spaces);
        let mut cut = false;
        let mut pace = Pace::default();
        while part < end {
            pace.step();
            let next = match end - part <= SHORT || from == end {
                true => end,
                false => self.cuts().first_cut(bytes, from, end),
            };
            self.part(&text[part..next], from - part, false, &mut gathered, sink);
            cut |= next != end;
            (part, from) = (next, next);
        }
        gathered.give(sink);
        // A part that is the whole chunk is remembered already.
        if cut && gathered.fits() && self.solver.may_remember(&gathered.ids) && end - start <= LONG
        {
            self.words.insert(&bytes[start..end], &gathered.ids);
        }
        self.gathered = gathered;
    }

    /// A part of a chunk that begins with so many spaces; whether the normalizer changes the rest,
    /// perhaps.
    fn part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        gathered: &mut Gathered,
        sink: &mut S,
    ) where
        V: Solver<S>,
    {
        if !self.recall(part.as_bytes(), gathered, sink) {
            self.new_part(part, spaces, changed, gathered, sink);
        }
    }

    /// A part that begins with so many spaces, of which nothing is remembered; whether the normalizer
    /// changes the rest, perhaps.
    fn new_part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        gathered: &mut Gathered,
        sink: &mut S,
    ) where
        V: Solver<S>,
    {
        let mut normalized = std::mem::take(&mut self.normalized);
        normalized.clear();
        let one = self.compiled.collapses && spaces > 0;
        for _ in 0..if one { 1 } else { spaces } {
            normalized.push_str(SPACE);
        }
        match &part[spaces..] {
            rest if changed => normalized.push_str(&self.normalizer.normalize_part(rest, false)),
            rest => normalized.push_str(rest),
        }
        self.solve(&normalized, part.as_bytes(), gathered, sink);
        self.normalized = normalized;
    }

    /// Adds the tokens of a part to `ids`, if they are known.
    fn recall<S: Sink>(&self, part: &[u8], gathered: &mut Gathered, sink: &mut S) -> bool
    where
        V: Solver<S>,
    {
        // The sink says what may be recalled, so it has to know of all parts so far. A part is never cut,
        // so it is no chunk that was remembered as a whole, whose tokens change the sum by more.
        gathered.give(sink);
        let ids = &mut gathered.ids;
        self.solver.may_recall(sink) && part.len() <= LONGEST && self.words.emit(part, ids)
    }

    /// Adds the tokens of a part, and remembers them under `key` if they are the same anywhere.
    fn solve<S: Sink>(&mut self, part: &str, key: &[u8], gathered: &mut Gathered, sink: &mut S)
    where
        V: Solver<S>,
    {
        gathered.give(sink);
        let first = gathered.ids.len();
        let anywhere = (self.solver).solve(part, self.words, &mut gathered.ids, sink);
        // A part that ends in a space is not to be taken for a chunk, whose next may begin in one.
        let kept = key.len() <= LONGEST
            && (!part.ends_with(SPACE) || key.iter().all(|byte| self.delimiters().is_space(*byte)));
        match anywhere {
            true if kept => self.words.insert(key, &gathered.ids[first..]),
            true => {}
            false => gathered.anywhere = false,
        }
        gathered.given = gathered.ids.len();
    }

    /// Any chunk, made longer until what it becomes does not depend on what follows; says where it
    /// ends.
    fn normalized<S: Sink>(&mut self, text: &str, start: usize, end: usize, sink: &mut S) -> usize
    where
        V: Solver<S>,
    {
        let bytes = text.as_bytes();
        let mut longer = end;
        let mut more = 1;
        let (normalized, open) = loop {
            let normalized = self.normalizer.normalize_part(&text[start..longer], false);
            let open = normalized.is_empty() || normalized.ends_with(SPACE);
            match bytes.get(longer) {
                None if open => {
                    let trimmed = self.normalizer.normalize_part(&text[start..], true);
                    break (trimmed, open);
                }
                Some(next) if open && !self.delimiters().is_alone(*next) => {}
                _ => break (normalized, open),
            }
            for _ in 0..more {
                longer = self.delimiters().chunk_end(bytes, longer);
            }
            more *= 2;
        };
        let new = normalized.as_bytes();
        let spaces = new.len() - normalized.trim_start_matches(SPACE).len();
        let whole = longer - start <= LONG;
        let mut gathered = self.gathered.take();
        let (mut part, mut from) = (0, spaces);
        let mut key = std::mem::take(&mut self.key);
        let mut pace = Pace::default();
        while part < new.len() {
            pace.step();
            let next = match from == new.len() {
                true => new.len(),
                false => self.cuts().first_cut(new, from, new.len()),
            };
            key.clear();
            key.push(NORMALIZED);
            key.extend_from_slice(&new[part..next]);
            if !self.recall(&key, &mut gathered, sink) {
                self.solve(&normalized[part..next], &key, &mut gathered, sink);
            }
            (part, from) = (next, next);
        }
        self.key = key;
        gathered.give(sink);
        if gathered.fits() && whole && !open && self.solver.may_remember(&gathered.ids) {
            self.words.insert(&bytes[start..longer], &gathered.ids);
        }
        self.gathered = gathered;
        longer
    }

    /// Where long chunks may be cut.
    pub fn cuts(&self) -> &'c SafeCuts {
        (self.compiled.cuts).get(|| SafeCuts::new(self.model.vocab()))
    }

    /// Where the first parts of a chunk, the end of `text` from `start` on, end before it is
    /// normalized.
    #[inline(always)]
    fn raw_cuts(&self, text: &str, start: usize, ends: &mut [usize; GROUP]) -> raw_cuts::RawCuts {
        let kept = (self.compiled.kept).get(|| KeptCharacters::new(self.normalizer));
        kept.raw_cuts(self.normalizer, self.cuts(), text, start, ends)
    }

    /// Gives the tokens of a part of which nothing is remembered to `sink`; says whether they are the
    /// same wherever it stands.
    fn lone_new_part<S: Sink>(
        &mut self,
        part: &str,
        spaces: usize,
        changed: bool,
        sink: &mut S,
    ) -> bool
    where
        V: Solver<S>,
    {
        let mut gathered = self.gathered.take();
        self.new_part(part, spaces, changed, &mut gathered, sink);
        let anywhere = gathered.anywhere;
        self.gathered = gathered;
        anywhere
    }
}

impl<'c> ChunksCall<'c, Merging<'c>> {
    /// Gives the tokens of a text to `sink`, new chunks being merged together.
    fn side_by_side(
        mut self,
        text: &str,
        place: Place,
        chunks: &mut Chunks,
        room: &mut Room,
        sink: &mut impl Sink,
    ) {
        let (text, start) = self.begin(text, place, sink);
        BatchMerge::new(self, room).run(chunks, text, start, sink);
    }

    /// Whether this part of a chunk can be merged together with others.
    pub fn may_be_merged_together(&self, part: &str) -> bool {
        self.solver.takes(part) && !part.contains(SPACE)
    }

    /// Gives the tokens of a part that begins with so many spaces to `sink`; whether the normalizer
    /// changes the rest, perhaps.
    pub fn lone_part(&mut self, part: &str, spaces: usize, changed: bool, sink: &mut impl Sink) {
        let mut gathered = self.gathered.take();
        self.part(part, spaces, changed, &mut gathered, sink);
        gathered.give(sink);
        self.gathered = gathered;
    }
}

impl std::fmt::Debug for SentencePiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentencePiece")
            .field("delimiters", &self.delimiters)
            .field("keeps_ascii", &self.keeps_ascii)
            .finish_non_exhaustive()
    }
}
