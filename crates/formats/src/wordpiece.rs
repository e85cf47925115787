//! BERT's `vocab.txt`: a line for each token, its id the number of the line.
//!
//! Look here for what such a file means: it holds only tokens, and everything else is
//! BERT's. Lines are read as `tokenizers` reads them: white space at their ends is not part of a
//! token, an empty line is an empty token, and of equal lines the last one counts, while the others
//! are gaps in the ids.

use std::collections::HashMap;

use super::cannot_hold::{cannot_hold, parts_not_held};
use jeton_models::model::{Model, WordPiece};
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::decoder::Decoder;
use jeton_stages::normalizer::Normalizer;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::pre_tokenizer::PreTokenizer;
use jeton_stages::vocab::{Vocab, show};
use jeton_text::error::{Error, ErrorKind, Result};

const UNK: &str = "[UNK]";
const CLS: &str = "[CLS]";
const SEP: &str = "[SEP]";

/// The special tokens, those of them that a vocabulary has.
const SPECIAL: [&str; 5] = ["[PAD]", UNK, CLS, SEP, "[MASK]"];

const PREFIX: &str = "##";
const MAX_INPUT_CHARS_PER_WORD: usize = 100;

/// The tokenizer of a file.
///
/// The file does not say whether text is lower-cased; if `lowercase` is unset, it is unless a token
/// would change in lower case, so that lower-cased text would never reach it. Names in brackets such
/// as `[CLS]` do not count.
///
/// ```
/// use jeton_formats::wordpiece;
///
/// let stages = wordpiece::read(b"[UNK]\nun\n##aff\n##able\n", None)?;
/// assert_eq!(stages.model.vocab().id(b"##able"), Some(3));
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// A line that is not UTF-8; no `[UNK]`; more lines than there can be ids.
pub fn read(file: &[u8], lowercase: Option<bool>) -> Result<Stages> {
    let vocab = match distinct_lines(file) {
        Some(vocab) => vocab,
        None => any_lines(file)?,
    };
    stages(vocab, lowercase)
}

/// The tokens of a file in which none stands twice, as nearly all are. `None` for any other file,
/// broken ones too.
fn distinct_lines(file: &[u8]) -> Option<Vocab> {
    let text = std::str::from_utf8(file).ok()?;
    u32::try_from(text.len()).ok()?;
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let token = (start, start + line.trim_end().len() as u32);
        start += line.len() as u32;
        token
    });
    let lines = lines.collect();
    Vocab::of_ranges(file.to_vec(), lines)
}

fn any_lines(file: &[u8]) -> Result<Vocab> {
    let mut last = HashMap::new();
    let mut lines = Vec::new();
    for (line, id) in file.split_inclusive(|byte| *byte == b'\n').zip(0_u32..) {
        let line = std::str::from_utf8(line).map_err(|error| {
            Error::new(ErrorKind::Format, format!("this is not UTF-8: {error}"))
                .at(format!("line {}", u64::from(id) + 1))
        })?;
        let token = line.trim_end();
        last.insert(token, id);
        lines.push((token, id));
    }
    lines.retain(|(token, id)| last.get(token) == Some(id));
    Vocab::new(lines)
}

/// What about the bytes of a file, of which this vocabulary was read, suggests that it does not mean
/// what it says, though `tokenizers` reads it in the same way.
pub fn warnings(file: &[u8], vocab: &Vocab) -> Vec<String> {
    let mut warnings = Vec::new();
    if file.starts_with("\u{feff}".as_bytes()) {
        warnings.push(
            "the file begins with a byte order mark, which becomes part of its first token; save \
             it without"
                .to_owned(),
        );
    }
    let lines = || {
        file.split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii_end)
    };
    // Each token of a vocabulary has one id.
    if (lines().zip(0..)).all(|(token, id)| vocab.token(id) == Some(token)) {
        return warnings;
    }
    let mut first = HashMap::new();
    let mut repeated = Vec::new();
    for (token, number) in lines().zip(1_u32..) {
        let earlier = *first.entry(token).or_insert(number);
        if earlier < number {
            repeated.push((token, earlier, number));
        }
    }
    if let Some((token, earlier, later)) = repeated.first() {
        warnings.push(format!(
            "{} of the lines repeat a token, the first of them {} on lines {earlier} and {later}; \
             the last line counts, and the ids of the others stand for nothing",
            repeated.len(),
            show(token)
        ));
    }
    warnings
}

