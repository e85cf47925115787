//! Writes a byte-level BPE to a `tokenizer.json`: a tiktoken pattern becomes one for Oniguruma,
//! and raw bytes become GPT-2's characters.

use super::read_byte_level::decodes_to_itself;
use jeton_models::stages::Stages;
use jeton_stages::decoder::Decoder;
use jeton_stages::pre_tokenizer::{PreTokenizer, SplitBehavior, named};
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

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
    for token in &stages.added_tokens {
        if !decodes_to_itself(token, stages.normalizer.as_ref())? {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the added token {:?} would be decoded as other bytes, since tokenizer.json \
                     writes bytes in these characters",
                    token.content
                ),
            ));
        }
    }
    Ok(stages)
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
pub(super) fn split(pattern: SearchPattern) -> Result<PreTokenizer> {
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
    let source = known
        .and_then(|named| named.in_oniguruma())
        .ok_or_else(|| {
            Error::new(
            ErrorKind::Unsupported,
            format!(
                "tokenizer.json holds patterns of Oniguruma, and none is known to mean what {:?} \
                 means in tiktoken",
                regex.source()
            ),
        )
        .hint(
            "train with a pattern that has a name, or with pre_tokenizers.Split, whose expressions \
             are Oniguruma's",
        )
        })?;
    Ok(PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma)?),
        behavior: SplitBehavior::Isolated,
        invert: false,
    })
}

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
        for named in named::NAMED {
            let (sources, Dialect::Tiktoken) = named.sources() else {
                continue;
            };
            let Some(source) = named.in_oniguruma() else {
                continue;
            };
            let name = named.name;
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
