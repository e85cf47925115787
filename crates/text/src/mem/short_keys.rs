//! Short texts as keys of tables: their bytes in two or four machine words, which are compared and hashed at
//! once.

/// Bytes of the longest short text, whose key is two machine words.
pub const SHORT: usize = 15;
/// Bytes of the longest long text, whose key is four machine words.
pub const LONG: usize = 30;

/// An odd number whose bits look random, with which keys are mixed.
pub const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_LONG: u64 = 0xD6E8_FEB8_6659_FD93;

/// By `n`, the mask that keeps the first `n` of 16 bytes, as two words.
const KEPT: [[u64; 2]; 17] = {
    let mut kept = [[0, 0]; 17];
    let mut n = 1;
    while n <= 16 {
        let byte = (n - 1) % 8;
        kept[n] = kept[n - 1];
        kept[n][(n - 1) / 8] |= 0xFF << (8 * byte);
        n += 1;
    }
    kept
};

/// The words of `text[start..start + length]`, where `length <= 16`; zeros fill the rest.
#[inline(always)]
fn window(text: &[u8], start: usize, length: usize) -> [u64; 2] {
    let Some(window) = text.get(start..start + 16) else {
        return last_window(&text[start..start + length]);
    };
    let half = |at: usize| u64::from_le_bytes(window[at..at + 8].try_into().expect("eight bytes"));
    let kept = KEPT[length];
    [half(0) & kept[0], half(8) & kept[1]]
}

/// As [`window`], of what ends a text.
#[cold]
fn last_window(piece: &[u8]) -> [u64; 2] {
    let mut bytes = [0; 16];
    bytes[..piece.len()].copy_from_slice(piece);
    let value = u128::from_le_bytes(bytes);
    [value as u64, (value >> 64) as u64]
}

/// A short piece as two words: its bytes, and its length in the last byte.
#[derive(Clone, Copy, Debug, Default, Eq)]
#[repr(C)]
pub struct ShortKey {
    /// The first eight bytes, little-endian.
    pub low: u64,
    /// The other bytes, and the length in the last.
    pub high: u64,
}

/// Both words at once, without a branch: a processor cannot guess which of them differs.
impl PartialEq for ShortKey {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }
}

impl ShortKey {
    /// The key of an empty place.
    pub const EMPTY: Self = Self { low: 0, high: 0 };
    /// A key that equals no other, not even that of an empty place.
    pub const NONE: Self = Self { low: 1, high: 0 };

    /// The key of `text[start..start + length]`, where `length <= SHORT`.
    #[inline(always)]
    pub fn new(text: &[u8], start: usize, length: usize) -> Self {
        debug_assert!(length <= SHORT && start + length <= text.len());
        let [low, high] = window(text, start, length);
        Self {
            low,
            high: high | (length as u64) << 56,
        }
    }

    /// The piece, and its length.
    pub fn bytes(self) -> ([u8; SHORT + 1], usize) {
        let value = u128::from(self.low) | u128::from(self.high) << 64;
        let bytes = value.to_le_bytes();
        (bytes, usize::from(bytes[SHORT]))
    }

    /// Where the key belongs in a hash table.
    #[inline(always)]
    pub fn hash(self, seed: u64) -> u64 {
        // Both factors are seeded: a text could choose one that it knew so that the other did not matter.
        fold(self.low ^ seed, self.high ^ seed.rotate_left(32))
    }
}

/// A piece of up to [`LONG`] bytes as four words: its bytes, and its length in the last byte but
/// one.
#[derive(Clone, Copy, Debug, Eq)]
pub struct LongKey(pub [u64; 4]);

/// Word by word: what was just written as words can be read as one vector only once all of it has left
/// the processor's queue.
impl PartialEq for LongKey {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0
    }
}

impl LongKey {
    /// The key of `text[start..start + length]`, where `length <= LONG`.
    #[inline(always)]
    pub fn new(text: &[u8], start: usize, length: usize) -> Self {
        debug_assert!(length <= LONG && start + length <= text.len());
        let head = length.min(16);
        let [a, b] = window(text, start, head);
        let [c, d] = window(text, start + head, length - head);
        Self([a, b, c, d | (length as u64) << 48])
    }

    /// Where the key belongs in a hash table, in the upper half. The lower half is zero: a look-up that
    /// goes to the short pieces first reads the same line each time, which stays near.
    #[inline(always)]
    pub fn hash(self, seed: u64) -> u64 {
        let [a, b, c, d] = self.0;
        let other = seed.rotate_left(32);
        fold(fold(a ^ seed, b ^ other) ^ c, d ^ other ^ MIX_LONG) >> 32 << 32
    }
}

/// Both halves of a product, each bit of which depends on many of both factors.
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}
