//! Spans in all units, for ordinary text between text of every odd kind.

use jeton_core::added_tokens::SpecialPolicy;
use jeton_core::format::{sentencepiece, wordpiece};
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{Bpe, Model};
use jeton_core::normalizer::Normalizer;
use jeton_core::pre_tokenizer::PreTokenizer;
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::support::sentencepiece::{model, stages};
use crate::support::spans::check_units;
use crate::support::texts::PARTS;
use crate::support::words::{any_normalizer, bert, cutting_stage, normalizers, word_models};
use crate::support::{published, rounds};

/// Beside those of [`PARTS`].
const ODD: &[&str] = &[
    "\r\n\r\n",
    "\n\n",
    " \n ",
    "\t\t",
    " \u{a0}",
    "\u{a0} ",
    " \u{200b}",
    "\u{200b} ",
    " \u{3000} ",
    " ½ ",
    "…",
    "．．",
    "，",
    "\u{200d}",
    "\u{fe0f}",
    "👩\u{200d}👩\u{200d}👧\u{200d}👦",
    "🏳\u{fe0f}\u{200d}🌈",
    "e\u{301}\u{323}",
    "й",
    "Й",
    "ﷺ",
    "<0x41>",
    "<0x",
    "<",
    ">>en<<",
    ">>",
    "##a",
    "[unk]",
    "\u{1}",
    "\u{7f}",
    "\u{2f800}",
    "\u{10ffff}",
];

const WORDS: &[&str] = &[
    "the",
    "a",
    "in",
    "Word",
    "don't",
    "e.g.",
    "x1",
    "12",
    "naïve",
    "привет",
    "жизнь",
    "中文",
    "日本",
    "がく",
    "שלום",
    "ἀρχή",
    "ʼn",
    "“so”",
    "¶",
    "ɨˈ",
];

/// Words with spaces between them, and something odd now and then.
fn prose(numbers: &mut ChaCha8Rng) -> String {
    let odd = *[0.0, 0.02, 0.2].choose(numbers).unwrap();
    let wide = *[0.0, 0.1].choose(numbers).unwrap();
    let most = *[6, 60, 60, 600].choose(numbers).unwrap();
    let some = numbers.random_range(1..WORDS.len());
    let mut text = String::new();
    for _ in 0..numbers.random_range(0..most) {
        match numbers.random::<f64>() {
            it if it < odd / 2.0 => text.push_str(ODD.choose(numbers).unwrap()),
            it if it < odd => text.push_str(PARTS.choose(numbers).unwrap()),
            _ => text.push_str(WORDS[..some].choose(numbers).unwrap()),
        }
        if numbers.random_bool(0.8) {
            text.push(' ');
        }
        if numbers.random_bool(wide) {
            text.push_str([" ", "\n", "   ", "\n\n"].choose(numbers).unwrap());
        }
    }
    text
}

fn check(tokenizer: &Tokenizer, numbers: &mut ChaCha8Rng, texts: usize) {
    for _ in 0..texts {
        let options = EncodeOptions {
            special: if numbers.random_bool(0.5) {
                SpecialPolicy::Allow
            } else {
                SpecialPolicy::Ignore
            },
            add_special_tokens: numbers.random_bool(0.5),
            ..EncodeOptions::default()
        };
        check_units(tokenizer, &prose(numbers), &options);
    }
}

/// The same model with each character of its pieces as a piece, so that it is certain which text is
/// unknown.
fn closed(proto: &ModelProto) -> ModelProto {
    let mut pieces: Vec<Piece> = (proto.pieces.iter())
        .map(|it| Piece::new(it.text.to_owned(), it.score, it.kind))
        .collect();
    let texts = pieces.iter().filter(|it| it.kind == PieceKind::Normal);
    let mut characters: Vec<String> = texts
        .flat_map(|it| it.text.chars().map(String::from))
        .filter(|it| pieces.iter().all(|piece| piece.text != *it))
        .collect();
    characters.sort();
    characters.dedup();
    pieces.extend(
        characters
            .into_iter()
            .map(|it| Piece::new(it, -9.0, PieceKind::Normal)),
    );
    ModelProto::new(pieces, proto.trainer().clone(), proto.normalizer().clone())
}

#[test]
fn sentencepiece_models() {
    let mut numbers = ChaCha8Rng::seed_from_u64(41);
    for round in 0..rounds(120) {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let mut proto = model(&mut numbers, algorithm);
        if round % 3 > 0 {
            proto = closed(&proto);
        }
        let tokenizer = Tokenizer::new(stages(&mut numbers, proto)).unwrap();
        check(&tokenizer, &mut numbers, 20);
    }
}

