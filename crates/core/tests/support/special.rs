//! Random tokenizers of every family with vocabularies that hold tokens which may become special, and the
//! same tokenizers without these.

use jeton_core::Stages;
use jeton_core::added_tokens::AddedToken;
use jeton_core::format::sentencepiece;
use jeton_core::model::bpe::{Alphabet, BpeOptions, MergeRule};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{
    Bpe, Characters, LongestMatch, Model, PickyBpe, SentencePiece, Unigram, WordLevel, WordPiece,
};
use jeton_core::normalizer::{Normalization, Normalizer};
use jeton_core::pattern::SearchPattern;
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, named};
use jeton_core::vocab::Vocab;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// What tokens are spelled with, and texts.
pub const LETTERS: &[&str] = &["a", "b", "B", "<", "/", ">", "▁", "é", "中", " ", "#"];

/// What only texts hold: look-alikes that normalizers make letters of, and unknown characters.
pub const LOOK_ALIKES: &[&str] = &[
    "＜", "／", "＞", "ａ", "Ｂ", "\u{ad}", "\u{200b}", "e\u{301}", "🙂", "\n",
];

pub const SPECIALS: &[&str] = &["<a>", "</a>", "<b>", "[b]", "▁<a>", "##ab", "ab", "é", "a"];

/// How a withheld token is spelled where no text may be it.
pub fn never(id: u32) -> String {
    char::from_u32(0xF_0000 + id).unwrap().to_string()
}

pub fn added(id: u32, content: &str, numbers: &mut ChaCha8Rng) -> AddedToken {
    AddedToken {
        id,
        content: content.to_owned(),
        special: true,
        single_word: numbers.random_bool(0.3),
        lstrip: numbers.random_bool(0.2),
        rstrip: numbers.random_bool(0.2),
        normalized: numbers.random_bool(0.3),
    }
}

/// Distinct tokens: letters, random spellings, and all that may become special.
pub fn tokens(numbers: &mut ChaCha8Rng, alphabet: f64, prefix: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for letter in LETTERS {
        for before in ["", prefix] {
            if numbers.random_bool(alphabet) {
                tokens.push([before, *letter].concat());
            }
        }
    }
    for _ in 0..30 {
        let length = numbers.random_range(2..5);
        let mut token: String = (0..length)
            .map(|_| *LETTERS.choose(numbers).unwrap())
            .collect();
        if numbers.random_bool(0.3) {
            token.insert_str(0, prefix);
        }
        tokens.push(token);
    }
    tokens.extend(SPECIALS.iter().map(|special| (*special).to_owned()));
    tokens.sort();
    tokens.dedup();
    tokens
}

pub fn text(numbers: &mut ChaCha8Rng) -> String {
    let length = numbers.random_range(0..12);
    let part = |_| match numbers.random_range(0..10) {
        0..4 => *SPECIALS.choose(numbers).unwrap(),
        4 => *["ＡＢ", "＜a＞", "＜／ａ＞", "<A>", "[UNK]"]
            .choose(numbers)
            .unwrap(),
        5 => *LOOK_ALIKES.choose(numbers).unwrap(),
        _ => *LETTERS.choose(numbers).unwrap(),
    };
    (0..length).map(part).collect()
}

pub fn vocab(tokens: &[String]) -> Vocab {
    Vocab::new(tokens.iter().zip(0..)).unwrap()
}

