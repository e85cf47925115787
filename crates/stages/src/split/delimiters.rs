//! Splitting original text into chunks at spaces and other delimiters, before any stage has seen it.
//!
//! Look here for the scanner behind the strategies that cache chunks. It reads 64 bytes at a time and
//! knows only ASCII, so each delimiter is one byte.

use super::BLOCK;
use jeton_text::interrupt::{self, Pace, paced};
use std::ops::RangeInclusive;

/// Blocks that are scanned before their chunks are handed on.
const BLOCKS_AT_ONCE: usize = 16;
/// Places that are written at a time.
const ROW: usize = 8;
/// Chunks, at most, that begin in this many blocks, and one that began before; and a row of room, since
/// whole rows are written, where a block has AVX-512 write eight.
const MAX_CHUNKS: usize = BLOCK * BLOCKS_AT_ONCE + 1 + ROW;

/// Sets of ASCII characters, each as ranges.
pub type Set = Vec<RangeInclusive<u8>>;

/// The bytes at which text is split into chunks.
#[derive(Clone, Debug)]
pub struct Delimiters {
    /// A run of these begins a chunk, or is dropped.
    spaces: Set,
    /// Whether runs of spaces are dropped.
    dropped: bool,
    /// Each of these is a chunk by itself.
    alone: Set,
}

/// The working memory of a scan: where each chunk begins and ends.
pub struct Chunks {
    starts: [usize; MAX_CHUNKS],
    ends: [usize; MAX_CHUNKS],
}

impl Delimiters {
    /// Runs of `spaces` begin a chunk or, if `dropped`, lie between chunks; each of `alone` is a
    /// chunk. All are ASCII, and no byte is in both.
    pub fn new(spaces: Set, dropped: bool, alone: Set) -> Self {
        Self {
            spaces,
            dropped,
            alone,
        }
    }

    /// Whether a run of spaces may hold this byte.
    #[inline]
    pub fn is_space(&self, byte: u8) -> bool {
        self.spaces.iter().any(|range| range.contains(&byte))
    }

    /// Whether this byte is a chunk by itself.
    pub fn is_alone(&self, byte: u8) -> bool {
        self.alone.iter().any(|range| range.contains(&byte))
    }

    /// Where the chunk ends to which the byte at `at` belongs.
    pub fn chunk_end(&self, text: &[u8], at: usize) -> usize {
        if text.get(at).is_some_and(|byte| self.is_alone(*byte)) {
            return at + 1;
        }
        let mut end = at;
        let mut pace = Pace::default();
        while text.get(end).is_some_and(|byte| self.is_space(*byte)) {
            pace.step();
            end += 1;
        }
        while text
            .get(end)
            .is_some_and(|byte| !self.is_space(*byte) && !self.is_alone(*byte))
        {
            pace.step();
            end += 1;
        }
        end
    }

