//! Groups of pieces: 32 of them are looked up in the word cache together, so that the memory of all is
//! prefetched before the first is read.

use super::entries::Found;
use super::pending::Pending;
use super::word_cache::WordCache;
use jeton_text::mem::short_keys::{LONG, LongKey, SHORT, ShortKey};

/// Pieces that are looked up together.
pub const GROUP: usize = 32;

/// Pieces from a new one to the one whose neighbour line is prefetched, in case that its own is full.
const AHEAD: usize = 4;

/// The keys and hashes of a group of pieces.
pub struct Group {
    /// The key of no piece where a piece is not short.
    keys: [ShortKey; GROUP],
    hashes: [u64; GROUP],
}

impl Group {
    /// No pieces.
    pub const NONE: Self = Self {
        keys: [ShortKey::NONE; GROUP],
        hashes: [0; GROUP],
    };

    /// The key and the hash of a piece.
    #[inline(always)]
    pub fn piece(&self, number: usize) -> (ShortKey, u64) {
        (self.keys[number], self.hashes[number])
    }

    /// Takes the pieces of `text` that lie between neighbours in `bounds`, as [`Self::ask`] does.
    pub fn ask_between(&mut self, words: &WordCache, text: &[u8], bounds: &[u32]) {
        let pieces = bounds.windows(2).map(|it| (it[0] as usize, it[1] as usize));
        self.ask(words, text, pieces);
    }

    /// Takes the pieces of `text` that begin and end at these places, and prefetches the memory in which
    /// each would be found.
    #[inline(always)]
    pub fn ask(
        &mut self,
        words: &WordCache,
        text: &[u8],
        pieces: impl Iterator<Item = (usize, usize)>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.ask_bmi2(words, text, pieces) };
        }
        self.ask_portable(words, text, pieces);
    }

    /// The same code, with what newer processors have for shifts and products.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2")]
    fn ask_bmi2(
        &mut self,
        words: &WordCache,
        text: &[u8],
        pieces: impl Iterator<Item = (usize, usize)>,
    ) {
        self.ask_portable(words, text, pieces);
    }

    #[inline(always)]
    fn ask_portable(
        &mut self,
        words: &WordCache,
        text: &[u8],
        pieces: impl Iterator<Item = (usize, usize)>,
    ) {
        for (((start, end), key), hash) in pieces.zip(&mut self.keys).zip(&mut self.hashes) {
            let length = end - start;
            if length <= SHORT {
                *key = ShortKey::new(text, start, length);
                *hash = words.prefetch_short(*key);
            } else {
                *key = ShortKey::NONE;
                *hash = ask_long(words, text, start, length);
            }
        }
    }

    /// The tokens of the piece of this number, `text[start..end]`, if they are known and it is no
    /// longer than [`LONG`].
    #[inline(always)]
    pub fn find<'w>(
        &self,
        number: usize,
        words: &'w WordCache,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> Option<Found<'w>> {
        let (key, hash) = self.piece(number);
        match end - start {
            ..=SHORT => words.find_short(key, hash),
            length @ ..=LONG => words.find_long(LongKey::new(text, start, length), hash),
            _ => None,
        }
    }

    /// Prefetches what else is read to remember a new piece. From one new piece on: new ones come together.
    #[inline(always)]
    pub fn prefetch_new(&self, words: &WordCache, number: usize) {
        if let Some(&hash) = self.hashes.get(number + AHEAD) {
            words.prefetch_beside(hash);
        }
    }

    /// Gives the tokens of the pieces from number `from` on to `pending`, which has room for them, as
    /// long as they are known, and says which piece is the first that is not. These are the pieces
    /// that were last asked for; one that is longer than [`LONG`] is not known.
    pub fn emit_known(
        &self,
        words: &WordCache,
        text: &[u8],
        bounds: &[u32],
        from: usize,
        pending: &mut Pending,
    ) -> usize {
        let mut end = pending.end();
        for number in from..(bounds.len() - 1).min(GROUP) {
            let (key, hash) = self.piece(number);
            if let Some(found) = words.find_short(key, hash) {
                end = pending.found_at(end, found);
                continue;
            }
            pending.set_end(end);
            let (start, length) = (bounds[number], bounds[number + 1] - bounds[number]);
            if !known_long(words, text, start as usize, length as usize, hash, pending) {
                self.prefetch_new(words, number);
                return number;
            }
            end = pending.end();
        }
        pending.set_end(end);
        bounds.len() - 1
    }
}

/// Gives the tokens of a piece to `pending`, if it is a long one and known.
#[inline(never)]
fn known_long(
    words: &WordCache,
    text: &[u8],
    start: usize,
    length: usize,
    hash: u64,
    pending: &mut Pending,
) -> bool {
    if length <= SHORT || length > LONG {
        return false;
    }
    let found = words.find_long(LongKey::new(text, start, length), hash);
    found.inspect(|&found| pending.push_found(found)).is_some()
}

#[inline(never)]
fn ask_long(words: &WordCache, text: &[u8], start: usize, length: usize) -> u64 {
    if length > LONG {
        return 0;
    }
    words.prefetch_long(LongKey::new(text, start, length))
}

#[cfg(test)]
mod tests {
    use super::super::pending::MAX_PENDING;
    use super::*;

    #[test]
    fn known_words_pass_up_to_the_first_new_one() {
        let text = b"one two a piece of thirty bytes ... new one";
        let bounds = [0, 3, 7, 35, 39, 43];
        let mut words = WordCache::new(1);
        words.insert(b"one", &[1]);
        words.insert(b" two", &[2, 3, 4, 5, 6]);
        words.insert(&text[7..35], &[7; 9]);
        let mut group = Group::NONE;
        group.ask_between(&words, text, &bounds);
        let (mut room, mut holes) = ([0; MAX_PENDING], Vec::new());
        let mut pending = Pending::new(&mut room, &mut holes);
        assert_eq!(group.emit_known(&words, text, &bounds, 0, &mut pending), 3);
        assert_eq!(group.piece(3).0, ShortKey::new(b" new", 0, 4));
        assert_eq!(group.emit_known(&words, text, &bounds, 4, &mut pending), 4);
        let mut ids: Vec<u32> = Vec::new();
        pending.give(|_| (&[], 0), &mut ids);
        assert_eq!(ids, [&[1, 2, 3, 4, 5, 6][..], &[7; 9]].concat());
    }
}