/// A model of some family; the specials among its tokens are the last thing to be said.
pub fn model(family: &str, numbers: &mut ChaCha8Rng) -> Model {
    match family {
        "ranks" => {
            let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
            let mut others = tokens(numbers, 1.0, "");
            others.retain(|token| token.len() > 1);
            let tokens = bytes.chain(others.into_iter().map(String::into_bytes));
            Model::Bpe(Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap())
        }
        "merges of bytes" | "merges of characters" => {
            let alphabet = match family {
                "merges of bytes" => Alphabet::Bytes,
                _ => Alphabet::Characters,
            };
            let prefix = *["", "", "##"].choose(numbers).unwrap();
            let prefix = if alphabet == Alphabet::Bytes {
                ""
            } else {
                prefix
            };
            let options = BpeOptions {
                alphabet,
                unk_token: numbers.random_bool(0.6).then(|| "[UNK]".to_owned()),
                fuse_unk: numbers.random_bool(0.5),
                byte_fallback: alphabet == Alphabet::Characters && numbers.random_bool(0.3),
                ignore_merges: numbers.random_bool(0.3),
                continuing_subword_prefix: (!prefix.is_empty()).then(|| prefix.to_owned()),
                ..BpeOptions::default()
            };
            let mut all: Vec<Vec<u8>> = match alphabet {
                Alphabet::Bytes => (0..=u8::MAX).map(|byte| vec![byte]).collect(),
                Alphabet::Characters => Vec::new(),
            };
            all.extend(
                tokens(numbers, 0.9, prefix)
                    .into_iter()
                    .map(String::into_bytes),
            );
            all.push(b"[UNK]".to_vec());
            if options.byte_fallback {
                all.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>").into_bytes()));
            }
            all.sort();
            all.dedup();
            let vocab = Vocab::new(all.iter().zip(0..)).unwrap();
            // All ways to make a token of two.
            let mut merges = Vec::new();
            for token in &all {
                for cut in 1..token.len() {
                    let (left, right) = token.split_at(cut);
                    let right = [prefix.as_bytes(), right].concat();
                    if vocab.id(left).is_some() && vocab.id(&right).is_some() {
                        merges.insert(
                            numbers.random_range(0..=merges.len()),
                            (left.to_vec(), right),
                        );
                    }
                }
            }
            Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap())
        }
        "WordLevel" => {
            let mut all = tokens(numbers, 0.9, "");
            all.push("[UNK]".to_owned());
            Model::WordLevel(WordLevel::new(vocab(&all), "[UNK]"))
        }
        "WordPiece" => {
            let mut all = tokens(numbers, 0.9, "##");
            all.push("[UNK]".to_owned());
            Model::WordPiece(WordPiece::new(vocab(&all), "[UNK]", "##", 30))
        }
        "Unigram" => {
            let mut all = tokens(numbers, 0.9, "");
            all.push("[UNK]".to_owned());
            let unk_id = Some(all.len() as u32 - 1);
            let byte_fallback = numbers.random_bool(0.4);
            if byte_fallback {
                all.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
            }
            let pieces = all
                .into_iter()
                .map(|token| (token, -numbers.random::<f64>() * 9.0));
            Model::Unigram(Unigram::new(pieces, unk_id, byte_fallback).unwrap())
        }
        "characters" => {
            let mut all: Vec<String> = LETTERS.iter().map(|it| (*it).to_owned()).collect();
            all.push("[UNK]".to_owned());
            let unk_id = numbers.random_bool(0.5).then_some(all.len() as u32 - 1);
            all.truncate(LETTERS.len() + usize::from(unk_id.is_some()));
            Model::Characters(Characters::new(vocab(&all), unk_id).unwrap())
        }
        _ => {
            let algorithm = match family {
                "SentencePiece BPE" => Algorithm::Bpe,
                "SentencePiece Unigram" => Algorithm::Unigram,
                "SentencePiece words" => Algorithm::Word,
                _ => Algorithm::Char,
            };
            let mut pieces = vec![
                Piece::new("[UNK]", 0.0, PieceKind::Unknown),
                Piece::new("<s>", 0.0, PieceKind::Control),
                // Which score is the lowest does not depend on what is special.
                Piece::new("~", -20.0, PieceKind::Normal),
            ];
            let byte_fallback = numbers.random_bool(0.4);
            if byte_fallback {
                let bytes = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>"));
                pieces.extend(bytes.map(|text| Piece::new(text, 0.0, PieceKind::Byte)));
            }
            for token in tokens(numbers, 0.9, "▁") {
                let kind = match numbers.random_range(0..12) {
                    0 => PieceKind::UserDefined,
                    1 => PieceKind::Unused,
                    _ => PieceKind::Normal,
                };
                pieces.push(Piece::new(token, -numbers.random::<f32>() * 9.0, kind));
            }
            let trainer = TrainerSpec {
                algorithm,
                byte_fallback,
                ..TrainerSpec::default()
            };
            let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
            Model::SentencePiece(SentencePiece::new(proto).unwrap())
        }
    }
}

pub fn normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
    let spaces = Normalizer::Replace {
        pattern: SearchPattern::Literal(" ".to_owned()),
        content: "▁".to_owned(),
    };
    match numbers.random_range(0..6) {
        0 => Some(Normalizer::Nfkc),
        1 => Some(Normalizer::Lowercase),
        2 => Some(Normalizer::Sequence(vec![Normalizer::Nfkc, spaces])),
        3 => Some(Normalizer::Bert {
            clean_text: true,
            handle_chinese_chars: true,
            strip_accents: None,
            lowercase: true,
        }),
        4 => Some(spaces),
        _ => None,
    }
}

pub fn pre_tokenizer(numbers: &mut ChaCha8Rng) -> Option<PreTokenizer> {
    match numbers.random_range(0..6) {
        0 => Some(PreTokenizer::WhitespaceSplit),
        1 => Some(PreTokenizer::Bert),
        2 => Some(named::from_pattern("gpt2").unwrap()),
        3 => Some(PreTokenizer::Metaspace {
            replacement: '▁',
            prepend_scheme: PrependScheme::Always,
            split: numbers.random_bool(0.5),
        }),
        4 => Some(PreTokenizer::FixedLength { length: 3 }),
        _ => None,
    }
}

