//! How llama.cpp splits text, for each name in `tokenizer.ggml.pre`.
//!
//! Look here for which names are known, and which are refused. The expressions do what llama.cpp does,
//! which is not always what the model's own tokenizer does: llama.cpp has no case folding, and treats every
//! letter beyond ASCII as both upper and lower case. Each expression of a list splits the pieces of the
//! one before it.

mod known;

pub use known::PRES;
use known::REFUSED;

use jeton_stages::pre_tokenizer::named::{self, GPT2_ORIGINAL};
use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior};
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

/// A way to split text, with the names that llama.cpp has for it.
pub struct Pre {
    /// The names; the first is written.
    pub names: &'static [&'static str],
    /// The expressions, in Oniguruma's dialect.
    expressions: &'static [&'static str],
    /// The pattern of [`named`] that llama.cpp imitates by this, if it does not match it exactly, and how the
    /// two differ.
    pub meant: Option<(&'static str, &'static str)>,
    /// A whole word that is a token becomes that token without merges.
    pub ignore_merges: bool,
    /// A text begins with the BOS token, unless the file says otherwise.
    pub add_bos: bool,
    /// Spaces are written `▁`, and the vocabulary holds text, not bytes.
    pub is_text: bool,
}

impl Pre {
    const fn new(
        names: &'static [&'static str],
        expressions: &'static [&'static str],
        meant: Option<(&'static str, &'static str)>,
    ) -> Self {
        Self {
            names,
            expressions,
            meant,
            ignore_merges: false,
            add_bos: false,
            is_text: false,
        }
    }

    const fn ignoring_merges(mut self) -> Self {
        self.ignore_merges = true;
        self
    }

    const fn with_bos(mut self) -> Self {
        self.add_bos = true;
        self
    }

    const fn of_text(mut self) -> Self {
        self.is_text = true;
        self
    }

    /// Whether `expressions` are its own.
    pub fn is(&self, expressions: &Expressions) -> bool {
        expressions.sources == self.expressions
    }

    /// Whether `expressions` are those of the pattern in `meant`.
    pub fn means(&self, expressions: &Expressions) -> bool {
        self.meant
            .is_some_and(|(name, _)| expressions.name == Some(name))
    }

    /// The pre-tokenizer that splits text like this.
    pub fn pre_tokenizer(&self) -> PreTokenizer {
        let bytes = |use_regex| PreTokenizer::ByteLevel {
            add_prefix_space: false,
            trim_offsets: true,
            use_regex,
            printable: false,
        };
        let split = |source: &&'static str| match *source {
            r"\p{N}" => PreTokenizer::Digits {
                individual_digits: true,
            },
            source => named::split(source),
        };
        if self.is_text {
            return match self.expressions {
                [one] => split(one),
                all => PreTokenizer::Sequence(all.iter().map(split).collect()),
            };
        }
        match self.expressions {
            [GPT2_ORIGINAL] => bytes(true),
            [before @ .., GPT2_ORIGINAL] => {
                PreTokenizer::Sequence(before.iter().map(split).chain([bytes(true)]).collect())
            }
            all => PreTokenizer::Sequence(all.iter().map(split).chain([bytes(false)]).collect()),
        }
    }
}

/// The expressions by which a pre-tokenizer splits text, and their name if they have one.
pub struct Expressions {
    sources: Vec<String>,
    name: Option<&'static str>,
}

/// The expressions of a pre-tokenizer, if all it does is split by them one after another and keep what lies
/// between matches.
pub fn expressions_of(pre_tokenizer: &PreTokenizer) -> Option<Expressions> {
    let mut steps = Vec::new();
    collect(pre_tokenizer, &mut steps)?;
    let sources = steps
        .iter()
        .map(|regex| regex.source().to_owned())
        .collect();
    let name = match steps.as_slice() {
        [one] => named::of_regex(one),
        all => named::of_splits(&all.iter().collect::<Vec<_>>()),
    };
    Some(Expressions {
        sources,
        name: name.map(|named| named.name),
    })
}

fn collect(pre_tokenizer: &PreTokenizer, steps: &mut Vec<Regex>) -> Option<()> {
    let known = |source| Regex::known(source, Dialect::Oniguruma);
    match pre_tokenizer {
        PreTokenizer::Sequence(all) => {
            return all.iter().try_for_each(|step| collect(step, steps));
        }
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            printable: false,
            use_regex,
            ..
        } => steps.extend(use_regex.then(|| known(GPT2_ORIGINAL))),
        PreTokenizer::Digits {
            individual_digits: true,
        } => steps.push(known(r"\p{N}")),
        PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            behavior: SplitBehavior::Isolated,
            invert: false,
        } => steps.push(regex.clone()),
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        } => match named::of_regex(regex)?.name {
            "gpt2" => steps.push(known(GPT2_ORIGINAL)),
            _ => steps.push(regex.clone()),
        },
        _ => return None,
    }
    Some(())
}

/// Finds a way to split text by its name.
///
/// # Errors
/// A name that is not known, or whose splits jeton cannot reproduce exactly.
pub fn find(name: &str) -> Result<&'static Pre> {
    if let Some(found) = PRES.iter().find(|pre| pre.names.contains(&name)) {
        return Ok(found);
    }
    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("tokenizer.ggml.pre: {name:?} {why}"),
        )
        .hint("load the tokenizer of the model that it was made from"));
    }
    let error = Error::new(
        ErrorKind::Unsupported,
        format!("tokenizer.ggml.pre: {name:?} is not a known way to split text"),
    );
    let known = PRES.iter().flat_map(|pre| pre.names.iter().copied());
    Err(match did_you_mean(name, known) {
        Some(close) => error.hint(format!(
            "llama.cpp's name may be {close:?}; a newer one may not be known here"
        )),
        None => error.hint("load the tokenizer of the model that it was made from"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_is_valid_and_every_name_stands_once() {
        let mut names: Vec<&str> = Vec::new();
        for pre in PRES {
            for source in pre.expressions {
                let regex = Regex::new(*source, Dialect::Oniguruma);
                regex.unwrap_or_else(|error| panic!("{:?}: {error}", pre.names));
            }
            names.extend(pre.names);
        }
        names.extend(REFUSED.iter().map(|(name, _)| name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
