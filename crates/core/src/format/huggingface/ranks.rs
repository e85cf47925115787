//! A byte-level tokenizer spelled as `tokenizer.json` spells it: a pattern of tiktoken becomes one
//! of Oniguruma, and raw bytes become GPT-2's characters.

use crate::decoder::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::pattern::{Dialect, Regex, SearchPattern};
use crate::pre_tokenizer::{PreTokenizer, SplitBehavior};
use crate::printable;
use crate::tokenizer::Stages;

/// The same tokenizer, its model's vocabulary still raw, with the stages around it that rewrite
/// text to the characters the vocabulary is written in.
pub(super) fn spell_out(stages: &Stages) -> Result<Stages> {
    let mut stages = stages.clone();
    stages.pre_tokenizer = Some(match stages.pre_tokenizer.take() {
        Some(PreTokenizer::Matches { pattern }) => {
            PreTokenizer::Sequence(vec![split(pattern)?, to_bytes()])
        }
        None => to_bytes(),
        Some(stage) if has_byte_level(&stage) => stage,
        Some(PreTokenizer::Sequence(mut stages)) => {
            stages.push(to_bytes());
            PreTokenizer::Sequence(stages)
        }
        Some(stage) => PreTokenizer::Sequence(vec![stage, to_bytes()]),
    });
    if stages.decoder != Some(Decoder::ByteLevel { printable: false }) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "tokenizer.json holds a vocabulary of bytes only with a byte-level decoder",
        ));
    }
    let changed = stages.added_tokens.iter().find(|token| {
        printable::decode(&token.content).is_some_and(|bytes| bytes != token.content.as_bytes())
    });
    match changed {
        Some(token) => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "the added token {:?} would be decoded as other bytes, since tokenizer.json \
                 writes bytes in these characters",
                token.content
            ),
        )),
        None => Ok(stages),
    }
}

fn to_bytes() -> PreTokenizer {
    PreTokenizer::ByteLevel {
        add_prefix_space: false,
        trim_offsets: true,
        use_regex: false,
        printable: false,
    }
}

fn has_byte_level(stage: &PreTokenizer) -> bool {
    match stage {
        PreTokenizer::ByteLevel { .. } => true,
        PreTokenizer::Sequence(stages) => stages.iter().any(has_byte_level),
        _ => false,
    }
}

/// The split whose pieces are the matches of a pattern of tiktoken.
fn split(pattern: SearchPattern) -> Result<PreTokenizer> {
    let SearchPattern::Regex(regex) = &pattern else {
        return Ok(PreTokenizer::Split {
            pattern,
            behavior: SplitBehavior::Removed,
            invert: true,
        });
    };
    let known = KNOWN
        .iter()
        .find(|(tiktoken, _)| *tiktoken == regex.source());
    let (_, source) = known.ok_or_else(|| {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "tokenizer.json holds patterns of Oniguruma, and none is known to mean what {:?} \
                 means in tiktoken",
                regex.source()
            ),
        )
    })?;
    Ok(PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(*source, Dialect::Oniguruma)?),
        behavior: SplitBehavior::Isolated,
        invert: false,
    })
}

/// Patterns of tiktoken, each with the one of Oniguruma that cuts every text alike. They match
/// every character, so that nothing lies between matches.
const KNOWN: [(&str, &str); 0] = [];