/// BERT's tokenizer of a vocabulary; of `lowercase`, see [`read`].
///
/// # Errors
/// A vocabulary without `[UNK]`.
pub fn stages(vocab: Vocab, lowercase: Option<bool>) -> Result<Stages> {
    let id = |token: &str| vocab.id(token.as_bytes());
    if id(UNK).is_none() {
        return Err(Error::new(
            ErrorKind::Format,
            format!("there is no token {UNK} for unknown words"),
        ));
    }
    let named = |token: &str| id(token).map(|id| (token.to_owned(), id));
    let mut added_tokens: Vec<_> = SPECIAL
        .iter()
        .filter_map(|token| Some(AddedToken::special(id(token)?, *token)))
        .collect();
    added_tokens.sort_by_key(|token| token.id);
    Ok(Stages {
        added_tokens,
        normalizer: Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: lowercase.unwrap_or_else(|| !is_cased(&vocab)),
        }),
        pre_tokenizer: Some(PreTokenizer::Bert),
        post_processor: named(SEP)
            .zip(named(CLS))
            .map(|(sep, cls)| PostProcessor::Bert { sep, cls }),
        decoder: Some(Decoder::WordPiece {
            prefix: PREFIX.to_owned(),
            cleanup: true,
        }),
        truncation: None,
        padding: None,
        model: Model::WordPiece(WordPiece::new(vocab, UNK, PREFIX, MAX_INPUT_CHARS_PER_WORD)),
    })
}

fn is_cased(vocab: &Vocab) -> bool {
    vocab
        .iter()
        .filter_map(|(token, _)| std::str::from_utf8(token).ok())
        .filter(|token| !(token.starts_with('[') && token.ends_with(']')))
        .any(|token| {
            if token.is_ascii() {
                token.bytes().any(|byte| byte.is_ascii_uppercase())
            } else {
                token.to_lowercase() != token
            }
        })
}

