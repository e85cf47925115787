//! Where any pre-tokenizer cuts that leaves the characters as they are: with a scanner or an engine
//! of the compiled path where that knows the first stage, and by the stages themselves else.

use std::ops::Range;

use super::scanner::Scanner;
use super::splitter::Splitter;
use super::starts::places;
use crate::error::Result;
use crate::pre_tokenizer::{PreTokenizer, refine};

/// The stages of a pre-tokenizer, one after another, and what they write besides.
#[derive(Clone, Debug)]
pub struct Cutter {
    /// The first stages, if a splitter knows them.
    first: Option<Splitter>,
    rest: Vec<PreTokenizer>,
    /// A space is put in front of text that does not begin with one.
    pub prefix_space: bool,
    /// The bytes of each piece are written as GPT-2's printable characters.
    pub printable: bool,
}

impl Cutter {
    /// The stages of `pre_tokenizer`, if nothing but the first one puts a space in front, nothing but
    /// the last one writes other characters, and each piece's by itself.
    pub fn new(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let mut stages = Vec::new();
        flatten(pre_tokenizer, &mut stages);
        let last = stages.len().checked_sub(1)?;
        let (mut first_adds_space, mut last_is_printable) = (false, false);
        for (at, stage) in stages.iter_mut().enumerate() {
            match stage {
                PreTokenizer::ByteLevel {
                    add_prefix_space,
                    printable,
                    ..
                } => {
                    if *add_prefix_space && at != 0 || *printable && at != last {
                        return None;
                    }
                    first_adds_space |= std::mem::take(add_prefix_space);
                    last_is_printable |= std::mem::take(printable);
                }
                PreTokenizer::Metaspace { .. } => return None,
                _ => {}
            }
        }
        let known = (1..=stages.len()).rev().find_map(|count| {
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
            prefix_space: first_adds_space,
            printable: last_is_printable,
        })
    }

    /// Where the pieces of `text` lie, from left to right.
    ///
    /// # Errors
    /// A pattern that gave up on this text.
    pub fn ranges(&self, scanner: &mut Scanner, text: &str) -> Result<Vec<Range<usize>>> {
        let mut pieces = Vec::new();
        match &self.first {
            Some(splitter) => {
                let mut bounds: Vec<u32> = Vec::new();
                splitter.split(scanner, text, |offset, length, bits| {
                    bounds.clear();
                    places(bits, 0, &mut bounds);
                    let starts = bounds.iter().map(|&start| offset + start as usize);
                    let ends = starts.clone().skip(1).chain([offset + length]);
                    pieces.extend(starts.zip(ends).map(|(start, end)| start..end));
                })?;
            }
            None if text.is_empty() => {}
            None => pieces.push(0..text.len()),
        }
        for stage in &self.rest {
            let coarse = std::mem::take(&mut pieces);
            refine(text, coarse, &mut pieces, |piece, pieces| {
                stage.ranges(piece, pieces)
            })?;
        }
        Ok(pieces)
    }
}

/// The stages, one after another.
fn flatten(pre_tokenizer: &PreTokenizer, stages: &mut Vec<PreTokenizer>) {
    match pre_tokenizer {
        PreTokenizer::Sequence(parts) => parts.iter().for_each(|part| flatten(part, stages)),
        stage => stages.push(stage.clone()),
    }
}