    /// Calls `visit` with the chunks of `text` from `start` on, in order, some hundred at a time:
    /// where they begin and where they end. A chunk begins at `start`.
    ///
    /// # Errors
    /// The first error of `visit`.
    #[inline]
    pub fn chunks<E>(
        &self,
        text: &[u8],
        start: usize,
        chunks: &mut Chunks,
        visit: impl FnMut(&[usize], &[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx512) = avx512::Avx512::detected() {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.chunks_avx512(avx512, text, start, chunks, visit) };
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.chunks_avx2(text, start, chunks, visit) };
        }
        self.chunks_by(Portable, text, start, chunks, visit)
    }

    /// The same code, with what the newest processors have for bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vbmi2")]
    fn chunks_avx512<E>(
        &self,
        avx512: avx512::Avx512,
        text: &[u8],
        start: usize,
        chunks: &mut Chunks,
        visit: impl FnMut(&[usize], &[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.chunks_by(avx512, text, start, chunks, visit)
    }

    /// The same code, with what newer processors have for bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn chunks_avx2<E>(
        &self,
        text: &[u8],
        start: usize,
        chunks: &mut Chunks,
        visit: impl FnMut(&[usize], &[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.chunks_by(Portable, text, start, chunks, visit)
    }

    #[inline(always)]
    fn chunks_by<E>(
        &self,
        way: impl Way,
        text: &[u8],
        start: usize,
        chunks: &mut Chunks,
        mut visit: impl FnMut(&[usize], &[usize]) -> Result<(), E>,
    ) -> Result<(), E> {
        if start >= text.len() {
            return Ok(());
        }
        let (mut begun, mut ended) = (0, 0);
        // The first byte follows a place where text is split. Where spaces are kept, that it
        // begins a chunk is known, and it must not end one.
        let mut after_space = 1;
        let mut after_alone = 0;
        if !self.dropped {
            chunks.starts[0] = start;
            begun = 1;
            after_space = u64::from(self.is_space(text[start]));
        }
        let mut at = start;
        let mut blocks = 0;
        while at < text.len() {
            let (spaces, alone, valid) = match text[at..].first_chunk::<BLOCK>() {
                Some(block) => (
                    way.mask(block, &self.spaces),
                    way.mask(block, &self.alone),
                    !0,
                ),
                None => {
                    let rest = &text[at..];
                    let mut block = [0; BLOCK];
                    block[..rest.len()].copy_from_slice(rest);
                    let valid = (1 << rest.len()) - 1;
                    let [spaces, alone] =
                        [&self.spaces, &self.alone].map(|set| way.mask(&block, set));
                    (spaces & valid, alone & valid, valid)
                }
            };
            let space_before = spaces << 1 | after_space;
            let alone_before = alone << 1 | after_alone;
            (after_space, after_alone) = (spaces >> 63, alone >> 63);
            let mut starts = if self.dropped {
                !spaces & (space_before | alone_before | alone)
            } else {
                spaces & !space_before | alone | alone_before
            } & valid;
            let ends = (spaces | alone | alone_before) & !space_before & valid;
            if at == start && !self.dropped {
                starts &= !1;
            }
            begun = way.write(starts, at, &mut chunks.starts, begun);
            if self.dropped {
                ended = way.write(ends, at, &mut chunks.ends, ended);
            }
            at += BLOCK;
            blocks += 1;
            if blocks == BLOCKS_AT_ONCE || at >= text.len() {
                // Each chunk ends where the next begins, unless spaces are dropped.
                if !self.dropped {
                    ended = begun - 1;
                }
                if at >= text.len() && ended < begun {
                    if self.dropped {
                        chunks.ends[ended] = text.len()
                    } else {
                        chunks.starts[begun] = text.len()
                    }
                    ended += 1;
                }
                let ends = if self.dropped {
                    &chunks.ends[..ended]
                } else {
                    &chunks.starts[1..=ended]
                };
                interrupt::poll();
                visit(&chunks.starts[..ended], ends)?;
                if begun > ended {
                    chunks.starts[0] = chunks.starts[ended];
                }
                begun -= ended;
                (ended, blocks) = (0, 0);
            }
        }
        Ok(())
    }
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            starts: [0; MAX_CHUNKS],
            ends: [0; MAX_CHUNKS],
        }
    }
}

/// How bytes become bits, and bits places.
trait Way: Copy {
    /// Which bytes of a block are in `set`.
    fn mask(self, block: &[u8; BLOCK], set: &Set) -> u64;

    /// Writes `base + i` after the first `count` of `places` for each bit `i` of `mask`; returns how
    /// many there are then. Whole rows are written, since how many bits are set is no guess that a
    /// processor often gets right.
    fn write(self, mask: u64, base: usize, places: &mut [usize; MAX_CHUNKS], count: usize)
    -> usize;
}

/// With what each processor of the family has.
#[derive(Clone, Copy)]
struct Portable;

impl Way for Portable {
    #[inline(always)]
    fn mask(self, block: &[u8; BLOCK], set: &Set) -> u64 {
        mask(block, set)
    }

    #[inline(always)]
    fn write(
        self,
        mask: u64,
        base: usize,
        places: &mut [usize; MAX_CHUNKS],
        count: usize,
    ) -> usize {
        let mut rest = mask;
        let mut next = count;
        while rest != 0 {
            let row = places[next..].first_chunk_mut::<ROW>();
            for place in row.into_iter().flatten() {
                *place = base + rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
            }
            next += ROW;
        }
        count + mask.count_ones() as usize
    }
}

