//! The tokenizers that ranks and a GPT-2 pair can hold: byte-level BPE without other stages.
//!
//! Look here for the error about any other tokenizer.

use super::cannot_hold::{cannot_hold, stage};
use jeton_models::model::bpe::Alphabet;
use jeton_models::model::{Bpe, Model};
use jeton_models::stages::Stages;
use jeton_stages::decoder::Decoder;
use jeton_stages::post_processor::PostProcessor;
use jeton_stages::vocab::show;
use jeton_text::error::Result;
use jeton_text::text::is_in_utf8;

/// The model of a byte-level BPE that has no more than ranks or a GPT-2 pair can say: no
/// normalizer, template, other decoder, and nothing beside its tokens and merges.
pub(super) fn plain_bpe<'s>(stages: &'s Stages, format: &str) -> Result<&'s Bpe> {
    let cannot = |what: &str| Err(cannot_hold(format, what).hint("save it as tokenizer.json"));
    let bpe = match &stages.model {
        Model::Bpe(bpe) if bpe.options().alphabet == Alphabet::Bytes => bpe,
        Model::Bpe(_) => {
            return cannot("a BPE model that begins with characters, only one of bytes");
        }
        Model::SentencePiece(_) => {
            let what = "a SentencePiece model, only BPE of bytes";
            return Err(cannot_hold(format, what).hint("save it as .model"));
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
        if !token.special {
            let token = &token.content;
            return cannot(&format!("the added token {token:?}, which is not special"));
        }
        if token.lstrip || token.rstrip || token.single_word {
            return cannot(&format!(
                "the options lstrip, rstrip and single_word of {:?}",
                token.content
            ));
        }
    }
    let mut bytes = (0..=u8::MAX).filter(|byte| is_in_utf8(*byte));
    if let Some(byte) = bytes.find(|byte| bpe.vocab().id(&[*byte]).is_none()) {
        let byte = show(&[byte]);
        return cannot(&format!("a vocabulary without a token for the byte {byte}"));
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