/// Writes a tokenizer as such a file, without its truncation and padding.
///
/// # Errors
/// A tokenizer that the file would not mean, with what it cannot hold: another model, stages that
/// are not BERT's, a token that is no line, gaps in the ids.
pub fn write(tokenizer: &Stages) -> Result<Vec<u8>> {
    tokenizer.ask_for_room(256);
    let cannot = |what: &str| cannot_hold("vocab.txt", what).hint("save it as tokenizer.json");
    let Model::WordPiece(model) = &tokenizer.model else {
        let kind = tokenizer.model.kind();
        let error = cannot_hold("vocab.txt", format!("a {kind} model, only WordPiece"));
        return Err(error.hint(match tokenizer.model {
            Model::SentencePiece(_) => "save it as .model",
            _ => "save it as tokenizer.json",
        }));
    };
    let vocab = model.vocab();
    let held = stages(vocab.clone(), None)?;
    if let Some(Normalizer::Bert { lowercase, .. }) = tokenizer.normalizer
        && stages(vocab.clone(), Some(lowercase))?.normalizer == tokenizer.normalizer
        && held.normalizer != tokenizer.normalizer
    {
        return Err(cannot(if lowercase {
            "that text is lower-cased, since tokens with capitals say that it is not"
        } else {
            "that text is not lower-cased, since no token has a capital that would say so"
        }));
    }
    if let Some(part) = parts_not_held(tokenizer, &held).next() {
        let what = part.of(tokenizer);
        return Err(cannot(&format!(
            "{what} as it is here: it means BERT's own"
        )));
    }
    let mut file = Vec::new();
    for ((token, id), expected) in vocab.iter().zip(0..) {
        if id != expected {
            return Err(cannot(&format!("a gap in the ids: none is {expected}")));
        }
        let is_line = std::str::from_utf8(token)
            .is_ok_and(|text| text.trim_end() == text && !text.contains('\n'));
        if !is_line {
            return Err(cannot(&format!("the token {}", show(token))));
        }
        file.extend_from_slice(token);
        file.push(b'\n');
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(file: &[u8]) -> Vec<(String, u32)> {
        let stages = read(file, None).unwrap();
        stages
            .model
            .vocab()
            .iter()
            .map(|(token, id)| (String::from_utf8(token.to_vec()).unwrap(), id))
            .collect()
    }

    /// What `tokenizers` reads of the same files.
    #[test]
    fn lines_are_read_as_by_tokenizers() {
        type Row<'a> = (&'a str, &'a [u8], &'a [(&'a str, u32)]);
        let rows: [Row; 5] = [
            ("plain", b"[UNK]\na\n", &[("[UNK]", 0), ("a", 1)]),
            ("no last line end", b"[UNK]\na", &[("[UNK]", 0), ("a", 1)]),
            (
                "carriage returns and spaces",
                b"[UNK]\r\na \t\r\n",
                &[("[UNK]", 0), ("a", 1)],
            ),
            (
                "a blank line is an empty token",
                b"[UNK]\n\na\n",
                &[("[UNK]", 0), ("", 1), ("a", 2)],
            ),
            (
                "of equal lines the last counts",
                b"a\n[UNK]\na\n",
                &[("[UNK]", 1), ("a", 2)],
            ),
        ];
        for (name, file, expected) in rows {
            let found = vocab(file);
            let found: Vec<(&str, u32)> = found.iter().map(|(t, id)| (t.as_str(), *id)).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn suspect_files_give_a_warning() {
        let warnings = |file: &str| {
            let read = any_lines(file.as_bytes()).unwrap();
            warnings(file.as_bytes(), &read)
        };
        assert!(warnings("[UNK]\na\n\nb\n").is_empty());
        let [mark, repeated] = &warnings("\u{feff}[UNK]\na\nb \na\r\nb\n")[..] else {
            panic!("two warnings");
        };
        assert!(mark.contains("byte order mark"), "{mark}");
        let expected = "2 of the lines repeat a token, the first of them \"a\" on lines 2 and 4;";
        assert!(repeated.starts_with(expected), "{repeated}");
    }

    #[test]
    fn upper_case_tokens_tell_a_cased_vocabulary() {
        let lowercase = |file: &[u8], given| match read(file, given).unwrap().normalizer {
            Some(Normalizer::Bert { lowercase, .. }) => lowercase,
            _ => unreachable!(),
        };
        assert!(lowercase(b"[UNK]\n[CLS]\na\n", None));
        assert!(!lowercase(b"[UNK]\na\n##B\n", None));
        assert!(lowercase(b"[UNK]\na\n##B\n", Some(true)));
        // A capital that has no small letter.
        assert!(lowercase("[UNK]\n##ℝ\n".as_bytes(), None));
    }

    #[test]
    fn read_files_are_written_back() {
        let file = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n";
        assert_eq!(write(&read(file, None).unwrap()).unwrap(), file);
    }

    #[test]
    fn parts_that_a_file_cannot_hold_are_named() {
        let cased = read(b"[UNK]\na\n", Some(false)).unwrap();
        let gap = read(b"a\n[UNK]\na\n", None).unwrap();
        let mut decoder = read(b"[UNK]\na\n", None).unwrap();
        decoder.decoder = None;
        for (stages, expected) in [
            (
                cased,
                "cannot hold that text is not lower-cased, since no token",
            ),
            (gap, "a gap in the ids: none is 0"),
            (decoder, "cannot hold a tokenizer without a decoder"),
        ] {
            let error = write(&stages).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(read(b"a\n", None).is_err());
    }
}
