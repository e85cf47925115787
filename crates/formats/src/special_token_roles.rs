//! Roles of special tokens: which one begins a text, ends it, pads sequences, or replaces unknown text.
//!
//! Look here for the roles that follow from a tokenizer's own stages. If a format or a published encoding
//! says more, that is in the format's file; roles from a folder are stored with the tokenizer.

use jeton_models::model::Model;
use jeton_models::stages::Stages;
use jeton_stages::added_tokens::AddedToken;
use jeton_stages::post_processor::PostProcessor;

/// The role of a token and its spelling.
pub type Role = (&'static str, String);

/// The names of the roles, in the order in which `transformers` lists them.
pub const NAMES: [&str; 7] = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"];

/// The names that BERT's vocabularies have for their special tokens.
const OF_WORDPIECE: [(&str, &str); 4] = [
    ("sep", "[SEP]"),
    ("pad", "[PAD]"),
    ("cls", "[CLS]"),
    ("mask", "[MASK]"),
];

/// The roles that follow from the stages, in the order of [`NAMES`], each once.
///
/// The model says which token replaces unknown text, a SentencePiece model also which ones begin
/// and end a text and pad sequences; the post-processors of BERT and RoBERTa name their two tokens,
/// padding names its own; and the special tokens of a WordPiece vocabulary have BERT's names.
///
/// ```
/// use jeton_formats::wordpiece;
/// use jeton_formats::special_token_roles;
///
/// let stages = wordpiece::read(b"[PAD]\n[UNK]\na\n", None)?;
/// let roles = special_token_roles::of(&stages);
/// assert_eq!(roles, [("unk", "[UNK]".to_owned()), ("pad", "[PAD]".to_owned())]);
/// # Ok::<(), jeton_text::Error>(())
/// ```
pub fn of(stages: &Stages) -> Vec<Role> {
    let mut roles = Vec::new();
    if let Some(padding) = &stages.padding
        && let Ok(padding) = serde_json::from_str::<serde_json::Value>(padding)
        && let Some(token) = padding["pad_token"].as_str()
    {
        roles.push(("pad", token.to_owned()));
    }
    if let Some(post_processor) = &stages.post_processor {
        of_post_processor(post_processor, &mut roles);
    }
    roles.extend(of_model(&stages.model));
    if matches!(stages.model, Model::WordPiece(_)) {
        let special = stages.added_tokens.iter().filter(|token| token.special);
        let special: Vec<&str> = special.map(|token| token.content.as_str()).collect();
        let named = OF_WORDPIECE.iter();
        let named = named.filter(|(_, token)| special.contains(token));
        roles.extend(named.map(|(role, token)| (*role, (*token).to_owned())));
    }
    let vocab = stages.model.vocab();
    let is_token = |token: &str| {
        let mut added = stages.added_tokens.iter();
        added.any(|added| added.content == token) || vocab.id(token.as_bytes()).is_some()
    };
    let first = |name: &&str| {
        let mut roles = roles.iter();
        roles
            .find(|(role, token)| role == name && is_token(token))
            .cloned()
    };
    NAMES.iter().filter_map(first).collect()
}

/// The roles whose tokens are there.
pub fn among(known: &[(&'static str, &str)], tokens: &[AddedToken]) -> Vec<Role> {
    let is_there = |spelled: &str| tokens.iter().any(|token| token.content == spelled);
    let known = known.iter().filter(|(_, spelled)| is_there(spelled));
    known
        .map(|(role, spelled)| (*role, (*spelled).to_owned()))
        .collect()
}

fn of_post_processor(post_processor: &PostProcessor, roles: &mut Vec<Role>) {
    match post_processor {
        PostProcessor::Bert { sep, cls } | PostProcessor::Roberta { sep, cls, .. } => {
            roles.push(("sep", sep.0.clone()));
            roles.push(("cls", cls.0.clone()));
        }
        PostProcessor::Sequence(steps) => {
            steps.iter().for_each(|step| of_post_processor(step, roles));
        }
        PostProcessor::Template { .. } | PostProcessor::ByteLevel { .. } => {}
    }
}

fn of_model(model: &Model) -> Vec<Role> {
    let of_id = |id: Option<u32>| {
        let token = model.vocab().token(id?)?;
        std::str::from_utf8(token).ok().map(str::to_owned)
    };
    let unknown = match model {
        Model::Bpe(model) => model.options().unk_token.clone(),
        Model::WordLevel(model) => Some(model.unk_token().to_owned()),
        Model::WordPiece(model) => Some(model.unk_token().to_owned()),
        Model::Unigram(model) => of_id(model.unk_id()),
        Model::Characters(model) => of_id(model.unk_id()),
        Model::SentencePiece(model) => return model.proto().roles(),
        Model::LongestMatch(_) | Model::PickyBpe(_) => None,
    };
    unknown.map(|token| ("unk", token)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::huggingface;

    #[test]
    fn stages_tell_roles() {
        let words = |around: &str| {
            let file = format!(
                r#"{{"model": {{"type": "WordLevel", "unk_token": "?", "vocab": {{"?": 0, "<s>": 1,
                "</s>": 2, "_": 3}}}}{around}}}"#
            );
            of(&huggingface::read(file.as_bytes()).unwrap())
        };
        let named = |roles: &[(&'static str, &str)]| -> Vec<Role> {
            let roles = roles.iter();
            roles.map(|(role, it)| (*role, (*it).to_owned())).collect()
        };
        assert_eq!(words(""), named(&[("unk", "?")]));
        let roberta = r#", "post_processor": {"type": "Sequence", "processors": [{"type":
            "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": true,
            "add_prefix_space": true}]}"#;
        let expected = named(&[("unk", "?"), ("sep", "</s>"), ("cls", "<s>")]);
        assert_eq!(words(roberta), expected);
        let padding = r#", "padding": {"strategy": "BatchLongest", "direction": "Right",
            "pad_to_multiple_of": null, "pad_id": 3, "pad_type_id": 0, "pad_token": "_"}"#;
        assert_eq!(words(padding), named(&[("unk", "?"), ("pad", "_")]));
        // A token that is none plays no part.
        assert_eq!(words(&padding.replace('_', "-")), named(&[("unk", "?")]));
    }

    #[test]
    fn a_sentencepiece_model_tells_roles_by_its_control_pieces() {
        use crate::sentencepiece::stages;
        use jeton_models::model::sentencepiece::spec::{
            ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
        };
        let pieces = [
            Piece::new("<oov>", 0.0, PieceKind::Unknown),
            Piece::new("<bos>", 0.0, PieceKind::Control),
            Piece::new("</s>", 0.0, PieceKind::Control),
            Piece::new("<pad>", -1.0, PieceKind::Normal),
        ];
        let trainer = TrainerSpec {
            bos_piece: "<bos>".to_owned(),
            ..TrainerSpec::default()
        };
        let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
        let roles = of(&stages(proto).unwrap());
        let expected = [("bos", "<bos>"), ("eos", "</s>"), ("unk", "<oov>")];
        assert_eq!(
            roles,
            expected.map(|(role, token)| (role, token.to_owned()))
        );
    }
}
