//! What every other crate needs: text that remembers where it came from, split patterns, errors, files,
//! memory, interrupts.
//!
//! Look here for spans and their units, the dialects of expressions, limits, and how Ctrl-C stops a call.
//!
//! ```
//! use jeton_text::pattern::{Dialect, Regex};
//! use jeton_text::text::AlignedText;
//!
//! let words = Regex::new(r"\w+", Dialect::Oniguruma)?;
//! let found: Vec<_> = words.matches("un café").collect::<Result<_, _>>()?;
//! assert_eq!(found, [0..2, 3..8]);
//!
//! let text = AlignedText::original("un café");
//! let span = text.span_of(3..8);
//! assert_eq!((span.start, span.end), (3, 8));
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! The modules, each using only those above it:
//!
//! - [`error`], [`mem`] (values computed on first use, memory in large pages), [`log`], [`interrupt`] (ends long
//!   work), [`threads`], [`length_limit`];
//! - [`printable`] (GPT-2's alphabet for bytes), [`scripts`] (Unicode's), [`simd`] (the lowest of
//!   sixteen numbers);
//! - [`text`]: text with the origin of each of its bytes, units of spans, broken UTF-8; [`function`],
//!   functions of the caller that rewrite or split text;
//! - [`pattern`]: expressions in the dialects of the libraries that they were written for, and which
//!   engine runs them;
//! - [`files`]: files that are whole or not there; [`python_json`], the numbers that Python's JSON has
//!   besides.

pub mod error;
pub mod files;
pub mod function;
pub mod interrupt;
pub mod length_limit;
pub mod log;
pub mod mem;
pub mod pattern;
pub mod printable;
pub mod python_json;
pub mod scripts;
pub mod simd;
pub mod text;
pub mod threads;

pub use error::{Error, ErrorKind, Result};
pub use text::{InvalidUtf8, Unit};

/// Initializes the libraries that do so behind a lock of the process when they are first used. A child
/// that is forked while another thread holds such a lock waits for it forever, so a program that may fork
/// calls this before it starts threads. All other values are computed without a lock (`mem::lazy`).
pub fn initialize_libraries() {
    pattern::Expression::initialize();
    // The seed of all hash tables.
    foldhash::fast::RandomState::default();
}
