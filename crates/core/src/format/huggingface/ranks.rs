//! A byte-level tokenizer spelled as `tokenizer.json` spells it: a pattern of tiktoken becomes one
//! of Oniguruma, and raw bytes become GPT-2's characters.

use crate::decoder::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::pattern::{Dialect, Regex, SearchPattern};
use crate::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
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
    let known = named::NAMED.iter().find(|named| {
        let (sources, dialect) = named.sources();
        dialect == Dialect::Tiktoken && sources == [regex.source()]
    });
    let known = known.and_then(|named| KNOWN.iter().find(|(name, _)| *name == named.name));
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

/// Patterns of tiktoken by name, each with the one of Oniguruma that cuts every text alike. They
/// match every character, so that nothing lies between matches.
///
/// Oniguruma has no possessive `{1,3}+`, and its `$` is the end of a line.
const KNOWN: [(&str, &str); 5] = [
    ("gpt2", named::GPT2_ORIGINAL),
    (
        "cl100k",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    (
        "o200k",
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"|\s*[\r\n]+",
            r"|\s+(?!\S)",
            r"|\s+",
        ),
    ),
    (
        "llama3",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    (
        "tekken",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_patterns_cut_alike_in_both_dialects() {
        let parts = [
            "a", "É", "漢", "ǅ", "\u{301}", "ʰ", "'", "'S", "'ll", "'ſ", "1", "٣", "Ⅷ", "!", "/",
            " ", "\n", "\r\n", "\t", "\u{a0}", "\u{85}", "\u{3000}", "😀", "\u{200d}", "\0", "_",
        ];
        let mut state: usize = 1;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for (name, source) in KNOWN {
            let (sources, _) = named::find(name).unwrap().sources();
            let tiktoken = Regex::new(sources[0], Dialect::Tiktoken).unwrap();
            let oniguruma = Regex::new(source, Dialect::Oniguruma).unwrap();
            for _ in 0..20_000 {
                let text: String = (0..draw(12)).map(|_| parts[draw(parts.len())]).collect();
                let cut =
                    |regex: &Regex| regex.matches(&text).map(Result::unwrap).collect::<Vec<_>>();
                let cuts = cut(&oniguruma);
                assert_eq!(cut(&tiktoken), cuts, "{name}: {text:?}");
                assert!(cuts.iter().map(|range| range.len()).sum::<usize>() == text.len());
            }
        }
    }
}
