//! Published vocabularies and texts.

use jeton_core::Tokenizer;
use jeton_core::format::{sentencepiece, wordpiece};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::support::check::check;
use crate::support::published;
use crate::support::texts::text;

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn sentencepiece_models() {
    let mut numbers = ChaCha8Rng::seed_from_u64(22);
    for name in ["llama2_sentencepiece_bpe.model", "t5_style_unigram.model"] {
        let file = std::fs::read(published::path(&format!("vocab/{name}"))).unwrap();
        let tokenizer = Tokenizer::new(sentencepiece::read(&file).unwrap()).unwrap();
        check(&tokenizer, (0..400).map(|_| text(&mut numbers)));
        check(&tokenizer, published::documents());
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn a_bert_vocabulary() {
    let mut numbers = ChaCha8Rng::seed_from_u64(24);
    let file = std::fs::read(published::path("vocab/bert_uncased_vocab.txt")).unwrap();
    let tokenizer = Tokenizer::new(wordpiece::read(&file, None).unwrap()).unwrap();
    check(&tokenizer, (0..400).map(|_| text(&mut numbers)));
    check(&tokenizer, published::documents());
}
