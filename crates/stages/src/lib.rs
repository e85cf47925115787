//! The stages of a tokenizer around its model, each separately, and the tokens themselves.
//!
//! Look here for what a normalizer does to text, where a pre-tokenizer splits it, which ids frame it,
//! and how bytes become text again. `jeton-formats` says how another library's file spells a stage.
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
//! - [`vocab`] and [`tables`], tokens and how they are found;
//! - [`encoding`] and [`post_processor`], what a text yields and what frames it;
//! - [`decoder`], the way back.

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
