//! Short texts, each encoded separately: how many tokens a word has, which lines decoding does not
//! return.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use crate::batch::{Batch, Failure};
use crate::tokenizer::{EncodeOptions, Tokenizer};
use jeton_text::error::Result;
use jeton_text::interrupt::Listener;

/// The token counts of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// How many tokens each has.
    pub tokens: Vec<usize>,
    /// Whether none of them is the unknown token.
    pub is_known: Vec<bool>,
}

/// A text that decoding does not return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which of the texts it is.
    pub row: usize,
    /// What it decodes to, in which what is not UTF-8 may still be as it was.
    pub gave: Vec<u8>,
    /// Whether none of its tokens is the unknown one.
    pub is_known: bool,
}

/// How many tokens each text has; `threads` and `cancelled` are those of [`Tokenizer::encode_batch`].
///
/// ```
/// use jeton_core::measure::short_texts::lengths;
/// # use std::sync::atomic::AtomicBool;
/// # use jeton_core::{Stages, Tokenizer, model::{Model, WordLevel}, vocab::Vocab};
/// # let vocab = Vocab::new([("the", 0), ("?", 1)]).unwrap();
/// # let stages = Stages::of_model(Model::WordLevel(WordLevel::new(vocab, "?")));
/// # let tokenizer = Tokenizer::new(stages).unwrap();
/// let found = lengths(&tokenizer, &["the", "", "cat"], 1, &AtomicBool::new(false)).unwrap();
/// assert_eq!((found.tokens, found.is_known), (vec![1, 0, 1], vec![true, true, false]));
/// ```
///
/// # Errors
/// As [`Tokenizer::encode_batch`].
pub fn lengths(
    tokenizer: &Tokenizer,
    texts: &[&str],
    threads: usize,
    cancelled: &AtomicBool,
) -> std::result::Result<Lengths, Failure> {
    let batch = tokenizer.encode_batch(texts, &EncodeOptions::PLAIN, threads, cancelled)?;
    let unknown = tokenizer.unknown_id();
    let rows = rows(&batch).map(|ids| (ids.len(), is_known(ids, unknown)));
    let (tokens, is_known) = rows.unzip();
    Ok(Lengths { tokens, is_known })
}

/// The texts that decode to something else; `threads` and `cancelled` are those of
/// [`Tokenizer::encode_batch`].
///
/// # Errors
/// As [`Tokenizer::encode_batch`], and those of decoding.
pub fn changed(
    tokenizer: &Tokenizer,
    texts: &[&str],
    threads: usize,
    cancelled: &AtomicBool,
) -> std::result::Result<Vec<Changed>, Failure> {
    let batch = tokenizer.encode_batch(texts, &EncodeOptions::PLAIN, threads, cancelled)?;
    let unknown = tokenizer.unknown_id();
    let tried: Vec<(usize, &[u32])> = rows(&batch).enumerate().collect();
    let change = |gave: &mut Vec<u8>, &(row, ids): &(usize, &[u32])| {
        gave.clear();
        let decoded: Result<()> = tokenizer.decode_into(ids, &false.into(), true, gave);
        decoded.map_err(|error| (row, error))?;
        Ok((*gave != texts[row].as_bytes()).then(|| Changed {
            row,
            gave: gave.clone(),
            is_known: is_known(ids, unknown),
        }))
    };
    match threads {
        1 => {
            let mut gave = Vec::new();
            let found = tried.iter().map(|tried| change(&mut gave, tried));
            found.filter_map(std::result::Result::transpose).collect()
        }
        _ => Listener::lend(|listener| {
            let change = |gave: &mut _, tried| listener.during(|| change(gave, tried));
            let found = tried.par_iter().map_init(Vec::new, change);
            found.filter_map(std::result::Result::transpose).collect()
        }),
    }
}

/// The ids of each text.
fn rows(batch: &Batch) -> impl Iterator<Item = &[u32]> {
    let ends = batch.offsets.windows(2);
    ends.map(|ends| &batch.ids[ends[0] as usize..ends[1] as usize])
}

fn is_known(ids: &[u32], unknown: Option<u32>) -> bool {
    !unknown.is_some_and(|unknown| ids.contains(&unknown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::Stages;
    use jeton_models::model::{Model, WordLevel};
    use jeton_stages::vocab::Vocab;

    #[test]
    fn texts_that_do_not_round_trip_are_given_in_order() {
        let tokens = ["the", "\u{fffd}", "?"];
        let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
        let model = Model::WordLevel(WordLevel::new(vocab, "?"));
        let tokenizer = Tokenizer::new(Stages::of_model(model)).unwrap();
        let texts = ["the", "cat", "", "\u{fffd}", "hat"].repeat(20);
        let changed_on = |threads| {
            let found = changed(&tokenizer, &texts, threads, &AtomicBool::new(false)).unwrap();
            let found = found.into_iter();
            found
                .map(|it| (it.row, it.gave, it.is_known))
                .collect::<Vec<_>>()
        };
        let expected = |row: usize| (row, b"?".to_vec(), false);
        let rows = (0..texts.len()).filter(|row| matches!(row % 5, 1 | 4));
        let expected: Vec<_> = rows.map(expected).collect();
        assert_eq!(changed_on(1), expected);
        assert_eq!(changed_on(3), expected);
    }
}
