//! The class behind `jeton.Tokenizer`: a shared, immutable tokenizer of the core.
//!
//! Each file has the calls of one subject, and passes them to the core. Arguments arrive in a fixed
//! order; names, defaults and documentation are in the Python class.

mod building;
mod decoding;
mod encoding;
mod explaining;
mod vocabulary;

use std::borrow::Cow;
use std::sync::Arc;

use jeton_core::EncodeOptions;
use pyo3::prelude::*;

use crate::errors::Outcome;
use crate::options::{self, Drawing, Given};

/// A tokenizer of the core: stages and model, without what the class of Python adds.
#[pyclass(name = "Pipeline", frozen, module = "jeton._core")]
pub struct Tokenizer {
    pub(crate) core: Arc<jeton_core::Tokenizer>,
}

impl From<jeton_core::Tokenizer> for Tokenizer {
    fn from(core: jeton_core::Tokenizer) -> Self {
        Self {
            core: Arc::new(core),
        }
    }
}

impl Tokenizer {
    #[inline]
    pub(crate) fn options(
        &self,
        special: Given<'_>,
        add_special_tokens: Given<'_>,
        drawing: Drawing<'_>,
    ) -> Outcome<Cow<'static, EncodeOptions>> {
        let model = &self.core.stages().model;
        options::encode_options(model, special, add_special_tokens, drawing)
    }
}
