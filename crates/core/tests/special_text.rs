//! Text never becomes a special token: for each family of models, text is segmented as if the model's
//! vocabulary did not have those that are special.
//!
//! Look here for the definition, [`without`]: the same stages, but for a model in which special tokens
//! are spelled as no text is. By every way of a call, both give the same.

use std::sync::atomic::AtomicBool;

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::format::sentencepiece;
use jeton_core::format::snapshot;
use jeton_core::model::bpe::{Alphabet, BpeOptions, MergeRule};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{
    Bpe, Characters, Model, Sampling, SentencePiece, Unigram, WordLevel, WordPiece,
};
use jeton_core::normalizer::{Normalization, Normalizer};
use jeton_core::pattern::SearchPattern;
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, named};
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, ErrorKind, Result, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What tokens are spelled with, and texts.
const LETTERS: &[&str] = &["a", "b", "B", "<", "/", ">", "▁", "é", "中", " ", "#"];
/// What only texts hold: look-alikes that normalizers make letters of, and unknown characters.
const LOOK_ALIKES: &[&str] = &[
    "＜", "／", "＞", "ａ", "Ｂ", "\u{ad}", "\u{200b}", "e\u{301}", "🙂", "\n",
];
const SPECIALS: &[&str] = &["<a>", "</a>", "<b>", "[b]", "▁<a>", "##ab", "ab", "é", "a"];

/// How a withheld token is spelled where no text may be it.
fn never(id: u32) -> String {
    char::from_u32(0xF_0000 + id).unwrap().to_string()
}

