//! Words between white space, as BERT splits them.

use jeton_core::model::{Model, WordPiece};
use jeton_core::post_processor::PostProcessor;
use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::check::{check, check_framed_parts};
use crate::support::texts::{few_kinds, text};
use crate::support::words::{bert, normalizers, word_models};

#[test]
fn words_by_themselves() {
    let mut numbers = ChaCha8Rng::seed_from_u64(23);
    let mut cut = 0;
    for normalizer in normalizers() {
        for pre_tokenizer in [
            PreTokenizer::Bert,
            PreTokenizer::Whitespace,
            PreTokenizer::WhitespaceSplit,
        ] {
            for model in word_models(&mut numbers) {
                let mut stages = Stages::of_model(model);
                stages.normalizer = normalizer.clone();
                stages.pre_tokenizer = Some(pre_tokenizer.clone());
                stages.post_processor = Some(PostProcessor::Bert {
                    sep: ("[SEP]".to_owned(), 7),
                    cls: ("[CLS]".to_owned(), 8),
                });
                let tokenizer = Tokenizer::new(stages).unwrap();
                check(&tokenizer, (0..12).map(|_| text(&mut numbers)));
                let text = few_kinds(&mut numbers, 20_000);
                let encoded = tokenizer.encode(&text, None, &EncodeOptions::default());
                if numbers.random_bool(0.3) && encoded.is_ok() {
                    cut += usize::from(check_framed_parts(&tokenizer, &text));
                }
            }
        }
    }
    assert!(cut > 20, "{cut}");
}

/// Each character between words, between marks and beside punctuation, where words are split.
#[test]
fn every_character_beside_bert_words() {
    let words = [
        "[UNK]",
        "a",
        "##a",
        "b",
        "##b",
        ".",
        "-",
        "\u{301}",
        "##\u{301}",
        "##中",
        "中",
    ];
    let letters: Vec<String> = ('\u{80}'..='\u{3ff}').map(String::from).collect();
    let entries = words.iter().map(|word| (*word).to_owned()).chain(letters);
    let mut entries: Vec<String> = entries.collect();
    entries.sort();
    entries.dedup();
    let vocab = Vocab::new(entries.into_iter().zip(0..)).unwrap();
    for normalizer in [bert(true, true, None, true), bert(true, true, None, false)] {
        let model = Model::WordPiece(WordPiece::new(vocab.clone(), "[UNK]", "##", 100));
        let mut stages = Stages::of_model(model);
        stages.normalizer = Some(normalizer);
        stages.pre_tokenizer = Some(PreTokenizer::Bert);
        let tokenizer = Tokenizer::new(stages).unwrap();
        let options = EncodeOptions::default();
        // All that any stage distinguishes, and a part of the many ideographs and syllables.
        let told_apart = |c: &char| {
            let code_point = u32::from(*c);
            let many = matches!(code_point, 0x3500..0xD700 | 0xE100..0xF800 | 0x1_7100..0xE_0000 | 0xE_0200..);
            !many || code_point % 61 == 0
        };
        for c in ('\0'..=char::MAX).filter(told_apart) {
            // Long enough to be split beside the character.
            let text = format!(
                "a{c}b a\u{301}中{c}\u{323}.{c}\u{301}{c}中aaaaaaaaaaaaaaa{c} {c} a{c} {c}\u{302e}{c}\u{1d165}{c}"
            );
            let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
            assert_eq!(
                tokenizer.encode_ids(&text, &options).unwrap(),
                staged,
                "{text:?}"
            );
        }
    }
}
