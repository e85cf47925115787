//! Where any pre-tokenizer cuts text: with a scanner or an engine of the compiled path where that knows
//! the first stages, and by the stages themselves else, but without what spans need.

use std::borrow::Cow;
use std::ops::Range;

use super::scanner::Scanner;
use super::splitter::{Splitter, uncut};
use super::starts::places;
use crate::error::Result;
use crate::pre_tokenizer::{PreTokenizer, refine};
use crate::printable;

/// A splitter knows at most so many stages at once.
const MOST_KNOWN: usize = 8;

/// The stages of a pre-tokenizer, one after another, and what they write besides.
#[derive(Clone, Debug)]
pub struct Cutter {
    /// The first stages, if a splitter knows them.
    first: Option<Splitter>,
    /// The others. Those that write printable characters do so for the stages behind them.
    rest: Vec<PreTokenizer>,
    /// A space is put in front of text that does not begin with one.
    prefix_space: bool,
    /// The model sees the bytes of each piece as GPT-2's printable characters.
    pub printable: bool,
}

impl Cutter {
    /// The stages of `pre_tokenizer`, if nothing but the first one puts a space in front, and none writes
    /// spaces as another character.
    pub fn new(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let mut stages = Vec::new();
        flatten(pre_tokenizer, &mut stages);
        let mut prefix_space = false;
        for (at, stage) in stages.iter_mut().enumerate() {
            match stage {
                PreTokenizer::ByteLevel {
                    add_prefix_space, ..
                } => {
                    if *add_prefix_space && at != 0 {
                        return None;
                    }
                    prefix_space |= std::mem::take(add_prefix_space);
                }
                PreTokenizer::Metaspace { .. } => return None,
                _ => {}
            }
        }
        let printable = match stages.last_mut()? {
            PreTokenizer::ByteLevel { printable, .. } => std::mem::take(printable),
            _ => false,
        };
        let known = (1..=stages.len().min(MOST_KNOWN)).rev().find_map(|count| {
            let first = PreTokenizer::Sequence(stages[..count].to_vec());
            Some((count, Splitter::of(&first)?))
        });
        let (first, rest) = match known {
            Some((count, splitter)) => (Some(splitter), stages.split_off(count)),
            None => (None, stages),
        };
        Some(Self {
            first,
            rest,
            prefix_space,
            printable,
        })
    }

    /// Where the pieces lie in the text that the stages make of `text`, from left to right, and that text.
    ///
    /// # Errors
    /// A pattern that gave up on this text; more than 4 GiB without a place to cut.
    pub fn cut<'t>(
        &self,
        scanner: &mut Scanner,
        mut text: Cow<'t, str>,
    ) -> Result<(Cow<'t, str>, Vec<Range<usize>>)> {
        if self.prefix_space && !text.is_empty() && !text.starts_with(' ') {
            text.to_mut().insert(0, ' ');
        }
        let mut pieces = Vec::new();
        match &self.first {
            Some(splitter) => {
                let mut bounds: Vec<u32> = Vec::new();
                let mut too_long = None;
                splitter.split(scanner, &text, |offset, length, bits| {
                    if u32::try_from(length).is_err() {
                        too_long = Some(length);
                        return;
                    }
                    bounds.clear();
                    places(bits, 0, &mut bounds);
                    let starts = bounds.iter().map(|&start| offset + start as usize);
                    let ends = starts.clone().skip(1).chain([offset + length]);
                    pieces.extend(starts.zip(ends).map(|(start, end)| start..end));
                })?;
                if let Some(length) = too_long {
                    return Err(uncut(length));
                }
            }
            None if text.is_empty() => {}
            None => pieces.push(0..text.len()),
        }
        for stage in &self.rest {
            let coarse = std::mem::take(&mut pieces);
            refine(&text, coarse, &mut pieces, |piece, pieces| {
                stage.ranges(piece, pieces)
            })?;
            if matches!(
                stage,
                PreTokenizer::ByteLevel {
                    printable: true,
                    ..
                }
            ) {
                text = written(&text, &mut pieces).into();
            }
        }
        Ok((text, pieces))
    }
}

/// The pieces of `text` in GPT-2's printable characters, one behind the other; they lie there then.
fn written(text: &str, pieces: &mut [Range<usize>]) -> String {
    let mut written = String::with_capacity(2 * text.len());
    for piece in pieces {
        let start = written.len();
        let characters = text[piece.clone()].chars();
        written.extend(characters.flat_map(printable::of_character));
        *piece = start..written.len();
    }
    written
}

/// The stages, one after another.
fn flatten(pre_tokenizer: &PreTokenizer, stages: &mut Vec<PreTokenizer>) {
    match pre_tokenizer {
        PreTokenizer::Sequence(parts) => parts.iter().for_each(|part| flatten(part, stages)),
        stage => stages.push(stage.clone()),
    }
}
