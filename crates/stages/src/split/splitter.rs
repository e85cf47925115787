//! The splitter: splits text into words by a block scanner where the pattern is known, else by its regex
//! engine.

use super::one_pass::OnePass;
use super::phrases::Phrases;
use super::scanner::{Numbers, Rules, Scanner, safe_end};
use super::stretch::Stretches;
use crate::pre_tokenizer::named::{self, Named};
use crate::pre_tokenizer::{PreTokenizer, SplitBehavior};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

/// The patterns that scanners know, with their rules.
const KNOWN: &[(&str, Rules)] = &[
    ("gpt2", Rules::GPT2),
    ("cl100k", Rules::CL100K),
    ("llama3", Rules::LLAMA3),
    ("qwen2", Rules::QWEN2),
    ("qwen3.5", Rules::QWEN3_5),
    ("o200k", Rules::O200K),
    ("tekken", Rules::TEKKEN),
    ("deepseek_v3", Rules::DEEPSEEK_V3),
];

/// Other expressions that files hold, in Oniguruma's dialect, with the rules that mean the same.
const OTHER_SPELLINGS: &[(&str, Rules)] = &[
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        Rules::LLAMA3,
    ),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        Rules::QWEN2,
    ),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Rules::LLAMA3.with_numbers(Numbers::All),
    ),
];

/// Expressions that split numbers off, with how many a match holds.
const NUMBERS: &[(&str, Numbers)] = &[
    (r"\p{N}", Numbers::One),
    (r"\p{N}{1,3}", Numbers::Three),
    (r"\p{N}+", Numbers::All),
];

/// A splitter: how the words of a byte-level model are found.
#[derive(Clone, Debug)]
pub enum Splitter {
    /// A hand-written scanner.
    Scanner(Rules),
    /// Phrases of several words.
    Phrases(Phrases),
    /// One automaton for all stages.
    OnePass(OnePass),
    /// The matches of an expression are the pieces; what lies between is dropped.
    Matches(Regex),
    /// The matches of an expression are pieces, and so is what lies between.
    Isolated(Regex),
}

impl Splitter {
    /// What splits as `pre_tokenizer` does, if it only splits, and drops hardly any text where it has several
    /// stages.
    pub fn of(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let stages = cutting_stages(pre_tokenizer);
        Self::of_known(&stages).or_else(|| {
            OnePass::side_by_side(stages.into_iter().cloned().collect()).map(Self::OnePass)
        })
    }

    /// The scanner that splits as `pre_tokenizer` does, if one knows its stages.
    pub fn scanner(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        rules(&cutting_stages(pre_tokenizer)).map(Self::Scanner)
    }

    /// What splits as stages do that a scanner knows, or that look for one expression.
    pub fn of_one(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        Self::of_known(&cutting_stages(pre_tokenizer))
    }

    fn of_known(stages: &[&PreTokenizer]) -> Option<Self> {
        if let Some(rules) = rules(stages) {
            return Some(Self::Scanner(rules));
        }
        let regexes: Option<Vec<_>> = stages.iter().map(|it| isolated(it)).collect();
        if let Some(phrases) = regexes.and_then(|regexes| Phrases::of(&regexes)) {
            return Some(Self::Phrases(phrases));
        }
        let [stage] = stages else {
            return None;
        };
        let regex = isolated(stage).or_else(|| kept(stage))?;
        Some(match OnePass::new(vec![(*stage).clone()]) {
            Some(one_pass) => Self::OnePass(one_pass),
            None if isolated(stage).is_some() => Self::Isolated(regex.clone()),
            None => Self::Matches(regex.clone()),
        })
    }

    /// A safe split point of `text`, about `reach` bytes after `start`; the end of the text if none is
    /// known, as of a pattern that only its regex engine runs.
    pub fn split_point(&self, text: &str, start: usize, reach: usize) -> usize {
        self.split_point_where(text, start, reach, |_, _| true)
    }

