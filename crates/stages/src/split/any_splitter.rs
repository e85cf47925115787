//! A splitter for any pre-tokenizer: the fastest one for its first stages, the stages themselves for the
//! rest. It finds no spans.

use std::borrow::Cow;
use std::ops::Range;

use super::one_pass::OnePass;
use super::scanner::Scanner;
use super::set_bits::set_bits;
use super::splitter::{Splitter, uncut};
use crate::normalizer::Normalizer;
use crate::pre_tokenizer::{PreTokenizer, refine};
use jeton_text::error::Result;
use jeton_text::mem::short_keys::SHORT;
use jeton_text::pattern::{Regex, SearchPattern};
use jeton_text::printable;

/// Bytes of the search window for a split point.
const WINDOW: usize = 512;
/// Stages, at most, that a scanner knows as one.
const MAX_SCANNED: usize = 8;

/// What words look like: stages that leave none of them longer than a short piece split into words.
const PROSE: &str = "Some words of plain prose are cut here";

/// The rewritten text, and the places of its pieces from left to right.
pub type TextAndPieces<'t> = (Cow<'t, str>, Vec<Range<usize>>);

/// The stages of a pre-tokenizer in the order in which they run, and what they write besides.
#[derive(Clone, Debug)]
pub struct AnySplitter {
    /// The first stages, if a splitter knows them.
    first: Option<Splitter>,
    /// The next ones, up to the first that splits into words.
    coarse: Vec<PreTokenizer>,
    /// The others, which split words. Here and there, those that write printable characters do so for the
    /// stages after them.
    fine: Vec<PreTokenizer>,
    /// A space is put in front of text that does not begin with one.
    prefix_space: bool,
    /// The model sees the bytes of each piece as GPT-2's printable characters.
    pub printable: bool,
}

impl AnySplitter {
    /// The stages of `pre_tokenizer`, if nothing but the first one puts a space in front, and none writes
    /// spaces as another character.
    pub fn new(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let mut stages = Vec::new();
        flatten(pre_tokenizer, &mut stages);
        if stages.is_empty() {
            return None;
        }
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
        stages.retain(|it| !it.facts().changes_nothing);
        let printable = stages.pop_if(|it| writes(it)).is_some();
        let scanner = (1..=stages.len().min(MAX_SCANNED)).rev().find_map(|count| {
            let first = PreTokenizer::Sequence(stages[..count].to_vec());
            Some((count, Splitter::scanner(&first)?))
        });
        let (scanned, first) = scanner.unzip();
        let scanned = scanned.unwrap_or(0);
        let mut splitter = Self {
            first,
            coarse: Vec::new(),
            fine: Vec::new(),
            prefix_space,
            printable,
        };
        let others = &stages[scanned..];
        let count = splitter.words_from(others).unwrap_or(others.len());
        splitter.fine = stages.split_off(scanned + count);
        if count > 0 {
            // All that splits into words in one pass, if that is possible.
            let first = match first_splitter(&stages) {
                Some((count, quicker)) if count > scanned => {
                    splitter.first = Some(quicker);
                    count
                }
                _ => scanned,
            };
            splitter.coarse = stages.split_off(first);
        }
        Some(splitter)
    }

    /// The number of the next stages after which text is split into words: all of them if none does that, or
    /// if one backtracks, since that may take long.
    fn words_from(&self, stages: &[PreTokenizer]) -> Result<usize> {
        let (mut text, mut pieces) = self.cut(&mut Scanner::default(), PROSE.into())?;
        let mut count = 0;
        while count < stages.len() && pieces.iter().any(|piece| piece.len() > SHORT) {
            let stage = &stages[count..=count];
            if !expression(&stage[0]).is_none_or(Regex::is_linear) {
                return Ok(stages.len());
            }
            (text, pieces) = through(stage, text, pieces)?;
            count += 1;
        }
        Ok(count)
    }

