//! The stages of a tokenizer around its model, each on its own, and the vocabulary.
//!
//! Look here for what a normalizer does to text, where a pre-tokenizer splits it, which special tokens are
//! put around it, and how bytes become text again. `jeton-formats` says how another library's file spells a stage.
//!
//! ```
//! use jeton_stages::pre_tokenizer::named;
//! use jeton_stages::vocab::Vocab;
//! use jeton_text::text::{AlignedText, Pieces};
//!
//! let mut pieces = Pieces::new(AlignedText::original("un café"));
//! named::find("gpt2")?.pre_tokenizer().cut(&mut pieces)?;
//! assert_eq!(pieces.iter().count(), 2);
//!
//! let vocab = Vocab::new([(b"un".to_vec(), 0), (" café".into(), 1)])?;
//! assert_eq!(vocab.id(" café".as_bytes()), Some(1));
//! # Ok::<(), jeton_text::Error>(())
//! ```
//!
//! The modules in the order in which text passes them:
//!
//! - [`added_tokens`], split off first; [`published_ranks`], the special tokens of known encodings;
//! - [`normalizer`], [`pre_tokenizer`]; [`nesting_limit`], how deep their sequences may be;
//! - [`split`], the same pieces as the pre-tokenizer's, found faster;
//! - [`vocab`], the tokens, and [`tables`], which find them;
//! - [`encoding`], the result, and [`post_processor`], the special tokens around it;
//! - [`decoder`], from tokens back to text.

pub mod added_tokens;
pub mod decoder;
pub mod encoding;
pub mod nesting_limit;
pub mod normalizer;
pub mod post_processor;
pub mod pre_tokenizer;
pub mod published_ranks;
pub mod split;
pub mod tables;
pub mod vocab;