    /// The same; of a scanner's places only one that `accepts` accepts, see [`safe_end`].
    pub fn split_point_where(
        &self,
        text: &str,
        start: usize,
        reach: usize,
        accepts: impl Fn(usize, usize) -> bool,
    ) -> usize {
        match self {
            Self::Scanner(_) => safe_end(text.as_bytes(), start, reach, accepts),
            Self::OnePass(one_pass) => one_pass.split_point(text, start, reach),
            Self::Phrases(_) | Self::Matches(_) | Self::Isolated(_) => text.len(),
        }
    }

    /// Calls `visit` with stretches of pieces, as a scanner does.
    pub fn split(
        &self,
        scanner: &mut Scanner,
        text: &str,
        visit: impl FnMut(usize, usize, &[u64]),
    ) -> Result<()> {
        let (regex, keeps_gaps) = match self {
            Self::Scanner(rules) => {
                scanner.scan(*rules, text, visit);
                return Ok(());
            }
            Self::Phrases(phrases) => return phrases.split(text, visit),
            Self::OnePass(one_pass) => return one_pass.split(text, visit),
            Self::Matches(regex) => (regex, false),
            Self::Isolated(regex) => (regex, true),
        };
        let mut stretches = Stretches::new(visit);
        let mut done = 0;
        for found in regex.matches(text) {
            let found = found?;
            if done < found.start {
                if keeps_gaps {
                    stretches.begin(done, 1);
                } else {
                    stretches.end(done);
                }
            }
            if !found.is_empty() {
                stretches.begin(found.start, 1);
            }
            done = found.end;
        }
        if keeps_gaps && done < text.len() {
            stretches.begin(done, 1);
            done = text.len();
        }
        stretches.end(done);
        Ok(())
    }
}

/// What is said of this many bytes without a place to split, which places of 32 bits do not reach.
pub fn uncut(length: usize) -> Error {
    let message = format!("{length} bytes without a place to split are more than 4 GiB");
    Error::new(ErrorKind::Encode, message).hint("encode the text in parts")
}

/// The rules of the scanner that splits as these stages do, one after another.
fn rules(stages: &[&PreTokenizer]) -> Option<Rules> {
    match stages {
        [
            PreTokenizer::ByteLevel {
                add_prefix_space: false,
                use_regex: true,
                printable: false,
                ..
            },
        ] => Some(Rules::GPT2),
        [stage] => known(isolated(stage).or_else(|| kept(stage))?),
        [
            PreTokenizer::Digits {
                individual_digits: true,
            },
            words,
        ] => (rules(&[words])? == Rules::GPT2).then_some(Rules::GPT2_DIGITS),
        [numbers, words] => {
            Some(rules(&[words])?.after_numbers(numbers_cut_by(isolated(numbers)?)?))
        }
        _ => {
            let regexes: Option<Vec<_>> = stages.iter().map(|it| isolated(it)).collect();
            rules_of_name(named::of_splits(&regexes?)?)
        }
    }
}

/// The rules of the scanner of an expression, if it is one of the known ones in its dialect. What a pattern
/// is in Oniguruma means the same to tiktoken, but not the other way round.
fn known(regex: &Regex) -> Option<Rules> {
    let spelling = |(source, _): &&(&str, _)| *source == regex.source();
    match OTHER_SPELLINGS.iter().find(spelling) {
        Some((_, rules)) if regex.dialect() == Dialect::Oniguruma => Some(*rules),
        _ => rules_of_name(named::of_regex(regex)?),
    }
}

fn rules_of_name(named: &Named) -> Option<Rules> {
    let known = KNOWN.iter().find(|(known, _)| *known == named.name);
    known.map(|(_, rules)| *rules)
}

