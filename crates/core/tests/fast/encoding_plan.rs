//! Which strategy each family of tokenizers gets, so that no fast path vanishes unseen.

use jeton_core::added_tokens::AddedToken;
use jeton_core::fast::Strategy;
use jeton_core::format::sentencepiece;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{Bpe, Characters, Model, Unigram, WordLevel, WordPiece};
use jeton_core::normalizer::Normalizer;
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior, named};
use jeton_core::vocab::Vocab;
use jeton_core::{Stages, Tokenizer};

fn byte_level() -> Model {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    Model::Bpe(Bpe::by_ranks(Vocab::new(bytes.zip(0..)).unwrap()).unwrap())
}

fn byte_level_with(options: BpeOptions) -> Model {
    let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
    let vocab = Vocab::new(bytes.zip(0..)).unwrap();
    Model::Bpe(Bpe::by_merges(vocab, Vec::new(), options).unwrap())
}

/// BPE of characters that falls back to bytes, with a merge across a space or without.
fn character_bpe(across: bool) -> Model {
    let bytes = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>"));
    let more = ["<unk>", "▁", "a", if across { "a▁" } else { "▁a" }];
    let tokens = bytes.chain(more.map(str::to_owned));
    let vocab = Vocab::new(tokens.map(String::into_bytes).zip(0..)).unwrap();
    let merge = if across { ("a", "▁") } else { ("▁", "a") };
    let merges = vec![(merge.0.into(), merge.1.into())];
    let options = BpeOptions {
        alphabet: Alphabet::Characters,
        unk_token: Some("<unk>".to_owned()),
        byte_fallback: true,
        fuse_unk: true,
        ..BpeOptions::default()
    };
    Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap())
}

fn word_piece() -> Model {
    let vocab = Vocab::new([("[UNK]", 0), ("a", 1)]).unwrap();
    Model::WordPiece(WordPiece::new(vocab, "[UNK]", "##", 100))
}

fn word_level() -> Model {
    Model::WordLevel(WordLevel::new(Vocab::new([("[UNK]", 0)]).unwrap(), "[UNK]"))
}

fn unigram() -> Model {
    let pieces = ["<unk>", "▁", "a"].map(|piece| (piece, -1.0));
    Model::Unigram(Unigram::new(pieces, Some(0), false).unwrap())
}

/// A `.model` file of these pieces beside the unknown one.
fn sentencepiece_file(algorithm: Algorithm, pieces: &[&str]) -> Stages {
    let unknown = Piece::new("<unk>", 0.0, PieceKind::Unknown);
    let pieces = (pieces.iter()).map(|text| Piece::new(*text, -1.0, PieceKind::Normal));
    let trainer = TrainerSpec {
        algorithm,
        ..TrainerSpec::default()
    };
    let pieces: Vec<_> = [unknown].into_iter().chain(pieces).collect();
    let proto = ModelProto::new(pieces, trainer, NormalizerSpec::default());
    sentencepiece::stages(proto).unwrap()
}

fn stages(
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    model: Model,
) -> Stages {
    Stages {
        normalizer,
        pre_tokenizer,
        ..Stages::of_model(model)
    }
}

fn gpt2(add_prefix_space: bool) -> PreTokenizer {
    PreTokenizer::ByteLevel {
        add_prefix_space,
        trim_offsets: true,
        use_regex: true,
        printable: false,
    }
}

fn split(source: &str) -> PreTokenizer {
    PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
        behavior: SplitBehavior::Isolated,
        invert: false,
    }
}

/// DeepSeek V2's stages, over fewer letters and marks.
fn deepseek_v2() -> PreTokenizer {
    let splits = [
        "[\r\n]",
        r"\s?[A-Za-zÀ-ÖØ-ö]+",
        r"\s?[!-/:-~！-／]+",
        r"\s+$",
        "[一-龥]+",
    ];
    let digits = PreTokenizer::Digits {
        individual_digits: true,
    };
    let mut stages: Vec<_> = splits.map(split).into();
    stages.extend([digits, words_as_they_are()]);
    PreTokenizer::Sequence(stages)
}

/// The byte-level stage that does not split.
fn words_as_they_are() -> PreTokenizer {
    PreTokenizer::ByteLevel {
        add_prefix_space: false,
        trim_offsets: true,
        use_regex: false,
        printable: false,
    }
}

fn metaspace(split: bool) -> PreTokenizer {
    PreTokenizer::Metaspace {
        replacement: '▁',
        prepend_scheme: PrependScheme::Always,
        split,
    }
}

fn replace(pattern: &str, content: &str) -> Normalizer {
    Normalizer::Replace {
        pattern: SearchPattern::Literal(pattern.to_owned()),
        content: content.to_owned(),
    }
}

fn bert() -> Normalizer {
    Normalizer::Bert {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: None,
        lowercase: true,
    }
}

