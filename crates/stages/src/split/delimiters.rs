//! Splitting original text into chunks at spaces and other delimiters, before any stage has seen it.
//!
//! Look here for the scanner behind the strategies that cache chunks. It reads 64 bytes at a time and
//! knows only ASCII, so each delimiter is one byte.

mod masks;

use super::BLOCK;
use jeton_text::interrupt;
pub use masks::Set;
use masks::{BLOCKS_AT_ONCE, MAX_CHUNKS, mask, write};

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
        while text.get(end).is_some_and(|byte| self.is_space(*byte)) {
            end += 1;
        }
        while text
            .get(end)
            .is_some_and(|byte| !self.is_space(*byte) && !self.is_alone(*byte))
        {
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
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.chunks_avx2(text, start, chunks, visit) };
        }
        self.chunks_by(text, start, chunks, visit)
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
        self.chunks_by(text, start, chunks, visit)
    }

    #[inline(always)]
    fn chunks_by<E>(
        &self,
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
                Some(block) => (mask(block, &self.spaces), mask(block, &self.alone), !0),
                None => {
                    let rest = &text[at..];
                    let mut block = [0; BLOCK];
                    block[..rest.len()].copy_from_slice(rest);
                    let valid = (1 << rest.len()) - 1;
                    let [spaces, alone] = [&self.spaces, &self.alone].map(|set| mask(&block, set));
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
            begun = write(starts, at, &mut chunks.starts, begun);
            if self.dropped {
                ended = write(ends, at, &mut chunks.ends, ended);
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
    for (at, &byte) in (first..).zip(&bytes[first..]) {
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
        }
    }
}
