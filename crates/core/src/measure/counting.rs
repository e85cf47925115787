//! Counts a batch of texts: its words, and its tokens by each of several tokenizers, in one go.
//!
//! Look here for how all of them share the threads: if they took turns, threads would wait at the end
//! of each tokenizer.

use std::sync::atomic::AtomicBool;

use super::token_counter::TokenCounter;
use super::unicode_words::UnicodeWords;
use crate::batch::{Buffers, Failure, Job, run_together};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// Counts the words of texts, each separately, and their tokens by each tokenizer; `threads` and
/// `cancelled` are those of [`Tokenizer::encode_batch`].
///
/// # Errors
/// As [`Tokenizer::encode_batch`], of the first tokenizer that fails, with its number; an id that
/// its counter does not count. The counts are then meaningless.
pub fn count(
    texts: &[&str],
    words: &UnicodeWords,
    counters: &mut [(&Tokenizer, &mut TokenCounter)],
    threads: usize,
    cancelled: &AtomicBool,
) -> Result<(), (usize, Failure)> {
    let (options, buffers) = (EncodeOptions::PLAIN, Buffers::default());
    let job_of_words = Job::of_texts(texts, threads, |texts| {
        words.add(texts);
        0
    });
    let (jobs, full_tasks): (Vec<_>, Vec<_>) = counters
        .iter()
        .map(|(tokenizer, counter)| counter.job(tokenizer, texts, &options, threads, &buffers))
        .unzip();
    // Words first: their tasks are large, and small ones at the end leave less to wait for.
    let jobs: Vec<_> = std::iter::once(job_of_words).chain(jobs).collect();
    let lengths = run_together(&jobs, threads, cancelled);
    drop(jobs);
    let lengths = lengths.into_iter().skip(1);
    for ((number, (_, counter)), (lengths, full)) in
        counters.iter_mut().enumerate().zip(lengths.zip(full_tasks))
    {
        counter.end(&lengths.map_err(|failure| (number, failure))?);
        counter.full_tasks += full;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jeton_models::Stages;
    use jeton_models::model::{Bpe, Model};
    use jeton_stages::vocab::Vocab;

    /// A tokenizer of bytes and of these.
    fn tokenizer(tokens: &[&str]) -> Tokenizer {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain(tokens.iter().map(|token| token.as_bytes().to_vec()));
        let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap();
        Tokenizer::new(Stages::of_model(Model::Bpe(bpe))).unwrap()
    }

    #[test]
    fn texts_are_counted_as_they_are_encoded_whatever_the_threads() {
        let tokenizers = [tokenizer(&["in", "ra", "rain"]), tokenizer(&["sp"])];
        let texts = ["rain in spain, ".repeat(20_000), "brain".to_owned()];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let counters = || [(0..259).collect(), (0..257).collect()].map(TokenCounter::new);
        let result = |mut counters: [TokenCounter; 2], words: UnicodeWords| {
            let tokens: Vec<_> = counters
                .iter_mut()
                .map(|it| (it.take(), it.curve()))
                .collect();
            (tokens, words.finish(100))
        };
        let expected = {
            let (mut counters, words) = (counters(), UnicodeWords::default());
            for (tokenizer, counter) in tokenizers.iter().zip(&mut counters) {
                let ids = texts
                    .iter()
                    .map(|text| tokenizer.encode_ids(text, &EncodeOptions::PLAIN));
                let ids = ids.collect::<Result<Vec<_>, _>>().unwrap().concat();
                counter.see(0, &ids).unwrap();
                counter.end(&[ids.len()]);
            }
            words.add(&texts);
            result(counters, words)
        };
        for threads in [1, 3] {
            let (mut counters, words) = (counters(), UnicodeWords::default());
            for texts in texts.chunks(1) {
                let mut counters: Vec<_> = tokenizers.iter().zip(&mut counters).collect();
                count(
                    texts,
                    &words,
                    &mut counters,
                    threads,
                    &AtomicBool::new(false),
                )
                .unwrap();
            }
            assert_eq!(result(counters, words), expected, "{threads} threads");
        }
    }

    #[test]
    fn a_failure_is_that_of_the_first_tokenizer() {
        let tokenizers = [tokenizer(&[]), tokenizer(&[]), tokenizer(&[])];
        let mut counters = [256, 90, 80].map(|end| TokenCounter::new((0..end).collect()));
        let mut counters: Vec<_> = tokenizers.iter().zip(&mut counters).collect();
        let texts = ["A".repeat(300_000), "z".repeat(300_000)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for threads in [1, 3] {
            let (words, cancelled) = (UnicodeWords::default(), AtomicBool::new(false));
            let failure = count(&texts, &words, &mut counters, threads, &cancelled).unwrap_err();
            let (number, (row, error)) = failure;
            assert_eq!(
                (number, row, error.to_string()),
                (1, 1, "id 122 has no token".into())
            );
        }
    }
}
