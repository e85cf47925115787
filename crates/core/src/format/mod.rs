//! File formats: how tokenizers are read and written.
//!
//! One file a format. Each knows the conventions that the format stores tokens by; past this
//! module, tokens are bytes.

pub mod gpt2;
pub mod huggingface;
mod load;
pub mod sentencepiece;
pub mod snapshot;
mod sniff;
mod target;
pub mod tiktoken;
pub mod wordpiece;

pub(crate) use load::merges_path_for;
pub use load::{LoadOptions, Loaded, load};
pub use target::Target;

use crate::added_tokens::AddedToken;
use crate::decoder::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::model::bpe::Alphabet;
use crate::model::{Bpe, Model};
use crate::post_processor::PostProcessor;
use crate::stages::{Kind, Stages};

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

/// A stage as messages call it: what it is, and of which kind.
pub(crate) fn stage<T: Kind>(what: &str, value: Option<&T>) -> String {
    match value {
        Some(value) => format!("the {what} {}", value.kind()),
        None => format!("a tokenizer without a {what}"),
    }
}

/// The model of a byte-level BPE that has no more than ranks or a GPT-2 pair can say: no
/// normalizer, template, other decoder, and nothing beside its tokens and merges.
fn plain_bpe<'s>(stages: &'s Stages, format: &str) -> Result<&'s Bpe> {
    let cannot = |what: &str| {
        Err(Error::new(
            ErrorKind::Unsupported,
            format!("{format} cannot hold {what}"),
        )
        .hint("save as tokenizer.json"))
    };
    let bpe = match &stages.model {
        Model::Bpe(bpe) if bpe.options().alphabet == Alphabet::Bytes => bpe,
        Model::Bpe(_) => {
            return cannot("a BPE model that begins with characters, only one of bytes");
        }
        Model::SentencePiece(_) => {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("{format} cannot hold a SentencePiece model, only BPE of bytes"),
            )
            .hint("save as .model"));
        }
        other => {
            return cannot(&format!("a {} model, only BPE of bytes", other.kind()));
        }
    };
    if stages.normalizer.is_some() {
        return cannot(&stage("normalizer", stages.normalizer.as_ref()));
    }
    match &stages.post_processor {
        None | Some(PostProcessor::ByteLevel { .. }) => {}
        other => {
            let stage = stage("post-processor", other.as_ref());
            return cannot(&format!("{stage}, which adds special tokens"));
        }
    }
    if stages.decoder != Some(Decoder::ByteLevel { printable: false }) {
        let stage = stage("decoder", stages.decoder.as_ref());
        return cannot(&format!("{stage}, only the one that joins bytes"));
    }
    for token in &stages.added_tokens {
        if token.lstrip || token.rstrip || token.single_word {
            return cannot(&format!(
                "the options lstrip, rstrip and single_word of {:?}",
                token.content
            ));
        }
    }
    let options = bpe.options();
    let is_set = |affix: &Option<String>| affix.as_deref().is_some_and(|affix| !affix.is_empty());
    for (name, set) in [
        ("dropout", options.dropout.is_some()),
        (
            "a prefix of continuing subwords",
            is_set(&options.continuing_subword_prefix),
        ),
        ("a suffix of words", is_set(&options.end_of_word_suffix)),
    ] {
        if set {
            return cannot(name);
        }
    }
    Ok(bpe)
}
