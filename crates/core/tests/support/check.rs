//! The fast path against the stages, and the parts of a text against the whole.

use std::sync::atomic::AtomicBool;

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::fast::Strategy;
use jeton_core::{EncodeOptions, Tokenizer};

use super::spans;

/// Whether this strategy encodes for the tokenizer.
pub fn is_by(tokenizer: &Tokenizer, strategy: Strategy) -> bool {
    tokenizer.encoding_plan().strategy == Some(strategy)
}

/// Holds the two paths equal on `texts`.
pub fn check(tokenizer: &Tokenizer, texts: impl IntoIterator<Item = String>) {
    let options = EncodeOptions::default();
    for text in texts {
        for add_special_tokens in [false, true] {
            for special in [SpecialPolicy::Ignore, SpecialPolicy::Allow] {
                let options = EncodeOptions {
                    special,
                    add_special_tokens,
                    ..options.clone()
                };
                let staged = tokenizer.encode(&text, None, &options).map(|it| it.ids);
                // Twice: words that are new, and words that were seen.
                for _ in 0..2 {
                    let compiled = tokenizer.encode_ids(&text, &options);
                    match (&compiled, &staged) {
                        (Ok(compiled), Ok(staged)) => {
                            assert_eq!(compiled, staged, "{text:?} {tokenizer:?}");
                        }
                        (Err(_), Err(_)) => {}
                        _ => panic!("{compiled:?}, but {staged:?}: {text:?}"),
                    }
                }
                if let Ok(staged) = staged {
                    assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
                }
                spans::check(tokenizer, &text, &options);
            }
        }
    }
}

/// Holds the parts of a large text, encoded separately, equal to the text; says whether there
/// were any.
pub fn check_parts(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) -> bool {
    let whole = tokenizer.encode(text, None, options).unwrap().ids;
    let never = AtomicBool::new(false);
    let batch = tokenizer.encode_batch(&[text], options, 2, &never);
    assert_eq!(batch.unwrap().ids, whole, "{tokenizer:?} {options:?}");
    let counts = tokenizer.count_batch(&[text], options, 2, &never);
    assert_eq!(counts.unwrap(), [whole.len()], "{tokenizer:?}");
    spans::check_batch(tokenizer, text, options);
    tokenizer.split_point(text, 0, 1, options) < text.len()
}

/// The same, whatever special tokens mean, and with those of the post-processor.
pub fn check_framed_parts(tokenizer: &Tokenizer, text: &str) -> bool {
    let policies = [SpecialPolicy::Ignore, SpecialPolicy::Allow];
    let options = policies.into_iter().flat_map(|special| {
        [false, true].map(|add_special_tokens| EncodeOptions {
            special: special.clone(),
            add_special_tokens,
            ..EncodeOptions::default()
        })
    });
    let cut = options.map(|options| check_parts(tokenizer, text, &options));
    cut.fold(false, |some, cut| some | cut)
}

/// The ids of a text that is encoded part by part: each ends where the tokenizer says, `reach` bytes on or later.
pub fn ids_in_parts(
    tokenizer: &Tokenizer,
    text: &str,
    reach: usize,
    options: &EncodeOptions,
) -> Vec<u32> {
    let (mut ids, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let end = tokenizer.split_point(text, at, reach, options);
        let part = &text[at..end];
        tokenizer.encode_into(part, options, &mut ids).unwrap();
        at = end;
    }
    ids
}
