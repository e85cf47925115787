//! The ids that the post-processor puts around a text or a pair, for post-processors that do nothing else.

use super::Tokenizer;
use super::encoding_builder::EncodingBuilder;
use jeton_stages::post_processor::{Part, PostProcessor};
use jeton_text::text::{Span, Unit};

/// The ids in front of those of a text, and behind them.
pub(super) type Frame = (Vec<u32>, Vec<u32>);

/// The ids in front of those of a pair, between its texts, and behind them.
pub(super) type PairFrame = [Vec<u32>; 3];

impl Tokenizer {
    /// What is put around the ids of one text: the ids before and those after it. `None` where the
    /// post-processor does something else to them.
    pub fn frame(&self, add_special_tokens: bool) -> Option<(&[u32], &[u32])> {
        let (before, after) = self.frames[usize::from(add_special_tokens)].as_ref()?;
        Some((before, after))
    }
}

/// What a post-processor puts around the ids of one text, found out with one id that no token has.
pub(super) fn frame(
    post_processor: Option<&PostProcessor>,
    add_special_tokens: bool,
) -> Option<Frame> {
    const TEXT: u32 = u32::MAX;
    let Some(post_processor) = post_processor else {
        return Some(Frame::default());
    };
    let framed = post_processor
        .process(vec![part_of(TEXT)], add_special_tokens)
        .ok()?;
    let mut parts = framed.ids.split(|id| *id == TEXT);
    let frame = (parts.next()?.to_vec(), parts.next()?.to_vec());
    parts.next().is_none().then_some(frame)
}

/// What a post-processor puts before, between and after the ids of a pair, found out as [`frame`] does.
pub(super) fn pair_frame(
    post_processor: Option<&PostProcessor>,
    add_special_tokens: bool,
) -> Option<PairFrame> {
    const FIRST: u32 = u32::MAX - 1;
    const SECOND: u32 = u32::MAX;
    let Some(post_processor) = post_processor else {
        return Some(PairFrame::default());
    };
    let parts = vec![part_of(FIRST), part_of(SECOND)];
    let framed = post_processor.process(parts, add_special_tokens).ok()?;
    let texts = framed.ids.iter().filter(|id| **id >= FIRST);
    if !texts.eq(&[FIRST, SECOND]) {
        return None;
    }
    let mut parts = framed.ids.split(|id| *id >= FIRST).map(<[u32]>::to_vec);
    Some([parts.next()?, parts.next()?, parts.next()?])
}

/// A text of one token.
fn part_of(id: u32) -> Part {
    let mut rows = EncodingBuilder::new(Unit::Bytes);
    rows.push(id, Span::default());
    Part::new(rows.encoding, Vec::new())
}
