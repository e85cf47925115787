//! Splitting text: into words by a pattern, into chunks at spaces, and long words or chunks at safe split
//! points, between characters that are adjacent in no token.

pub mod any_splitter;
pub mod delimiters;
#[cfg(neon)]
mod neon;
pub mod one_pass;
mod phrases;
pub mod scanner;
pub mod set_bits;
pub mod split_points;
pub mod splitter;
mod stretch;
#[cfg(test)]
mod test_texts;

/// Bytes of a block: scanners have a bit of a mask for each.
const BLOCK: usize = 64;
