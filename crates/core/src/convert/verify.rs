//! Checks a conversion: the original and the converted tokenizer encode and decode texts made of the
//! pieces, and must agree.
//!
//! Look here for the texts that a conversion must pass before anything is written.

use super::explanation::Explanation;
use crate::tokenizer::{EncodeOptions, Tokenizer};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::SpecialPolicy;
use jeton_stages::normalizer::Normalizer;
use jeton_text::error::{Error, ErrorKind, Result};
use jeton_text::text::InvalidUtf8;

/// Encodes texts made of the pieces both ways, and decodes what comes of it. Ids may differ only
/// where there is an explanation.
pub(super) fn verify(
    stages: &Stages,
    converted: &Stages,
    explanation: Option<&Explanation<'_>>,
) -> Result<()> {
    let (before, after) = (
        Tokenizer::new(stages.clone())?,
        Tokenizer::new(converted.clone())?,
    );
    let options = EncodeOptions::default();
    for text in sample_texts(stages) {
        let ids = before.encode_ids(&text, &options)?;
        let differs = |how: &str| {
            let start: String = text.chars().take(60).collect();
            Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the conversion would change the result: {start:?} would be {how} differently"
                ),
            ))
        };
        let others = after.encode_ids(&text, &options)?;
        if others != ids {
            match explanation {
                Some(explanation) if explanation.covers(&text, &ids, &others) => continue,
                _ => return differs("encoded"),
            }
        }
        if text.contains('▁') {
            continue;
        }
        let decoded =
            |tokenizer: &Tokenizer| tokenizer.decode(&ids, &false.into(), InvalidUtf8::Replace);
        let (a, b) = (decoded(&before)?, decoded(&after)?);
        // How many of several spaces in front are dropped is no more than near.
        let near = explanation.is_some() && a.trim_start_matches(' ') == b.trim_start_matches(' ');
        if a != b && !near {
            return differs("decoded");
        }
    }
    match explanation {
        None => verify_special(&before, &after),
        Some(_) => Ok(()),
    }
}

/// Compares what is next to a special token, if there is one.
fn verify_special(before: &Tokenizer, after: &Tokenizer) -> Result<()> {
    let options = EncodeOptions {
        special: SpecialPolicy::Allow,
        ..EncodeOptions::default()
    };
    let mut tokens = before.stages().added_tokens.iter();
    let Some(token) = tokens.find(|token| token.special) else {
        return Ok(());
    };
    let removes_spaces =
        [before, after]
            .into_iter()
            .any(|tokenizer| match &tokenizer.stages().normalizer {
                Some(Normalizer::SentencePiece(normalizer)) => {
                    normalizer.white_space().remove_extra
                }
                _ => false,
            });
    for text in ["{}a", "{} a", "a{}b", "a {}{} b", "{}"] {
        // Spaces beside one may be removed there: `save` says so.
        if removes_spaces && text.contains(' ') {
            continue;
        }
        let text = text.replace("{}", &token.content);
        if before.encode_ids(&text, &options)? != after.encode_ids(&text, &options)? {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "the conversion would change the result: {text:?} would be encoded differently"
                ),
            ));
        }
    }
    Ok(())
}

/// Texts that a difference would show in: white space, odd characters, each token by itself and
/// among others, and runs of the characters that tokens repeat.
fn sample_texts(stages: &Stages) -> Vec<String> {
    let odd = [
        "",
        " ",
        "  ",
        "▁",
        "▁ ▁",
        " a",
        "a ",
        "  a  b  ",
        "a▁b",
        "▁a ▁ b▁",
        "\n",
        "\t\r\n",
        "a\r\nb",
        "a\u{85}b",
        "ｶﾞﾊﾟ",
        "½\u{fe0f}☎\u{fe0f}",
        "\0",
        "é",
        "e\u{301}",
        "①",
        "日本語",
        "한국어",
        "🙂🙂",
        "\u{200d}",
        "\u{e000}x\u{378}",
        "\u{3000}a",
        "x\u{a0}y",
    ];
    let mut texts: Vec<String> = odd.map(str::to_owned).to_vec();
    let tokens: Vec<String> = stages
        .model
        .vocab()
        .iter()
        .filter_map(|(token, _)| Some(std::str::from_utf8(token).ok()?.replace('▁', " ")))
        .collect();
    let mut repeated = Vec::new();
    for token in &tokens {
        let mut characters = token.chars();
        if let Some(first) = characters.next()
            && token.len() > first.len_utf8()
            && characters.all(|character| character == first)
        {
            repeated.push(first);
        }
    }
    repeated.sort_unstable();
    repeated.dedup();
    for character in repeated.into_iter().take(64) {
        let run = |length| character.to_string().repeat(length);
        texts.extend((1..80).map(|length| format!("x{}y", run(length))));
    }
    // A stride without a common divisor puts every token beside others than its own neighbours.
    let strides = [1, 7919, 104_729];
    for stride in strides {
        let shuffled: Vec<&str> = (0..tokens.len())
            .map(|at| tokens[at * stride % tokens.len()].as_str())
            .collect();
        texts.extend(shuffled.chunks(5).map(|tokens| tokens.concat()));
        texts.extend(shuffled.chunks(500).map(|tokens| tokens.concat()));
    }
    texts.extend(tokens);
    texts
}
