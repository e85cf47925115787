//! What every strategy of the fast path answers: the tokens of a text, and where it may be split.

use std::fmt;
use std::rc::Rc;

use super::sink::Sink;
use super::{Spanning, Stretch};
use jeton_models::stages::Stages;
use jeton_text::error::Result;
use jeton_text::length_limit::LengthLimit;

/// A tokenizer, compiled by a strategy. Where most strategies have the same answer, it is here.
pub trait Compiled: fmt::Debug + Send + Sync {
    /// Gives the tokens of a stretch to `sink`. `stages` are those that this was compiled from; `limit`
    /// has the length of the whole text.
    ///
    /// # Errors
    /// As the stages.
    fn encode(
        &self,
        stages: &Stages,
        stretch: Stretch<'_>,
        limit: &Rc<LengthLimit>,
        sink: &mut dyn Sink,
    ) -> Result<()>;

    /// A safe split point of `text`, about `reach` bytes after `start`: the text before it and the text
    /// after it, each encoded at its [`Place`](crate::Place), have the tokens of both together. The end of
    /// the text if none is known. Each strategy has its own safe places; one search for all could take only
    /// those that are safe for each of them, and in much text there are none.
    fn split_point(&self, stages: &Stages, text: &str, start: usize, reach: usize) -> usize;

    /// How the positions of tokens are found.
    fn spanning(&self) -> Spanning;

    /// Whether it may be given normalized text instead of the text that was made from.
    fn may_be_normalized(&self) -> bool {
        false
    }

    /// Whether each token holds bytes of the text, so that there are no more tokens than bytes.
    fn tokens_are_bytes_of_text(&self) -> bool {
        false
    }

    /// Whether a byte begins a chunk, or is dropped between chunks, as a space is.
    fn is_space(&self, byte: u8) -> bool {
        byte == b' '
    }

    /// Whether a byte-level tokenizer puts a space in front of a stretch that begins with none.
    fn adds_space(&self) -> bool {
        false
    }

    /// Whether the tokens of a text depend on all that comes before them, so that it cannot be encoded in
    /// parts.
    fn needs_whole_text(&self) -> bool {
        false
    }

    /// Whether split points depend only on what comes before them, and are known before the end of a text
    /// is read.
    fn splits_looking_back(&self) -> bool {
        false
    }
}