/// Stages, the strategy that they get, and what was in the way of the one asked last before it.
fn rows() -> Vec<(&'static str, Stages, Option<Strategy>, &'static str)> {
    use Strategy::{ByteLevel, CachedPieces, Metaspace, SentencePiece, WhitespaceWords};
    let pattern = |name| Some(named::find(name).unwrap().pre_tokenizer());
    let mut rows: Vec<(&'static str, Stages, Option<Strategy>, &'static str)> = [
        "gpt2",
        "cl100k",
        "llama3",
        "qwen2",
        "qwen3.5",
        "o200k",
        "tekken",
        "deepseek_v3",
    ]
    .map(|name| {
        (
            name,
            stages(None, pattern(name), byte_level()),
            Some(ByteLevel),
            "",
        )
    })
    .into();
    let digits = PreTokenizer::Digits {
        individual_digits: true,
    };
    let punctuation = PreTokenizer::Punctuation {
        behavior: SplitBehavior::Isolated,
    };
    rows.extend([
        (
            "Qwen's normalizer",
            stages(Some(Normalizer::Nfc), pattern("qwen2"), byte_level()),
            Some(ByteLevel),
            "",
        ),
        (
            "a space in front",
            stages(None, Some(gpt2(true)), byte_level()),
            Some(ByteLevel),
            "",
        ),
        (
            "StarCoder",
            stages(
                None,
                Some(PreTokenizer::Sequence(vec![digits.clone(), gpt2(false)])),
                byte_level(),
            ),
            Some(ByteLevel),
            "",
        ),
        (
            "a pattern that no scanner knows",
            stages(None, Some(split(r"\d+|\s")), byte_level()),
            Some(ByteLevel),
            "",
        ),
        (
            "byte-level BPE behind lower case",
            stages(Some(Normalizer::Lowercase), pattern("gpt2"), byte_level()),
            Some(CachedPieces),
            "pre-tokenizer Matches: does not split at white space",
        ),
        (
            "several splits",
            stages(
                None,
                Some(PreTokenizer::Sequence(vec![
                    punctuation,
                    digits.clone(),
                    gpt2(false),
                ])),
                byte_level(),
            ),
            Some(ByteLevel),
            "",
        ),
        (
            "DeepSeek V2",
            stages(None, Some(deepseek_v2()), byte_level()),
            Some(ByteLevel),
            "",
        ),
        (
            "punctuation alone",
            stages(
                None,
                Some(PreTokenizer::Punctuation {
                    behavior: SplitBehavior::MergedWithPrevious,
                }),
                byte_level(),
            ),
            Some(ByteLevel),
            "",
        ),
        (
            "several splits, one of which drops text",
            stages(
                None,
                Some(PreTokenizer::Sequence(vec![
                    PreTokenizer::CharDelimiterSplit { delimiter: '\n' },
                    gpt2(false),
                ])),
                byte_level(),
            ),
            Some(CachedPieces),
            "pre-tokenizer Sequence: does not split at white space",
        ),
        (
            "several splits, one of which backtracks",
            stages(
                None,
                Some(PreTokenizer::Sequence(vec![split(r"(a)\1"), gpt2(false)])),
                byte_level(),
            ),
            Some(CachedPieces),
            "pre-tokenizer Sequence: does not split at white space",
        ),
        (
            "Falcon, whose digits are cut in printable characters",
            stages(
                None,
                Some(PreTokenizer::Sequence(vec![
                    PreTokenizer::Punctuation {
                        behavior: SplitBehavior::Contiguous,
                    },
                    PreTokenizer::ByteLevel {
                        add_prefix_space: false,
                        trim_offsets: true,
                        use_regex: true,
                        printable: true,
                    },
                    digits,
                    split("[0-9][0-9][0-9]"),
                ])),
                byte_level(),
            ),
            Some(CachedPieces),
            "pre-tokenizer Sequence: does not split at white space",
        ),
        (
            "dropout",
            stages(
                None,
                pattern("gpt2"),
                byte_level_with(BpeOptions {
                    dropout: Some(0.5),
                    ..BpeOptions::default()
                }),
            ),
            Some(ByteLevel),
            "",
        ),
        (
            "nothing cuts",
            stages(None, None, byte_level()),
            None,
            "no pre-tokenizer: a text is one word",
        ),
        (
            "Llama 2's .model",
            sentencepiece_file(Algorithm::Bpe, &["▁", "a", "▁a"]),
            Some(SentencePiece),
            "model SentencePiece: not BPE",
        ),
        (
            "T5's .model",
            sentencepiece_file(Algorithm::Unigram, &["▁", "a", "▁a"]),
            Some(SentencePiece),
            "model SentencePiece: not BPE",
        ),
        (
            "a piece across a space",
            sentencepiece_file(Algorithm::Unigram, &["▁", "a", "a▁a"]),
            None,
            "model SentencePiece: reads a text whole",
        ),
        (
            "Llama 2's tokenizer.json",
            stages(
                Some(Normalizer::Sequence(vec![
                    Normalizer::Prepend {
                        prefix: "▁".to_owned(),
                    },
                    replace(" ", "▁"),
                ])),
                None,
                character_bpe(false),
            ),
            Some(Metaspace),
            "model BPE: not of a .model file",
        ),
        (
            "Gemma's tokenizer.json",
            stages(
                Some(replace(" ", "▁")),
                Some(PreTokenizer::Split {
                    pattern: SearchPattern::Literal(" ".to_owned()),
                    behavior: SplitBehavior::MergedWithPrevious,
                    invert: false,
                }),
                character_bpe(false),
            ),
            Some(Metaspace),
            "model BPE: not of a .model file",
        ),
        (
            "merges across spaces",
            stages(Some(replace(" ", "▁")), None, character_bpe(true)),
            None,
            "no pre-tokenizer: a text is one word",
        ),
        (
            "T5's tokenizer.json",
            stages(None, Some(metaspace(true)), unigram()),
            Some(Metaspace),
            "model Unigram: not of a .model file",
        ),
        (
            "XLM-R's pre-tokenizer",
            stages(
                Some(Normalizer::Nfkc),
                Some(PreTokenizer::Sequence(vec![
                    PreTokenizer::WhitespaceSplit,
                    metaspace(true),
                ])),
                unigram(),
            ),
            Some(Metaspace),
            "model Unigram: not of a .model file",
        ),
        (
            "Metaspace that does not split",
            stages(None, Some(metaspace(false)), unigram()),
            None,
            "pre-tokenizer Metaspace: writes spaces as another character",
        ),
        (
            "BERT",
            stages(Some(bert()), Some(PreTokenizer::Bert), word_piece()),
            Some(WhitespaceWords),
            "normalizer BertNormalizer: may change a chunk",
        ),
        (
            "words between white space",
            stages(None, Some(PreTokenizer::WhitespaceSplit), word_level()),
            Some(WhitespaceWords),
            "pre-tokenizer WhitespaceSplit: does not split before spaces",
        ),
        (
            "a normalizer that joins words",
            stages(
                Some(replace(" ", "")),
                Some(PreTokenizer::Whitespace),
                word_piece(),
            ),
            Some(CachedPieces),
            "normalizer Replace: may change a word",
        ),
        (
            "a delimiter",
            stages(
                None,
                Some(PreTokenizer::CharDelimiterSplit { delimiter: ',' }),
                unigram(),
            ),
            Some(CachedPieces),
            "pre-tokenizer CharDelimiterSplit: does not split at white space",
        ),
        (
            "characters",
            stages(
                None,
                Some(PreTokenizer::Whitespace),
                Model::Characters(Characters::new(Vocab::new([("a", 0)]).unwrap(), None).unwrap()),
            ),
            None,
            "model Characters: turns each character into a token",
        ),
    ]);
    rows
}