/// Which bytes of a block are in `set`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    use std::arch::x86_64::*;

    // SAFETY: 16 bytes of the block's 64 are read, four times. The instructions are SSE2, which every
    // x86-64 processor has.
    unsafe {
        let parts = [0, 16, 32, 48].map(|at| _mm_loadu_si128(block.as_ptr().add(at).cast()));
        let mut inside = [_mm_setzero_si128(); 4];
        for range in set {
            let first = _mm_set1_epi8(*range.start() as i8);
            let span = _mm_set1_epi8((range.end() - range.start()) as i8);
            for (inside, bytes) in inside.iter_mut().zip(parts) {
                let above = _mm_sub_epi8(bytes, first);
                let within = _mm_cmpeq_epi8(_mm_min_epu8(above, span), above);
                *inside = _mm_or_si128(*inside, within);
            }
        }
        let bits = inside.map(|inside| u64::from(_mm_movemask_epi8(inside) as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    }
}

/// Which bytes of a block are in `set`.
#[cfg(neon)]
#[inline(always)]
fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    use std::arch::aarch64::*;

    use super::neon::{bits, load};

    // SAFETY: all is compiled for processors with NEON.
    unsafe {
        bits(load(block).map(|bytes| {
            let mut inside = vdupq_n_u8(0);
            for range in set {
                let above = vsubq_u8(bytes, vdupq_n_u8(*range.start()));
                let span = vdupq_n_u8(range.end() - range.start());
                inside = vorrq_u8(inside, vcleq_u8(above, span));
            }
            inside
        }))
    }
}

/// Which bytes of a block are in `set`.
#[cfg(not(any(target_arch = "x86_64", neon)))]
fn mask(block: &[u8; BLOCK], set: &Set) -> u64 {
    let inside = |byte: &u8| set.iter().any(|range| range.contains(byte));
    let bits = block.iter().map(|byte| u64::from(inside(byte)));
    bits.enumerate().fold(0, |found, (i, bit)| found | bit << i)
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    //! With AVX-512: one instruction compares all bytes of a block, and one gathers the numbers of the
    //! bits that are set.

    use std::arch::x86_64::*;

    use super::{BLOCK, MAX_CHUNKS, ROW, Set, Way};

    const NUMBERS: [u8; BLOCK] = {
        let mut numbers = [0; BLOCK];
        let mut i = 0;
        while i < BLOCK {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    };

    /// Proof that this processor has AVX-512 with its instructions for bytes and for packing them, and
    /// what came long before it, and that a place has 64 bits.
    #[derive(Clone, Copy)]
    pub struct Avx512(());

    impl Avx512 {
        pub fn detected() -> Option<Self> {
            let has_all = usize::BITS == 64
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            has_all.then_some(Self(()))
        }
    }

    impl Way for Avx512 {
        #[inline(always)]
        fn mask(self, block: &[u8; BLOCK], set: &Set) -> u64 {
            // SAFETY: there is AVX-512 where there is a `self`; a block has 64 bytes.
            unsafe {
                let bytes = _mm512_loadu_si512(block.as_ptr().cast());
                set.iter().fold(0, |inside, range| {
                    let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(*range.start() as i8));
                    let span = _mm512_set1_epi8((range.end() - range.start()) as i8);
                    inside | _mm512_cmple_epu8_mask(above, span)
                })
            }
        }

        #[inline(always)]
        fn write(
            self,
            mask: u64,
            base: usize,
            places: &mut [usize; MAX_CHUNKS],
            count: usize,
        ) -> usize {
            let behind = count + mask.count_ones() as usize;
            let room = places[count..].first_chunk_mut::<BLOCK>();
            let room = room.expect("no block has more places than bytes");
            // SAFETY: there is AVX-512 where there is a `self`; a row is eight numbers of 64 bits, and all
            // eight rows lie inside the room.
            unsafe {
                let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
                let base = _mm512_set1_epi64(base as i64);
                let packed = _mm512_maskz_compress_epi8(mask, numbers);
                let room = room.as_mut_ptr();
                let put = |two: __m128i, at: usize| {
                    let first = _mm512_cvtepu8_epi64(two);
                    let second = _mm512_cvtepu8_epi64(_mm_srli_si128::<{ ROW as i32 }>(two));
                    let (low, high) = (room.add(at), room.add(at + ROW));
                    _mm512_storeu_si512(low.cast(), _mm512_add_epi64(first, base));
                    _mm512_storeu_si512(high.cast(), _mm512_add_epi64(second, base));
                };
                put(_mm512_castsi512_si128(packed), 0);
                if behind > count + 2 * ROW {
                    put(_mm512_extracti32x4_epi32::<1>(packed), 2 * ROW);
                    put(_mm512_extracti32x4_epi32::<2>(packed), 4 * ROW);
                    put(_mm512_extracti32x4_epi32::<3>(packed), 6 * ROW);
                }
            }
            behind
        }
    }
}

