//! File formats: how tokenizers are read and written.
//!
//! One file a format. Each knows the conventions that the format stores tokens by; past this
//! module, tokens are bytes.

pub(crate) mod file;
pub mod gpt2;
pub mod huggingface;
pub mod known;
mod load;
pub mod sentencepiece;
pub mod snapshot;
mod sniff;
pub mod tiktoken;
pub mod wordpiece;

pub use load::{LoadOptions, load, save};

use crate::added_tokens::AddedToken;
use crate::decoder::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Model;
use crate::post_processor::PostProcessor;
use crate::tokenizer::Stages;

/// A special token as tiktoken has them: found wherever it is spelled out.
fn special_token(content: String, id: u32) -> AddedToken {
    AddedToken {
        id,
        content,
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
    }
}

/// Refuses what neither ranks nor a GPT-2 pair can say: normalizers, templates, other decoders,
/// and what a BPE may have beside its tokens and merges.
fn holds_nothing_else(stages: &Stages, format: &str) -> Result<()> {
    let cannot = |what: &str| {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("{format} cannot hold {what}"),
        )
        .hint("save as tokenizer.json"))
    };
    if stages.normalizer.is_some() {
        return cannot("a normalizer");
    }
    match &stages.post_processor {
        None | Some(PostProcessor::ByteLevel { .. }) => {}
        Some(_) => return cannot("a post-processor that adds special tokens"),
    }
    if stages.decoder != Some(Decoder::ByteLevel { printable: false }) {
        return cannot("a decoder other than the one that joins bytes");
    }
    for token in &stages.added_tokens {
        if token.lstrip || token.rstrip || token.single_word {
            return cannot(&format!(
                "the options lstrip, rstrip and single_word of {:?}",
                token.content
            ));
        }
    }
    let Model::Bpe(bpe) = &stages.model else {
        return Ok(());
    };
    let options = bpe.options();
    for (set, name) in [
        (options.dropout.is_some(), "dropout"),
        (
            options
                .continuing_subword_prefix
                .as_deref()
                .is_some_and(|text| !text.is_empty()),
            "a prefix of continuing subwords",
        ),
        (
            options
                .end_of_word_suffix
                .as_deref()
                .is_some_and(|text| !text.is_empty()),
            "a suffix of words",
        ),
    ] {
        if set {
            return cannot(name);
        }
    }
    Ok(())
}