fn added(id: u32, content: &str, numbers: &mut ChaCha8Rng) -> AddedToken {
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
fn tokens(numbers: &mut ChaCha8Rng, alphabet: f64, prefix: &str) -> Vec<String> {
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

fn text(numbers: &mut ChaCha8Rng) -> String {
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

fn vocab(tokens: &[String]) -> Vocab {
    Vocab::new(tokens.iter().zip(0..)).unwrap()
}

/// A model of some family; the specials among its tokens are the last thing to be said.
fn model(family: &str, numbers: &mut ChaCha8Rng) -> Model {
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

fn normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
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

fn pre_tokenizer(numbers: &mut ChaCha8Rng) -> Option<PreTokenizer> {
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
fn stages(family: &str, numbers: &mut ChaCha8Rng) -> Stages {
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
        precompiled_charsmap: match numbers.random_bool(0.5) {
            true => Normalization::NmtNfkc.charsmap().unwrap().blob(),
            false => Vec::new(),
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
fn specials(stages: &Stages, numbers: &mut ChaCha8Rng) -> Vec<AddedToken> {
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
fn without(model: &Model, special: &[u32]) -> Model {
    let is_special = |id: u32| special.contains(&id);
    let respelled = |token: &[u8], id: u32| match is_special(id) {
        true => never(id).into_bytes(),
        false => token.to_vec(),
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

/// What a text is to a tokenizer, by every way of a call; twice, since words are remembered.
fn every_way(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) -> Vec<Result<String>> {
    let shown = |it: &dyn std::fmt::Debug| format!("{it:?}");
    let never = AtomicBool::new(false);
    let mut all = vec![
        tokenizer.encode(text, None, options).map(|it| shown(&it)),
        tokenizer
            .encode(text, Some(text), options)
            .map(|it| shown(&it)),
    ];
    for _ in 0..2 {
        all.push(tokenizer.encode_ids(text, options).map(|it| shown(&it)));
        all.push(tokenizer.count(text, options).map(|it| shown(&it)));
    }
    let batch = tokenizer.encode_batch(&[text, "", text], options, 2, &never);
    all.push(batch.map(|it| shown(&it.ids)).map_err(|(_, error)| error));
    let counts = tokenizer.count_batch(&[text, text], options, 2, &never);
    all.push(counts.map(|it| shown(&it)).map_err(|(_, error)| error));
    for sampling in [
        Sampling {
            dropout: Some(0.4),
            seed: Some(7),
            ..Sampling::default()
        },
        Sampling {
            alpha: Some(0.3),
            seed: Some(7),
            ..Sampling::default()
        },
    ] {
        let options = EncodeOptions {
            sampling,
            ..options.clone()
        };
        all.push(tokenizer.encode(text, None, &options).map(|it| shown(&it)));
    }
    all.push(tokenizer.n_best(text, 6).map(|it| shown(&it)));
    all
}

/// Whether this error is about a character that no token but a special one spells.
fn is_only_special<T>(result: &Result<T>) -> bool {
    let error = result.as_ref().err();
    error.is_some_and(|it| it.kind() == ErrorKind::Encode && it.to_string().contains("special one"))
}

const FAMILIES: &[&str] = &[
    "ranks",
    "merges of bytes",
    "merges of characters",
    "WordLevel",
    "WordPiece",
    "Unigram",
    "characters",
    "SentencePiece BPE",
    "SentencePiece Unigram",
    "SentencePiece words",
    "SentencePiece characters",
];

#[test]
fn text_is_segmented_as_if_the_model_had_no_special_token() {
    for (seed, family) in (0..).zip(FAMILIES) {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let (mut held, mut differed) = (0, 0);
        for _ in 0..24 {
            let plain = stages(family, &mut numbers);
            let special = specials(&plain, &mut numbers);
            let ids: Vec<u32> = special.iter().map(|token| token.id).collect();
            let unknown = plain.model.vocab().id(b"[UNK]");
            let model = without(&plain.model, &ids);
            // The added tokens of the other one are never spelled; a control piece is spelled as it was.
            let mut absent = special.clone();
            for token in &mut absent {
                let kept = model.vocab().id(token.content.as_bytes()) == Some(token.id);
                token.content = if kept {
                    token.content.clone()
                } else {
                    never(token.id)
                };
            }
            let absent = Stages {
                model,
                added_tokens: absent,
                ..plain.clone()
            };
            let special = Stages {
                added_tokens: special,
                ..plain.clone()
            };
            let tokenizer = Tokenizer::new(special).unwrap();
            let image = snapshot::write(tokenizer.stages()).unwrap();
            let copies = [
                Tokenizer::new(snapshot::read(&image).unwrap()).unwrap(),
                tokenizer,
            ];
            let (plain, absent) = (
                Tokenizer::new(plain).unwrap(),
                Tokenizer::new(absent).unwrap(),
            );
            let some = copies[0].stages().added_tokens[0].content.clone();
            let only = SpecialPolicy::Only([some].into());
            for round in 0..60 {
                let tokenizer = &copies[round % 2];
                let text = text(&mut numbers);
                let options = EncodeOptions::default();
                let expected = every_way(&absent, &text, &options);
                let got = every_way(tokenizer, &text, &options);
                if is_only_special(&got[0]) {
                    continue;
                }
                let context = || format!("{family}: {text:?} {tokenizer:?}");
                for (way, (got, expected)) in got.iter().zip(&expected).enumerate() {
                    if !is_only_special(got) {
                        assert_eq!(got, expected, "way {way} of {}", context());
                    }
                }
                held += 1;
                differed += usize::from(
                    plain.encode_ids(&text, &options) != tokenizer.encode_ids(&text, &options),
                );
                // Under the other policies tokens are cut out, and what lies between is such text.
                for special in [SpecialPolicy::Allow, SpecialPolicy::Raise, only.clone()] {
                    let options = EncodeOptions {
                        special,
                        ..options.clone()
                    };
                    let staged = tokenizer.encode(&text, None, &options);
                    let compiled = tokenizer.encode_ids(&text, &options);
                    match (&staged, compiled) {
                        (Ok(staged), Ok(compiled)) => {
                            assert_eq!(staged.ids, compiled, "{}", context())
                        }
                        (Err(_), Err(_)) => continue,
                        (_, compiled) => panic!("{staged:?} {compiled:?} {}", context()),
                    }
                    let allowed = match &options.special {
                        SpecialPolicy::Allow => continue,
                        SpecialPolicy::Only(_) => Some(copies[0].stages().added_tokens[0].id),
                        _ => None,
                    };
                    let control = |id: &&u32| {
                        ids.contains(id) && Some(**id) != allowed && Some(**id) != unknown
                    };
                    assert_eq!(
                        staged.unwrap().ids.iter().find(control),
                        None,
                        "{}",
                        context()
                    );
                }
            }
        }
        assert!(held > 300 && differed > 20, "{family}: {held} {differed}");
    }
}

#[test]
fn what_is_special_may_change_with_the_added_tokens() {
    for (seed, family) in (0..).zip(FAMILIES) {
        let mut numbers = ChaCha8Rng::seed_from_u64(100 + seed);
        for _ in 0..6 {
            let plain = stages(family, &mut numbers);
            let [first, second] = [0, 1].map(|_| specials(&plain, &mut numbers));
            let with = |model: &Model, added_tokens: &[AddedToken]| {
                let stages = Stages {
                    model: model.clone(),
                    added_tokens: added_tokens.to_vec(),
                    ..plain.clone()
                };
                Tokenizer::new(stages).unwrap()
            };
            let before = with(&plain.model, &first);
            for added_tokens in [&second, &plain.added_tokens] {
                let fresh = with(&plain.model, added_tokens);
                let after = with(&before.stages().model, added_tokens);
                assert_eq!(fresh.stages(), after.stages());
                for _ in 0..30 {
                    let text = text(&mut numbers);
                    let options = EncodeOptions::default();
                    let [a, b] = [&fresh, &after].map(|it| every_way(it, &text, &options));
                    assert_eq!(a, b, "{family}: {text:?}");
                }
            }
        }
    }
}

#[test]
fn every_way_refuses_names_of_no_special_token() {
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]);
    let bpe = Bpe::by_ranks(Vocab::new(tokens.zip(0..)).unwrap()).unwrap();
    let plain = Stages::of_model(Model::Bpe(bpe));
    let mut cut = plain.clone();
    cut.pre_tokenizer = Some(PreTokenizer::Whitespace);
    let mut added = plain.clone();
    added.added_tokens = vec![AddedToken {
        id: 256,
        content: "<s>".to_owned(),
        special: true,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
    }];
    for (name, stages) in [("plain", plain), ("cut", cut), ("added", added)] {
        let tokenizer = Tokenizer::new(stages).unwrap();
        let options = EncodeOptions {
            special: SpecialPolicy::Only(["</s>".to_owned()].into()),
            ..EncodeOptions::default()
        };
        let never = AtomicBool::new(false);
        for text in ["", "a b"] {
            let batch = |threads| tokenizer.encode_batch(&[text], &options, threads, &never);
            let ways = [
                ("spans", tokenizer.encode(text, None, &options).err()),
                ("ids", tokenizer.encode_ids(text, &options).err()),
                ("count", tokenizer.count(text, &options).err()),
                ("exceeds", tokenizer.exceeds(text, 9, &options).err()),
                ("batch", batch(1).err().map(|(_, error)| error)),
                ("threads", batch(2).err().map(|(_, error)| error)),
            ];
            for (way, error) in ways {
                let kind = error.map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::Argument), "{name}, {way}: {text:?}");
            }
        }
    }
}
