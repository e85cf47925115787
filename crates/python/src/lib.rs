//! The border between Python and the core: converts, releases the GIL, maps errors; no algorithm.
//!
//! Look here for the list of everything that Python sees of the core. Signatures and documentation for
//! users are in `python/jeton/`, except for the few methods in `single_text_calls`.

mod allocator;
mod arrays;
mod arrow;
mod buffers;
mod cache;
mod component;
mod documents;
mod encoded;
mod entries;
mod errors;
mod files;
mod function;
mod ids_from_python;
mod lists_of_ids;
mod measuring;
mod model;
mod options;
mod parameters;
mod pool;
mod scripts;
mod sentencepiece;
mod signals;
mod single_text_calls;
mod stages;
mod streams;
mod superwords;
mod text;
mod texts;
mod token_blocks;
mod tokenizer;
mod trainers;
mod word_counts;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// The compiled core of jeton. Private: use the names of `jeton` itself.
#[pymodule(gil_used = false)]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::arrow::arrow_lists;
    #[pymodule_export]
    use super::cache::{cache_limit, set_cache_limit};
    #[pymodule_export]
    use super::component::Component;
    #[pymodule_export]
    use super::documents::{Documents, file_kind};
    #[pymodule_export]
    use super::encoded::Encoded;
    #[pymodule_export]
    use super::files::{
        add_the_same, create_beside, fingerprint, folder_files, load, open_file,
        published_encodings, save, save_gguf, target_of, write_into,
    };
    #[pymodule_export]
    use super::function::Function;
    #[pymodule_export]
    use super::lists_of_ids::lists;
    #[pymodule_export]
    use super::measuring::{
        CountedWords, FileContents, TextFile, TextParts, TokenCounter, UnicodeWords, changed_lines,
        check_text, count_parts, cut_text,
    };
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::scripts::scripts;
    #[pymodule_export]
    use super::sentencepiece::{SentencePieceReader, charsmap, charsmap_rules, compiled_charsmap};
    #[pymodule_export]
    use super::single_text_calls::Calls;
    #[pymodule_export]
    use super::stages::{canonical_component, check_regex, did_you_mean, named_patterns};
    #[pymodule_export]
    use super::streams::{CountedText, DecodeStream, EncodeStream};
    #[pymodule_export]
    use super::superwords::SuperwordTraining;
    #[pymodule_export]
    use super::token_blocks::{TokenBlocks, blocks_of_texts, reordered};
    #[pymodule_export]
    use super::tokenizer::Tokenizer;
    #[pymodule_export]
    use super::trainers::{
        check_trainer, sentencepiece_separators, train, train_languages, train_sizes,
    };
    #[pymodule_export]
    use super::word_counts::{WordCounter, WordCounts, find_files, pattern_pre_tokenizer};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        allocator::prepare_for_limits(module.py());
        allocator::replenish();
        errors::keep_panics_quiet();
        jeton_core::initialize_libraries();
        // So is the lock behind which a thread of its own first finds out whether Python runs.
        module.py().detach(|| Python::attach(|_| ()));
        module.add("OPTIMISED", !cfg!(debug_assertions))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
