//! GGUF: the tokenizer of a llama.cpp model, which the file holds in front of its tensors.
//!
//! Look here for which keys mean what. A loaded tokenizer gives llama.cpp's ids, even if the model's
//! own tokenizer gives others; `pre` says how llama.cpp splits text. Differences remain in rare texts:
//!
//! - of added tokens that overlap, llama.cpp takes the longest, wherever it is, and jeton the one that begins
//!   first;
//! - llama.cpp merges nothing across a byte without a token;
//! - llama.cpp finds RWKV's control tokens in any text, jeton only where the caller allows them;
//! - llama.cpp's Unigram adds scores in 64 bits, as `tokenizers` does; jeton's, as SentencePiece's, in 32.

mod container;
mod pre;
mod read;
mod source;
mod value;
mod write;

pub use container::{MAGIC, Metadata};
pub use read::{Contents, holds_a_tokenizer, read};
pub use write::{Extras, put, write};

/// The beginning of the keys of a tokenizer.
const PREFIX: &str = "tokenizer.";
const MODEL: &str = "tokenizer.ggml.model";
/// Which part of a split model a file is, from 0; only the first holds a tokenizer.
const PART: &str = "split.no";
const PRE: &str = "tokenizer.ggml.pre";
const TOKENS: &str = "tokenizer.ggml.tokens";
const SCORES: &str = "tokenizer.ggml.scores";
const TYPES: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";
const SPACE_PREFIX: &str = "tokenizer.ggml.add_space_prefix";
const REMOVE_EXTRA: &str = "tokenizer.ggml.remove_extra_whitespaces";
const CHARSMAP: &str = "tokenizer.ggml.precompiled_charsmap";
const LOWERCASE: &str = "tokenizer.ggml.normalizer.lowercase";
const STRIP_ACCENTS: &str = "tokenizer.ggml.normalizer.strip_accents";
const ADD_BOS: &str = "tokenizer.ggml.add_bos_token";
const ADD_EOS: &str = "tokenizer.ggml.add_eos_token";
const TEMPLATE: &str = "tokenizer.chat_template";

/// The roles of tokens, each with the key of its id.
const ROLES: &[(&str, &str)] = &[
    ("bos", "tokenizer.ggml.bos_token_id"),
    ("eos", "tokenizer.ggml.eos_token_id"),
    ("unk", "tokenizer.ggml.unknown_token_id"),
    // Misspelled in the format.
    ("sep", "tokenizer.ggml.seperator_token_id"),
    ("pad", "tokenizer.ggml.padding_token_id"),
    ("cls", "tokenizer.ggml.cls_token_id"),
    ("mask", "tokenizer.ggml.mask_token_id"),
    ("eot", "tokenizer.ggml.eot_token_id"),
    ("eom", "tokenizer.ggml.eom_token_id"),
    ("fim_pre", "tokenizer.ggml.fim_pre_token_id"),
    ("fim_suf", "tokenizer.ggml.fim_suf_token_id"),
    ("fim_mid", "tokenizer.ggml.fim_mid_token_id"),
    ("fim_pad", "tokenizer.ggml.fim_pad_token_id"),
    ("fim_rep", "tokenizer.ggml.fim_rep_token_id"),
    ("fim_sep", "tokenizer.ggml.fim_sep_token_id"),
];

/// The key of a role that has one.
fn key_of(role: &str) -> &'static str {
    let mut roles = ROLES.iter();
    roles
        .find(|(name, _)| *name == role)
        .map_or("", |(_, key)| key)
}

/// The type of a token; the values are those in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}
