//! Where a text that is not complete yet may be split, so that its parts have the tokens of the whole text.

use std::sync::Arc;

use super::{EncodeOptions, Tokenizer};
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::boundary_before;
use jeton_training::word_counts::FirstStages;

/// Approximate bytes of a part in the middle of a text.
pub(super) const PART: usize = if cfg!(test) { 48 } else { 1 << 10 };

/// Finds split points in a text that is not complete yet: the parts, each encoded at its [`Place`](jeton_fast::Place), have
/// the tokens of the whole text.
#[derive(Debug)]
pub(super) enum SplitPointSearch {
    Stages(Arc<FirstStages>),
    /// The tokenizer's fast path, which looks only at what comes before a place.
    Compiled,
}

impl SplitPointSearch {
    /// For a tokenizer and these options; `refused` says in an error what cannot be done without split points.
    ///
    /// # Errors
    /// No safe split points are known for this tokenizer, or for text in which its special tokens are
    /// looked for; `special` is [`SpecialPolicy::Raise`], whose error needs a place in the whole text.
    pub(super) fn new(
        tokenizer: &Tokenizer,
        options: &EncodeOptions,
        refused: &str,
    ) -> Result<Self> {
        if options.special == SpecialPolicy::Raise {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "within a part, the place of a special token in the whole text is not known, so special \
                 cannot be \"raise\"",
            )
            .hint("pass \"ignore\", \"allow\" or a set of special tokens"));
        }
        let stages = tokenizer.split_point_stages().filter(|_| {
            tokenizer.frame(options.add_special_tokens).is_some()
                && tokenizer.may_part(&options.special)
        });
        let compiled = || tokenizer.splits_prefixes(options).then_some(Self::Compiled);
        stages.map(Self::Stages).or_else(compiled).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                format!("{refused}: no safe split points are known for it"),
            )
            .hint("encode the whole text, or each line or paragraph as a text of its own")
        })
    }

    /// A split point, sought from about `near` on, of a text that continues after its end.
    pub(super) fn find(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        near: usize,
        options: &EncodeOptions,
    ) -> Option<usize> {
        match self {
            Self::Stages(stages) => {
                let at = near + stages.split_point(&text[near..])?;
                let parts = tokenizer.parts_at(text, at, &options.special);
                parts.then_some(at)
            }
            Self::Compiled => tokenizer.split_point_in_prefix(text, near, options),
        }
    }

    /// A split point near the front of a text that continues at both ends, and how many bytes the search looked
    /// at: it is a split point of every text that holds those.
    pub(super) fn find_within(
        &self,
        tokenizer: &Tokenizer,
        text: &str,
        options: &EncodeOptions,
    ) -> Option<(usize, usize)> {
        let added = &tokenizer.added_tokens;
        // These bytes rule out an added token that begins in front of the text and ends after them.
        let is_far_enough = |at| added.finds_nothing(&options.special) || at >= added.reach();
        let mut size = PART;
        loop {
            let window = &text[..boundary_before(text, size)];
            // To judge a place, the fast path reads from the last space in front of it.
            let space = window.bytes().skip(1).position(|byte| byte == b' ');
            let near = match self {
                Self::Stages(_) => Some(0),
                Self::Compiled => space.map(|space| (space + 2).max(window.len() / 2)),
            };
            let found = near.and_then(|near| {
                let near = boundary_before(window, near);
                self.find(tokenizer, window, near, options)
            });
            match found.filter(|&at| at > 0 && is_far_enough(at)) {
                Some(at) => return Some((at, window.len())),
                None if window.len() == text.len() => return None,
                None => size *= 2,
            }
        }
    }
}

impl Tokenizer {
    /// A place in `part` at which every text that contains `part` may be split: its tokens are those of the
    /// text in front of the place, as the front of a text, and those after it. None if none is known.
    ///
    /// After an edit, only the text between such places in front of it and after it has other tokens.
    pub fn split_point_within(&self, part: &str, special: SpecialPolicy) -> Option<usize> {
        let options = EncodeOptions {
            special,
            ..EncodeOptions::PLAIN
        };
        let split_points = SplitPointSearch::new(self, &options, "").ok()?;
        Some(split_points.find_within(self, part, &options)?.0)
    }
}
