//! Training WordPiece as it was released: byte pair encoding over characters whose tokens are kept
//! and whose merges are not.

use std::ops::ControlFlow;

use super::WordPiece;
use crate::error::{Error, ErrorKind, Result};
use crate::model::bpe::Alphabet;
use crate::model::bpe::train::{BpeTraining, Progress, train_bpe};
use crate::word_counts::WordCounts;

/// How long a word may be before it is unknown as a whole, as released with BERT.
const MAX_INPUT_CHARS_PER_WORD: usize = 100;

/// The WordPiece model whose tokens are those of the byte pair encoding that `training` asks for.
///
/// ```
/// use std::ops::ControlFlow;
/// use jeton_core::model::bpe::Alphabet;
/// use jeton_core::model::bpe::train::BpeTraining;
/// use jeton_core::model::wordpiece::train_wordpiece;
/// use jeton_core::word_counts::WordCounts;
///
/// let counts = WordCounts::from_words([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4)]);
/// let training = BpeTraining {
///     vocab_size: 11,
///     alphabet: Alphabet::Characters,
///     special_tokens: vec!["[UNK]".to_owned()],
///     unk_token: Some("[UNK]".to_owned()),
///     continuing_subword_prefix: Some("##".to_owned()),
///     ..BpeTraining::default()
/// };
/// let model = train_wordpiece(&counts, &training, |_| ControlFlow::Continue(()))?;
/// // `p` `##u` stand together 17 times, `##u` `##n` only 16 times.
/// assert_eq!(model.vocab().id(b"pu"), Some(10));
/// # Ok::<(), jeton_core::Error>(())
/// ```
///
/// # Errors
/// As [`train_bpe`]; bytes for an alphabet, and no `unk_token` or `continuing_subword_prefix`.
pub fn train_wordpiece(
    counts: &WordCounts,
    training: &BpeTraining,
    watch: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<WordPiece> {
    let wrong = |message: &str| Err(Error::new(ErrorKind::Argument, message));
    if training.alphabet != Alphabet::Characters {
        return wrong("WordPiece is made of characters, and this alphabet is bytes");
    }
    let Some(unk_token) = &training.unk_token else {
        return wrong("WordPiece needs an unk_token, for words that no tokens make up");
    };
    let Some(prefix) = &training.continuing_subword_prefix else {
        return wrong("WordPiece needs a continuing_subword_prefix, such as \"##\"");
    };
    let bpe = train_bpe(counts, training, watch)?;
    Ok(WordPiece::new(
        bpe.vocab().clone(),
        unk_token,
        prefix,
        MAX_INPUT_CHARS_PER_WORD,
    ))
}