/// The stages around a model, without added tokens.
pub fn stages(family: &str, numbers: &mut ChaCha8Rng) -> Stages {
    let model = model(family, numbers);
    let Model::SentencePiece(model) = model else {
        return Stages {
            normalizer: normalizer(numbers),
            pre_tokenizer: match family {
                "ranks" => Some(named::from_pattern("gpt2").unwrap()),
                _ => pre_tokenizer(numbers),
            },
            ..Stages::of_model(model)
        };
    };
    let proto = model.proto();
    let normalizer = NormalizerSpec {
        precompiled_charsmap: if numbers.random_bool(0.5) {
            Normalization::NmtNfkc.charsmap().unwrap().blob()
        } else {
            Vec::new()
        },
        add_dummy_prefix: numbers.random_bool(0.5),
        ..NormalizerSpec::default()
    };
    let pieces = proto.pieces.iter();
    let pieces: Vec<Piece> = pieces
        .map(|it| Piece::new(it.text, it.score, it.kind))
        .collect();
    sentencepiece::stages(ModelProto::new(pieces, proto.trainer().clone(), normalizer)).unwrap()
}

/// Some of what may become special, and is a token of the model.
pub fn specials(stages: &Stages, numbers: &mut ChaCha8Rng) -> Vec<AddedToken> {
    let is_chosen = |token: &str| SPECIALS.contains(&token) || token == "[UNK]";
    let mut specials = stages.added_tokens.clone();
    for (token, id) in stages.model.vocab().iter() {
        let token = String::from_utf8_lossy(token);
        // Ranks have to hold every byte.
        let is_byte = matches!(&stages.model, Model::Bpe(bpe) if *bpe.rule() == MergeRule::Ranks)
            && token.len() == 1;
        if is_chosen(&token) && !is_byte && numbers.random_bool(0.6) {
            specials.push(added(id, &token, numbers));
        }
    }
    // Beyond the vocabulary.
    let beyond = stages.model.vocab().max_id().unwrap() + 1;
    specials.push(added(beyond, "<beyond>", numbers));
    specials
}

/// The model of a vocabulary that does not have these tokens; their ids stay.
pub fn without(model: &Model, special: &[u32]) -> Model {
    let is_special = |id: u32| special.contains(&id);
    let respelled = |token: &[u8], id: u32| {
        if is_special(id) {
            never(id).into_bytes()
        } else {
            token.to_vec()
        }
    };
    let vocab = || {
        let tokens = model.vocab().iter();
        Vocab::new(tokens.map(|(token, id)| (respelled(token, id), id))).unwrap()
    };
    let unknown = |token: &str| match model.vocab().id(token.as_bytes()) {
        Some(id) if is_special(id) => never(id),
        _ => token.to_owned(),
    };
    match model {
        Model::Bpe(bpe) => match bpe.rule() {
            MergeRule::Ranks => Model::Bpe(Bpe::by_ranks(vocab()).unwrap()),
            MergeRule::Merges(merges) => {
                let token = |id| bpe.vocab().token(id).unwrap().to_vec();
                let options = bpe.options().clone();
                let prefix = options
                    .continuing_subword_prefix
                    .clone()
                    .unwrap_or_default();
                let kept = merges.iter().filter(|(left, right)| {
                    let made = [token(*left), token(*right)[prefix.len()..].to_vec()].concat();
                    let made = bpe.vocab().id(&made).unwrap();
                    ![*left, *right, made].into_iter().any(is_special)
                });
                let merges: Vec<_> = kept.map(|(a, b)| (token(*a), token(*b))).collect();
                let options = BpeOptions {
                    unk_token: options.unk_token.as_deref().map(unknown),
                    ..options
                };
                Model::Bpe(Bpe::by_merges(vocab(), merges, options).unwrap())
            }
        },
        Model::WordLevel(model) => {
            Model::WordLevel(WordLevel::new(vocab(), unknown(model.unk_token())))
        }
        Model::WordPiece(model) => Model::WordPiece(WordPiece::new(
            vocab(),
            unknown(model.unk_token()),
            model.continuing_subword_prefix(),
            model.max_input_chars_per_word(),
        )),
        Model::Unigram(model) => {
            let pieces = model.vocab().iter().zip(model.scores());
            let pieces = pieces.map(|((token, id), score)| (respelled(token, id), *score));
            let byte_fallback = model.byte_fallback();
            Model::Unigram(Unigram::new(pieces, model.unk_id(), byte_fallback).unwrap())
        }
        Model::LongestMatch(_) => Model::LongestMatch(LongestMatch::new(vocab())),
        Model::PickyBpe(model) => {
            let model = PickyBpe::new(vocab(), model.events(), model.residue());
            Model::PickyBpe(model.unwrap())
        }
        Model::Characters(model) => {
            Model::Characters(Characters::new(vocab(), model.unk_id()).unwrap())
        }
        Model::SentencePiece(model) => {
            let proto = model.proto();
            let pieces = proto.pieces.iter().zip(0..).map(|(piece, id)| {
                use PieceKind::{Control, Normal, Unused, UserDefined};
                let kind = match piece.kind {
                    Normal | Unused | UserDefined if is_special(id) => Control,
                    kind => kind,
                };
                Piece::new(piece.text, piece.score, kind)
            });
            let (trainer, normalizer) = (proto.trainer().clone(), proto.normalizer().clone());
            let proto = ModelProto::new(pieces.collect::<Vec<_>>(), trainer, normalizer);
            Model::SentencePiece(SentencePiece::new(proto).unwrap())
        }
    }
}