/// The stages of a pre-tokenizer that do not leave every piece as it is, where the model sees bytes.
fn cutting_stages(pre_tokenizer: &PreTokenizer) -> Vec<&PreTokenizer> {
    let mut cutting = Vec::new();
    find_cutting(std::slice::from_ref(pre_tokenizer), &mut cutting);
    cutting
}

fn find_cutting<'s>(stages: &'s [PreTokenizer], cutting: &mut Vec<&'s PreTokenizer>) {
    for stage in stages {
        match stage {
            PreTokenizer::Sequence(stages) => find_cutting(stages, cutting),
            stage if stage.facts().changes_nothing => {}
            _ => cutting.push(stage),
        }
    }
}

/// The expression of a stage that isolates its matches.
fn isolated(stage: &PreTokenizer) -> Option<&Regex> {
    match stage {
        PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            behavior: SplitBehavior::Isolated,
            invert: false,
        } => Some(regex),
        _ => None,
    }
}

/// The expression of a stage that keeps its matches and nothing else.
fn kept(stage: &PreTokenizer) -> Option<&Regex> {
    match stage {
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        }
        | PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            behavior: SplitBehavior::Removed,
            invert: true,
        } => Some(regex),
        _ => None,
    }
}

/// How many numbers a match holds, if the expression finds numbers and nothing else.
fn numbers_cut_by(regex: &Regex) -> Option<Numbers> {
    let known = NUMBERS.iter().find(|(known, _)| *known == regex.source());
    known.map(|(_, numbers)| *numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which scanner splits as these stages of a `tokenizer.json` do.
    fn rules(stages: &[PreTokenizer]) -> Option<Rules> {
        match Splitter::of(&PreTokenizer::Sequence(stages.to_vec()))? {
            Splitter::Scanner(rules) => Some(rules),
            _ => None,
        }
    }

    fn split(source: &str) -> PreTokenizer {
        PreTokenizer::Split {
            pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
            behavior: SplitBehavior::Isolated,
            invert: false,
        }
    }

    fn byte_level(use_regex: bool) -> PreTokenizer {
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex,
            printable: false,
        }
    }

    #[test]
    fn published_stages_have_scanners() {
        let (bytes, words) = (byte_level(false), byte_level(true));
        for (name, expected) in KNOWN {
            let named = named::find(name).unwrap();
            let stages = [named.pre_tokenizer(), bytes.clone()];
            assert_eq!(rules(&stages), Some(*expected), "{name}");
            // As files hold it: in Oniguruma, and kept matches as well as isolated ones.
            let Some(source) = named.in_oniguruma() else {
                continue;
            };
            let isolated = split(source);
            let mut kept = isolated.clone();
            if let PreTokenizer::Split {
                behavior, invert, ..
            } = &mut kept
            {
                (*behavior, *invert) = (SplitBehavior::Removed, true);
            }
            for stage in [isolated, kept] {
                assert_eq!(rules(&[stage, bytes.clone()]), Some(*expected), "{name}");
            }
        }
        for (source, expected) in OTHER_SPELLINGS {
            assert_eq!(rules(&[split(source), bytes.clone()]), Some(*expected));
        }
        let deepseek = named::find("deepseek").unwrap().sources().0;
        let newlines = |source: &&str| split(&source.replace(r"\r", "\r").replace(r"\n", "\n"));
        let stages: Vec<_> = deepseek.iter().map(newlines).chain([bytes]).collect();
        assert_eq!(rules(&stages), Some(Rules::DEEPSEEK_V3));
        let digits = PreTokenizer::Digits {
            individual_digits: true,
        };
        let stages = [digits, words.clone()];
        assert_eq!(rules(&stages), Some(Rules::GPT2_DIGITS));
        for (source, numbers) in NUMBERS {
            let expected = Rules::GPT2.after_numbers(*numbers);
            assert_eq!(rules(&[split(source), words.clone()]), Some(expected));
        }
        assert_eq!(rules(&[split(r"\w+"), words]), None);
    }
}