/// Sums of scores are rounded, so which of several segmentations with the same tokens wins depends on the
/// text in front.
#[test]
fn a_token_whose_characters_may_be_unknown_instead() {
    let pieces = [("▁", -1.1), ("a", -3.3), ("▁a", -2.2), ("---", -2.7)];
    let pieces = pieces.map(|(text, score)| Piece::new(text, score, PieceKind::Normal));
    let unknown = Piece::new("<unk>", 0.0, PieceKind::Unknown);
    let pieces: Vec<Piece> = std::iter::once(unknown).chain(pieces).collect();
    let proto = ModelProto::new(pieces, TrainerSpec::default(), NormalizerSpec::default());
    let tokenizer = Tokenizer::new(sentencepiece::stages(proto).unwrap()).unwrap();
    for words in 0..120 {
        let text = "a ".repeat(words) + "ם-----ם a";
        check_units(&tokenizer, &text, &EncodeOptions::default());
    }
}

#[test]
fn words() {
    let mut numbers = ChaCha8Rng::seed_from_u64(42);
    for round in 0..rounds(40) {
        let normalizer = match round % 4 {
            0 => None,
            1 => Some(Normalizer::Lowercase),
            _ => Some(bert(true, round % 8 < 6, None, round % 3 > 0)),
        };
        for model in word_models(&mut numbers) {
            let mut stages = Stages::of_model(model);
            if let Model::Unigram(_) = stages.model {
                continue;
            }
            stages.normalizer = normalizer.clone();
            stages.pre_tokenizer = Some(match round % 5 {
                0 => PreTokenizer::WhitespaceSplit,
                _ => PreTokenizer::Bert,
            });
            check(&Tokenizer::new(stages).unwrap(), &mut numbers, 20);
        }
    }
}

/// A BPE of characters with `</w>` at the end of words, as CharBPE and CLIP have it.
fn bpe_with_suffix(numbers: &mut ChaCha8Rng) -> Model {
    let mut tokens = vec!["<unk>".to_owned(), "<".to_owned()];
    let mut merges = Vec::new();
    for word in WORDS {
        let mut symbols: Vec<String> = word.to_lowercase().chars().map(String::from).collect();
        symbols.last_mut().unwrap().push_str("</w>");
        tokens.extend(symbols.clone());
        while symbols.len() > 1 && numbers.random_bool(0.8) {
            let at = numbers.random_range(0..symbols.len() - 1);
            let right = symbols.remove(at + 1);
            merges.push((symbols[at].clone().into(), right.clone().into()));
            symbols[at].push_str(&right);
            tokens.push(symbols[at].clone());
        }
    }
    tokens.sort();
    tokens.dedup();
    let options = BpeOptions {
        alphabet: Alphabet::Characters,
        unk_token: numbers.random_bool(0.8).then(|| "<unk>".to_owned()),
        fuse_unk: numbers.random_bool(0.5),
        end_of_word_suffix: Some("</w>".to_owned()),
        ..BpeOptions::default()
    };
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap())
}

#[test]
fn words_of_every_kind() {
    let mut numbers = ChaCha8Rng::seed_from_u64(44);
    for round in 0..rounds(60) {
        let mut models = word_models(&mut numbers).to_vec();
        models.push(bpe_with_suffix(&mut numbers));
        for model in models {
            let mut stages = Stages::of_model(model);
            stages.normalizer = match round % 3 {
                0 => any_normalizer(&mut numbers),
                _ => normalizers().choose(&mut numbers).cloned().flatten(),
            };
            stages.pre_tokenizer = Some(match round % 4 {
                0 => PreTokenizer::Bert,
                1 => PreTokenizer::Whitespace,
                2 => PreTokenizer::WhitespaceSplit,
                _ => cutting_stage(&mut numbers),
            });
            check(&Tokenizer::new(stages).unwrap(), &mut numbers, 8);
        }
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn published_models() {
    let mut numbers = ChaCha8Rng::seed_from_u64(43);
    let read = |name: &str| std::fs::read(published::path(&format!("vocab/{name}"))).unwrap();
    let tokenizers = [
        sentencepiece::read(&read("llama2_sentencepiece_bpe.model")),
        sentencepiece::read(&read("t5_style_unigram.model")),
        wordpiece::read(&read("bert_uncased_vocab.txt"), None),
    ]
    .map(|stages| Tokenizer::new(stages.unwrap()).unwrap());
    for _ in 0..rounds(40) {
        for tokenizer in &tokenizers {
            check(tokenizer, &mut numbers, 10);
        }
    }
}