#[test]
fn strategies_of_stages() {
    for (name, stages, strategy, unsupported) in rows() {
        let tokenizer = Tokenizer::new(stages).unwrap();
        let plan = tokenizer.encoding_plan();
        assert_eq!(plan.strategy, strategy, "{name}: {plan}");
        assert_eq!(plan.detours, [], "{name}");
        let asked = match strategy {
            Some(strategy) => Strategy::ALL.iter().position(|it| *it == strategy).unwrap(),
            None => Strategy::ALL.len(),
        };
        let passed_over = plan.passed_over.iter().map(|(strategy, _)| *strategy);
        assert!(
            passed_over.eq(Strategy::ALL[..asked].iter().copied()),
            "{name}"
        );
        let last = plan.passed_over.last();
        let last = last.map_or(String::new(), |(_, unsupported)| unsupported.to_string());
        assert!(last.starts_with(unsupported), "{name}: {last}");
    }
}

#[test]
fn detours_around_a_strategy() {
    let mut stages = stages(Some(bert()), Some(PreTokenizer::Bert), word_piece());
    stages.added_tokens.push(AddedToken {
        normalized: true,
        ..AddedToken::plain(2, "x")
    });
    let tokenizer = Tokenizer::new(stages).unwrap();
    let plan = tokenizer.encoding_plan();
    assert_eq!(plan.strategy, Some(Strategy::WhitespaceWords));
    let detours: Vec<String> = plan.detours.iter().map(ToString::to_string).collect();
    let [detour] = detours.as_slice() else {
        panic!("{detours:?}")
    };
    assert!(detour.starts_with("added tokens normalized: looked for in normalized text"));
    assert!(plan.to_string().contains(detour));
}