/// Where a part of `text` ends that begins at `start` and has at least `reach` bytes: after a byte that
/// `cuts_behind` accepts, or before a space that `cuts_before` accepts, whose arguments are the places of
/// the space before it (or `start`) and of this one. The end of `text` if there is no such place.
pub fn split_point(
    text: &str,
    start: usize,
    reach: usize,
    cuts_behind: impl Fn(u8) -> bool,
    cuts_before: impl Fn(usize, usize) -> bool,
) -> usize {
    let bytes = text.as_bytes();
    let first = start.saturating_add(reach.max(1)).min(text.len());
    let space_before = bytes[start..first].iter().rposition(|byte| *byte == b' ');
    let mut space = start + space_before.unwrap_or(0);
    for (at, &byte) in paced((first..).zip(&bytes[first..])) {
        if cuts_behind(byte) {
            return at + 1;
        }
        if byte == b' ' {
            if cuts_before(space, at) {
                return at;
            }
            space = at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn found(delimiters: &Delimiters, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let visit = |starts: &[usize], ends: &[usize]| -> Result<(), ()> {
            found.extend(starts.iter().copied().zip(ends.iter().copied()));
            Ok(())
        };
        let text = text.as_bytes();
        delimiters
            .chunks(text, 0, &mut Chunks::default(), visit)
            .unwrap();
        found
    }

    /// As [`found`], with what each processor of the family has.
    fn found_portably(delimiters: &Delimiters, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let visit = |starts: &[usize], ends: &[usize]| -> Result<(), ()> {
            found.extend(starts.iter().copied().zip(ends.iter().copied()));
            Ok(())
        };
        let mut chunks = Chunks::default();
        (delimiters.chunks_by(Portable, text.as_bytes(), 0, &mut chunks, visit)).unwrap();
        found
    }

    /// One by one.
    fn expected(delimiters: &Delimiters, text: &str) -> Vec<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut chunks = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let end = delimiters.chunk_end(bytes, at);
            let spaces = bytes[at..end]
                .iter()
                .take_while(|byte| delimiters.is_space(**byte))
                .count();
            if !delimiters.dropped {
                chunks.push((at, end));
            } else if at + spaces < end {
                chunks.push((at + spaces, end));
            }
            at = end;
        }
        chunks
    }

    #[test]
    fn spaces_begin_chunks_or_lie_between_them() {
        let kept = Delimiters::new(vec![b' '..=b' '], false, vec![b'\n'..=b'\n']);
        assert_eq!(
            found(&kept, "to  be\n or"),
            [(0, 2), (2, 6), (6, 7), (7, 10)]
        );
        let dropped = Delimiters::new(vec![b' '..=b' '], true, vec![b'.'..=b'.']);
        assert_eq!(found(&dropped, " to  be. "), [(1, 3), (5, 7), (7, 8)]);
    }

    #[test]
    fn blocks_and_single_bytes_agree() {
        let mut numbers = ChaCha8Rng::seed_from_u64(3);
        for round in 0..2000 {
            let delimiters = Delimiters::new(
                vec![b' '..=b' ', b'\t'..=b'\n'],
                round % 2 == 0,
                vec![b'!'..=b'/'],
            );
            let length = numbers.random_range(0..3000) / numbers.random_range(1..20);
            let few = numbers.random_range(0..12);
            let text: String = (0..length)
                .map(|_| match numbers.random_range(0..12) {
                    kind if kind < few => 'a',
                    0..6 => ' ',
                    6 => '\n',
                    7 => '!',
                    8 => '/',
                    9 => '0',
                    10 => 'é',
                    _ => '中',
                })
                .collect();
            let expected = expected(&delimiters, &text);
            assert_eq!(found(&delimiters, &text), expected, "{text:?}");
            assert_eq!(found_portably(&delimiters, &text), expected, "{text:?}");
        }
    }
}
