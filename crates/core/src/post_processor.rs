//! Post-processors: the special tokens around a text or a pair of texts, such as `[CLS] A [SEP]`.

use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;
use crate::error::Result;

/// Which of the two texts a piece of a template stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sequence {
    /// The first text.
    A,
    /// The second text.
    B,
}

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplatePiece {
    /// A text.
    Sequence {
        /// Which.
        id: Sequence,
        /// The type id of its tokens.
        type_id: u32,
    },
    /// A special token, by its name in the template's table.
    SpecialToken {
        /// Its name.
        id: String,
        /// The type id of its tokens.
        type_id: u32,
    },
}

/// A special token of a template: one name, one or more tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateToken {
    /// The name that templates use.
    pub id: String,
    /// The ids it stands for.
    pub ids: Vec<u32>,
    /// The tokens of these ids.
    pub tokens: Vec<String>,
}

/// One post-processor. The names are those of Hugging Face `tokenizers`, and so are the meanings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PostProcessor {
    /// A template for one text and one for two.
    Template {
        /// For one text.
        single: Vec<TemplatePiece>,
        /// For two.
        pair: Vec<TemplatePiece>,
        /// What the names mean, in the order of the file.
        special_tokens: Vec<TemplateToken>,
    },
    /// `[CLS] A [SEP]`, `[CLS] A [SEP] B [SEP]`, with type ids 0 and 1.
    Bert {
        /// `[SEP]` and its id.
        sep: (String, u32),
        /// `[CLS]` and its id.
        cls: (String, u32),
    },
    /// `<s> A </s>`, `<s> A </s></s> B </s>`.
    Roberta {
        /// `</s>` and its id.
        sep: (String, u32),
        /// `<s>` and its id.
        cls: (String, u32),
        /// Leave white space at the ends of a token out of its span.
        trim_offsets: bool,
        /// The pre-tokenizer put a space in front.
        add_prefix_space: bool,
    },
    /// Leaves white space at the ends of a token out of its span; adds no tokens.
    ByteLevel {
        /// The pre-tokenizer put a space in front.
        add_prefix_space: bool,
        /// Do so at all.
        trim_offsets: bool,
        /// Read by nothing here: the file format stores it beside the two others.
        use_regex: bool,
    },
    /// One after another.
    Sequence(Vec<PostProcessor>),
}

impl PostProcessor {
    /// Puts the special tokens around the encodings of one text or two and joins them.
    ///
    /// # Errors
    /// A template that names a special token that its table lacks.
    pub fn process(
        &self,
        encodings: Vec<Encoding>,
        add_special_tokens: bool,
        token_bytes: &dyn Fn(u32) -> Option<Vec<u8>>,
    ) -> Result<Encoding> {
        let _ = (encodings, add_special_tokens, token_bytes);
        unimplemented!()
    }

    /// Joins the encodings of one text or two, without any special tokens.
    pub fn join(encodings: Vec<Encoding>) -> Encoding {
        let _ = encodings;
        unimplemented!()
    }
}