    /// The pieces that the stages make of `text`, but for those that split words.
    ///
    /// # Errors
    /// A pattern that gave up on this text; more than 4 GiB without a place to split.
    pub fn cut<'t>(
        &self,
        scanner: &mut Scanner,
        mut text: Cow<'t, str>,
    ) -> Result<TextAndPieces<'t>> {
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
                    set_bits(bits, 0, &mut bounds);
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
        through(&self.coarse, text, pieces)
    }

    /// Whether words are split.
    pub fn cuts_words(&self) -> bool {
        !self.fine.is_empty()
    }

    /// The pieces that the stages that split words make of one.
    ///
    /// # Errors
    /// A pattern that gave up on it.
    pub fn cut_word<'t>(&self, word: &'t str) -> Result<TextAndPieces<'t>> {
        through(
            &self.fine,
            word.into(),
            std::iter::once(0..word.len()).collect(),
        )
    }

    /// A place in `text`, about `reach` bytes after `start`, at which it may be parted before it is
    /// normalized and split; the end of the text if none is known. `normalizer` must do the same to words
    /// wherever they are.
    pub fn split_point(
        &self,
        normalizer: Option<&Normalizer>,
        text: &str,
        start: usize,
        reach: usize,
    ) -> usize {
        let bytes = text.as_bytes();
        match &self.first {
            Some(splitter @ Splitter::Scanner(_)) => {
                let is_changed = self.prefix_space || normalizer.is_some();
                splitter.split_point_where(text, start, reach, |before, after| {
                    // Between two letters of ASCII, which stay letters, there is a blank, which stays.
                    let stays = [before, after].iter().all(|&at| bytes[at].is_ascii());
                    !is_changed || bytes[after - 1] == b' ' && stays
                })
            }
            // Other splitters' places are certain in the text that they see.
            Some(splitter) if normalizer.is_none() && !self.prefix_space => {
                splitter.split_point(text, start, reach)
            }
            Some(Splitter::OnePass(one_pass)) => {
                self.split_point_between(one_pass.stages(), normalizer, text, start, reach)
            }
            Some(_) => text.len(),
            None => self.split_point_between(&[], normalizer, text, start, reach),
        }
    }

    /// The same for stages that look at single characters, `first` before the others: between two
    /// characters of ASCII at which one of the stages splits.
    fn split_point_between(
        &self,
        first: &[PreTokenizer],
        normalizer: Option<&Normalizer>,
        text: &str,
        start: usize,
        mut reach: usize,
    ) -> usize {
        let stages = first.iter().chain(&self.coarse).chain(&self.fine);
        let stages = stages.take_while(|it| it.facts().parts_neighbours);
        let stages: Vec<&PreTokenizer> = stages.collect();
        let bytes = text.as_bytes();
        let is_changed = self.prefix_space || normalizer.is_some();
        let parts = |at: usize| {
            // A blank stays what it is, whatever follows it.
            let begins = bytes[at] == b' ' || !is_changed && bytes[at].is_ascii_graphic();
            let both = text.get(at - 1..at + 1).filter(|_| begins);
            let both = both.and_then(|both| match normalizer {
                Some(normalizer) => normalizer.normalized(both).ok(),
                None => Some(both.into()),
            });
            both.is_some_and(|both| {
                both.len() == 2 && stages.iter().any(|it| parts_both(it, &both))
            })
        };
        loop {
            let limit = start.saturating_add(reach);
            if limit >= text.len() || stages.is_empty() {
                return text.len();
            }
            let first = limit.saturating_sub(WINDOW).max(start + 1);
            if let Some(end) = (first..limit).rev().find(|&at| parts(at)) {
                return end;
            }
            reach = reach.saturating_mul(2).max(WINDOW);
        }
    }
}

/// What splits as the first of these stages do, and how many those are: all of them, if one automaton can.
fn first_splitter(stages: &[PreTokenizer]) -> Option<(usize, Splitter)> {
    let all = || Some(Splitter::OnePass(OnePass::new(stages.to_vec())?));
    let first = || Splitter::of_one(stages.first()?);
    match stages.len() {
        0 => None,
        1 => Some((1, first().or_else(all)?)),
        count => match all() {
            Some(splitter) => Some((count, splitter)),
            None => Some((1, first()?)),
        },
    }
}

/// The pieces that stages make of those of `text`, one after another.
fn through<'t>(
    stages: &[PreTokenizer],
    mut text: Cow<'t, str>,
    mut pieces: Vec<Range<usize>>,
) -> Result<TextAndPieces<'t>> {
    for stage in stages {
        if writes(stage) {
            text = written(&text, &mut pieces).into();
            continue;
        }
        let coarse = std::mem::take(&mut pieces);
        refine(&text, coarse, &mut pieces, |piece, pieces| {
            stage.ranges(piece, pieces)
        })?;
    }
    Ok((text, pieces))
}

/// The expression that a stage looks for.
fn expression(stage: &PreTokenizer) -> Option<&Regex> {
    match stage {
        PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            ..
        }
        | PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        } => Some(regex),
        _ => None,
    }
}

/// Whether a stage, as [`flatten`] leaves it, writes printable characters.
fn writes(stage: &PreTokenizer) -> bool {
    matches!(
        stage,
        PreTokenizer::ByteLevel {
            printable: true,
            ..
        }
    )
}

