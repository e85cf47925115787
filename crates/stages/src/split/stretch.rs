//! Stretches: adjacent pieces that a splitter passes to its caller together.

/// Words of bits from the first to the last start of a piece; the last piece may be long.
const WORDS: usize = 64;

/// Collects where pieces begin and end, from left to right, and calls `visit` with stretches of them: where
/// a stretch begins, its length, and the bits of the bytes that begin a piece.
pub struct Stretches<F> {
    visit: F,
    start: usize,
    /// Whether a piece began that has not ended.
    is_open: bool,
    /// Which bytes begin a piece; of those after the last one none does.
    bits: [u64; WORDS],
}

impl<F: FnMut(usize, usize, &[u64])> Stretches<F> {
    /// None so far.
    pub fn new(visit: F) -> Self {
        Self {
            visit,
            start: 0,
            is_open: false,
            bits: [0; WORDS],
        }
    }

    /// A piece begins at each byte, counted from `base` on, that has a bit; all of them after the last
    /// one that began.
    #[inline(always)]
    pub fn begin(&mut self, base: usize, bits: u64) {
        if bits == 0 {
            return;
        }
        let first = base + bits.trailing_zeros() as usize;
        if !self.is_open || first - self.start >= (WORDS - 1) * 64 {
            self.end(first);
            (self.start, self.is_open) = (first, true);
        }
        let (at, bits) = match base.checked_sub(self.start) {
            Some(at) => (at, bits),
            None => (0, bits >> (self.start - base)),
        };
        let (word, shift) = (at / 64, at % 64);
        self.bits[word] |= bits << shift;
        self.bits[word + 1] |= bits >> 1 >> (63 - shift);
    }

    /// The last piece ends here, if it did not end before, and what is next is no piece, or begins one.
    #[inline(never)]
    pub fn end(&mut self, end: usize) {
        if std::mem::take(&mut self.is_open) {
            let length = end - self.start;
            let words = length.div_ceil(64).min(self.bits.len());
            let bits = &mut self.bits[..words];
            (self.visit)(self.start, length, bits);
            bits.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_begin_at_words_and_end_where_told() {
        let mut given = Vec::new();
        let mut stretches = Stretches::new(|start, length, bits: &[u64]| {
            given.push((start, length, bits.to_vec()));
        });
        stretches.begin(3, 0b101);
        stretches.end(7);
        stretches.end(8);
        stretches.begin(60, 1 << 4);
        stretches.begin(70, 1 << 63 | 1);
        stretches.begin(64 + 64 * 64, 1);
        stretches.end(5000);
        let mut bits = vec![0; 64];
        (bits[0], bits[1]) = (1 | 1 << 6, 1 << 5);
        let expected = [
            (3, 4, vec![0b101]),
            (64, 4096, bits),
            (4160, 840, [vec![1], vec![0; 13]].concat()),
        ];
        assert_eq!(given, expected);
    }
}