/// Whether a stage parts two characters of a byte each.
fn parts_both(stage: &PreTokenizer, both: &str) -> bool {
    let mut pieces = Vec::new();
    stage.ranges(both, &mut pieces).is_ok() && !pieces.contains(&(0..both.len()))
}

/// The pieces of `text` in GPT-2's printable characters, one after the other; they lie there then.
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

/// The stages, one after another; one that writes printable characters does nothing else.
fn flatten(pre_tokenizer: &PreTokenizer, stages: &mut Vec<PreTokenizer>) {
    match pre_tokenizer {
        PreTokenizer::Sequence(parts) => parts.iter().for_each(|part| flatten(part, stages)),
        &PreTokenizer::ByteLevel {
            add_prefix_space,
            trim_offsets,
            use_regex,
            printable,
        } => {
            let with = |add_prefix_space, use_regex, printable| PreTokenizer::ByteLevel {
                add_prefix_space,
                trim_offsets,
                use_regex,
                printable,
            };
            if add_prefix_space || use_regex || !printable {
                stages.push(with(add_prefix_space, use_regex, false));
            }
            if printable {
                stages.push(with(false, false, true));
            }
        }
        stage => stages.push(stage.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pre_tokenizer::SplitBehavior;
    use jeton_text::pattern::Dialect;

    #[test]
    fn stages_behind_words_cut_words() {
        let digits = PreTokenizer::Digits {
            individual_digits: true,
        };
        let marks = PreTokenizer::Punctuation {
            behavior: SplitBehavior::Contiguous,
        };
        let written = PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex: true,
            printable: true,
        };
        let cut = |stages: &[&PreTokenizer], text: &'static str| {
            let stages = stages.iter().map(|it| (*it).clone()).collect();
            let splitter = AnySplitter::new(&PreTokenizer::Sequence(stages)).unwrap();
            let (text, pieces) = splitter.cut(&mut Scanner::default(), text.into()).unwrap();
            let cut = |it: Range<usize>| {
                let (word, pieces) = splitter.cut_word(&text[it]).unwrap();
                pieces
                    .into_iter()
                    .map(move |it| word[it].to_owned())
                    .collect()
            };
            (splitter.cuts_words(), pieces.into_iter().map(cut).collect())
        };
        let words: Vec<Vec<String>> =
            vec![vec!["a".into()], ["Ġ", "1", "2"].map(Into::into).into()];
        assert_eq!(cut(&[&marks, &written, &digits], "a 12"), (true, words));
        let words = vec![vec!["a b1".into()], vec!["!".into()]];
        assert_eq!(cut(&[&marks], "a b1!"), (false, words));
    }

    fn split_point(
        stages: Vec<PreTokenizer>,
        normalizer: Option<&Normalizer>,
        aim: usize,
    ) -> usize {
        let splitter = AnySplitter::new(&PreTokenizer::Sequence(stages)).unwrap();
        splitter.split_point(normalizer, "Room 101, or\n2 of them; 3\u{301}x", 0, aim)
    }

    #[test]
    fn a_text_is_split_where_its_stages_look_no_farther() {
        let punctuation = |behavior| PreTokenizer::Punctuation { behavior };
        let digits = PreTokenizer::Digits {
            individual_digits: false,
        };
        let (words, runs) = (PreTokenizer::Whitespace, PreTokenizer::UnicodeScripts);
        let isolated = punctuation(SplitBehavior::Isolated);
        let before = punctuation(SplitBehavior::MergedWithPrevious);
        for (stages, expected) in [
            (vec![isolated.clone()], 9),
            (vec![before], 9),
            (vec![punctuation(SplitBehavior::MergedWithNext)], 8),
            (vec![words], 14),
            (vec![digits.clone(), isolated.clone()], 14),
            // What looks at more than two characters, and whatever follows it.
            (vec![runs.clone(), digits.clone()], 28),
            (vec![isolated.clone(), runs, digits.clone()], 9),
        ] {
            let aim = if expected < 10 { 12 } else { 15 };
            let found = split_point(stages.clone(), None, aim);
            assert_eq!(found, expected, "{stages:?}");
        }
        // The line end is a space by then, or has gone.
        let newline = PreTokenizer::CharDelimiterSplit { delimiter: '\n' };
        assert_eq!(split_point(vec![newline.clone()], None, 15), 13);
        assert_eq!(split_point(vec![newline], Some(&Normalizer::Nmt), 15), 28);
        let expression = |source| PreTokenizer::Split {
            pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
            behavior: SplitBehavior::Isolated,
            invert: false,
        };
        let stages = vec![expression(r"\d+"), digits];
        assert_eq!(split_point(stages.clone(), None, 10), 8);
        assert_eq!(split_point(stages, Some(&Normalizer::Lowercase), 10), 28);
    }
}
