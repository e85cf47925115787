//! The compiled paths of the families other than byte-level BPE against the staged one: the same ids
//! and counts, for every tokenizer and text.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::fast::Strategy;
use jeton_core::format::sentencepiece;
use jeton_core::format::wordpiece;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{Bpe, Model, Unigram, WordLevel, WordPiece};
use jeton_core::normalizer::{Charsmap, Normalization, Normalizer};
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::post_processor::PostProcessor;
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior};
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Stages, Tokenizer};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod spanned;

const CHARSMAP: &[u8] = include_bytes!("../../../testdata/charsmap.bin");

/// What texts are made of: what ends words for one family or another, what normalizers change,
/// drop or join, runs, and ordinary text.
const PARTS: &[&str] = &[
    "a",
    "e",
    "the",
    "ing",
    "Word",
    "HTTPServer",
    "don't",
    "self.assertEqual(foo.bar(x), [1])",
    " ",
    " ",
    " ",
    " ",
    "  ",
    "     ",
    "                              ",
    "\n",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{1680}",
    "\u{200b}",
    "\u{feff}",
    "\u{ad}",
    "\0",
    "\u{7f}",
    "\u{fffd}",
    "▁",
    "▁▁",
    " ▁",
    "▁ ",
    ".",
    ",",
    "!",
    "...",
    "(",
    "-----",
    "\"",
    "$",
    "^",
    "`",
    "=",
    "=\u{338}",
    "\u{338}",
    "12",
    "1234567",
    "٣",
    "½",
    "é",
    "É",
    "e\u{301}",
    "\u{301}",
    "\u{301}\u{323}",
    "\u{323}",
    "Å",
    "ﬁ",
    "¨",
    "ς",
    "Σ",
    "İ",
    "ß",
    "中",
    "中文",
    "日本語",
    "か",
    "が",
    "ガ",
    "ｶﾞ",
    "한국",
    "각",
    "жа",
    "Ж",
    "привет",
    "достопримечательность",
    "म",
    "\u{93f}",
    "🙂",
    "👩\u{200d}👧",
    "“",
    "”",
    "…",
    "。",
    "，",
    "\u{600}",
    "\u{610}",
    "Ａ",
    "<s>",
    "</s>",
    "[UNK]",
    "[CLS]",
    "<unk>",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "中中中中中中中中中中",
    "abcdefghijklmnopqrstuvwxyz",
    "\u{302e}",
    "\u{1d165}",
    "\u{ad}",
    "\u{a0}",
    "\u{20000}",
];

fn text(numbers: &mut ChaCha8Rng) -> String {
    let most = numbers.random_range(1..60);
    let length = numbers.random_range(0..most);
    let simple = numbers.random_bool(0.3);
    (0..length)
        .map(|_| match simple {
            true => PARTS[numbers.random_range(0..16)],
            false => PARTS.choose(numbers).unwrap(),
        })
        .collect()
}

/// A long text of few kinds of parts, so that what stands around a cut is often odd.
fn few_kinds(numbers: &mut ChaCha8Rng, length: usize) -> String {
    let count = numbers.random_range(2..12);
    let mut kinds: Vec<&str> = (0..count)
        .map(|_| *PARTS.choose(numbers).unwrap())
        .collect();
    kinds.push(" ");
    let mut text = String::new();
    while text.len() < length {
        text.push_str(kinds.choose(numbers).unwrap());
    }
    text
}

fn is_by(tokenizer: &Tokenizer, strategy: Strategy) -> bool {
    tokenizer.encoding_plan().strategy == Some(strategy)
}

/// Holds the two paths equal on `texts`.
fn check(tokenizer: &Tokenizer, texts: impl IntoIterator<Item = String>) {
    let options = EncodeOptions::default();
    for text in texts {
        for add_special_tokens in [false, true] {
            for special in [SpecialPolicy::Ignore, SpecialPolicy::Allow] {
                let options = EncodeOptions {
                    special,
                    add_special_tokens,
                    ..options.clone()
                };
                let staged = tokenizer.encode(&text, None, &options).map(|it| it.ids);
                // Twice: words that are new, and words that were met.
                for _ in 0..2 {
                    let compiled = tokenizer.encode_ids(&text, &options);
                    match (&compiled, &staged) {
                        (Ok(compiled), Ok(staged)) => {
                            assert_eq!(compiled, staged, "{text:?} {tokenizer:?}");
                        }
                        (Err(_), Err(_)) => {}
                        _ => panic!("{compiled:?}, but {staged:?}: {text:?}"),
                    }
                }
                if let Ok(staged) = staged {
                    assert_eq!(tokenizer.count(&text, &options).unwrap(), staged.len());
                }
                spanned::check(tokenizer, &text, &options);
            }
        }
    }
}

/// Holds the parts of a large text, encoded by themselves, equal to the text; says whether there
/// were any.
fn check_parts(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) -> bool {
    let whole = tokenizer.encode(text, None, options).unwrap().ids;
    let never = AtomicBool::new(false);
    let batch = tokenizer.encode_batch(&[text], options, 2, &never);
    assert_eq!(batch.unwrap().ids, whole, "{tokenizer:?} {options:?}");
    let counts = tokenizer.count_batch(&[text], options, 2, &never);
    assert_eq!(counts.unwrap(), [whole.len()], "{tokenizer:?}");
    spanned::check_batch(tokenizer, text, options);
    tokenizer.split_point(text, 0, 1, options) < text.len()
}

/// The same, whatever special tokens mean, and with those of the post-processor.
fn check_framed_parts(tokenizer: &Tokenizer, text: &str) -> bool {
    let policies = [SpecialPolicy::Ignore, SpecialPolicy::Allow];
    let options = policies.into_iter().flat_map(|special| {
        [false, true].map(|add_special_tokens| EncodeOptions {
            special: special.clone(),
            add_special_tokens,
            ..EncodeOptions::default()
        })
    });
    let cut = options.map(|options| check_parts(tokenizer, text, &options));
    cut.fold(false, |some, cut| some | cut)
}

/// Spellings that are met in texts: single characters and random stretches.
fn spellings(numbers: &mut ChaCha8Rng, inner_spaces: bool) -> Vec<String> {
    let mut spellings = vec!["▁".to_owned()];
    for _ in 0..120 {
        let sample: Vec<char> = text(numbers).replace(' ', "▁").chars().collect();
        if sample.is_empty() {
            continue;
        }
        let start = numbers.random_range(0..sample.len());
        let length = numbers.random_range(1..6);
        let spelling: String = sample[start..].iter().take(length).collect();
        let inner = spelling.trim_start_matches('▁').contains('▁');
        if !spelling.contains('\0') && (inner_spaces || !inner) {
            spellings.push(spelling);
        }
    }
    for character in "abcdefghijklmnoprstuvw.,中жа".chars() {
        spellings.push(character.into());
    }
    spellings.sort();
    spellings.dedup();
    spellings
}

/// A character map with rules for characters outside ASCII, and `more`.
fn charsmap(more: &[(&str, &str)]) -> Vec<u8> {
    let rules = [
        ("\u{3000}", " "),
        ("\u{200b}", ""),
        ("\u{a0}", "  "),
        ("\u{ad}", "▁"),
        ("½", " 1/2 "),
        ("…", "..."),
        ("中", " 中"),
        ("🙂", "🙂 "),
        ("e\u{301}", "é"),
        ("\t", " "),
    ];
    let all = rules.iter().chain(more);
    let rules = all.map(|(from, to)| ((*from).to_owned(), (*to).to_owned()));
    Charsmap::compile(&rules.collect()).unwrap().blob()
}

fn sentencepiece_model(numbers: &mut ChaCha8Rng, algorithm: Algorithm) -> ModelProto {
    let byte_fallback = numbers.random_bool(0.5);
    let inner_spaces = numbers.random_bool(0.1);
    let mut pieces = vec![
        Piece::new("<unk>", 0.0, PieceKind::Unknown),
        Piece::new("<s>", 0.0, PieceKind::Control),
        Piece::new("</s>", 0.0, PieceKind::Control),
    ];
    if byte_fallback {
        let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
        pieces.extend(bytes.map(|text| Piece::new(text, 0.0, PieceKind::Byte)));
    }
    let user_defined = numbers.random_bool(0.3);
    let unused = numbers.random_bool(0.2);
    // Few distinct scores make ties; large ones make sums of which the model begins anew.
    let coarse = numbers.random_bool(0.4);
    let scale = *[1.0, 1.0, 40.0, 3000.0].choose(numbers).unwrap();
    for spelling in spellings(numbers, inner_spaces) {
        let kind = match numbers.random_range(0..20) {
            0 if user_defined => PieceKind::UserDefined,
            1 if unused => PieceKind::Unused,
            _ => PieceKind::Normal,
        };
        let score = match coarse {
            true => -(numbers.random_range(1..8) as f32),
            false => -numbers.random::<f32>() * 12.0,
        };
        if spelling != "<s>" && spelling != "</s>" && spelling != "<unk>" {
            pieces.push(Piece::new(spelling, score * scale, kind));
        }
    }
    let trainer = TrainerSpec {
        algorithm,
        byte_fallback,
        treat_whitespace_as_suffix: numbers.random_bool(0.05),
        ..TrainerSpec::default()
    };
    let normalizer = NormalizerSpec {
        precompiled_charsmap: match numbers.random_range(0..6) {
            0 => CHARSMAP.to_vec(),
            1 => Normalization::NmtNfkc.charsmap().unwrap().blob(),
            2 => charsmap(&[]),
            3 => charsmap(&[("W", "w"), ("a", "b"), (".", ""), (",", " "), ("12", " a ")]),
            _ => Vec::new(),
        },
        add_dummy_prefix: numbers.random_bool(0.8),
        remove_extra_whitespaces: numbers.random_bool(0.5),
        escape_whitespaces: numbers.random_bool(0.95),
        ..NormalizerSpec::default()
    };
    ModelProto::new(pieces, trainer, normalizer)
}

#[test]
fn sentencepiece() {
    let mut numbers = ChaCha8Rng::seed_from_u64(21);
    for round in 0..120 {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = sentencepiece_model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(sentencepiece::stages(proto).unwrap()).unwrap();
        check(&tokenizer, (0..60).map(|_| text(&mut numbers)));
        // Long enough for sums of scores that rounding shows in, and for sums begun anew.
        let long = (0..300).map(|_| text(&mut numbers)).collect();
        check(&tokenizer, [long]);
    }
}

/// Long chunks that are cut, among short ones, known ones and new ones, so that tokens are given away
/// at any place.
#[test]
fn sentencepiece_chunks_of_any_length() {
    let mut numbers = ChaCha8Rng::seed_from_u64(33);
    for round in 0..80 {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = sentencepiece_model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(sentencepiece::stages(proto).unwrap()).unwrap();
        let words: Vec<String> = (0..60)
            .map(|_| {
                let word = text(&mut numbers).replace([' ', '\n'], "");
                word.repeat(numbers.random_range(1..6))
            })
            .collect();
        let texts = (0..3).map(|round| {
            let words: Vec<&str> = (0..300)
                .map(|_| words[numbers.random_range(round * 20..(round + 1) * 20)].as_str())
                .collect();
            words.join(" ")
        });
        check(&tokenizer, texts.collect::<Vec<_>>());
    }
}

/// A score of one of four kinds: any; whole, and so equal to others; and nearly equal to all others,
/// in steps that lie in the middle of two floats where sums are large, or not quite as large.
fn score(numbers: &mut ChaCha8Rng, kind: usize, scale: f32) -> f32 {
    match kind {
        0 => scale * -12.0 * numbers.random::<f32>(),
        1 => scale * -(numbers.random_range(1..8) as f32),
        2 => scale * -5.0 - numbers.random_range(0..24) as f32 / 256.0,
        _ => scale * -5.0 - numbers.random_range(0..24) as f32 / 2048.0,
    }
}

/// Sums of scores pass each power of two and 100,000, while the same words come again and again; a
/// batch does not cut such a text.
#[test]
fn unigram_through_all_sums() {
    let mut numbers = ChaCha8Rng::seed_from_u64(27);
    for round in 0..96 {
        let proto = sentencepiece_model(&mut numbers, Algorithm::Unigram);
        let scale = [1.0, 8.0, 64.0][round % 3];
        let pieces: Vec<Piece> = (proto.pieces.iter())
            .map(|piece| {
                let score = match piece.kind {
                    PieceKind::Normal => score(&mut numbers, round % 4, scale),
                    _ => piece.score,
                };
                Piece::new(piece.text, score, piece.kind)
            })
            .collect();
        let (trainer, normalizer) = (proto.trainer().clone(), proto.normalizer().clone());
        let proto = ModelProto::new(pieces, trainer, normalizer);
        let tokenizer = Tokenizer::new(sentencepiece::stages(proto).unwrap()).unwrap();
        let words: Vec<String> = (0..80)
            .map(|i| match i % 2 {
                0 => text(&mut numbers).replace(' ', ""),
                _ => PARTS.choose(&mut numbers).unwrap().repeat(3),
            })
            .collect();
        let mut text = String::new();
        while text.len() < 15_000 + 135_000 / scale as usize {
            text.push_str(words.choose(&mut numbers).unwrap());
            text.push(' ');
        }
        let options = EncodeOptions::default();
        let staged = tokenizer.encode(&text, None, &options).unwrap().ids;
        for _ in 0..2 {
            let compiled = tokenizer.encode_ids(&text, &options).unwrap();
            assert!(compiled == staged, "{round} {tokenizer:?}");
        }
        assert!(!check_parts(&tokenizer, &text, &EncodeOptions::default()));
        let texts = ["to be", &text, "", &text, "or not"];
        let never = AtomicBool::new(false);
        let batch = tokenizer.encode_batch(&texts, &options, 3, &never).unwrap();
        let one_by_one = texts.map(|text| tokenizer.encode_ids(text, &options).unwrap());
        assert!(batch.ids == one_by_one.concat(), "{round} {tokenizer:?}");
        let ends = batch.offsets[1..].iter().map(|&end| end as usize);
        let counts = one_by_one.iter().map(Vec::len);
        let sums = counts.scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        assert!(ends.eq(sums), "{round} {tokenizer:?}");
    }
}

/// Parts end at any of a text's places that may be cut at, as there is one such place in each part.
#[test]
fn parts_of_sentencepiece_texts() {
    let mut numbers = ChaCha8Rng::seed_from_u64(25);
    let mut cut = 0;
    for round in 0..100 {
        let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round % 2];
        let proto = sentencepiece_model(&mut numbers, algorithm);
        let tokenizer = Tokenizer::new(sentencepiece::stages(proto).unwrap()).unwrap();
        for _ in 0..6 {
            let text = few_kinds(&mut numbers, 20_000);
            cut += usize::from(check_parts(&tokenizer, &text, &EncodeOptions::default()));
        }
    }
    assert!(cut > 100, "{cut}");
}

fn bert(clean_text: bool, chinese: bool, strip: Option<bool>, lowercase: bool) -> Normalizer {
    Normalizer::Bert {
        clean_text,
        handle_chinese_chars: chinese,
        strip_accents: strip,
        lowercase,
    }
}

/// Normalizers that keep words apart, and some that do not.
fn normalizers() -> Vec<Option<Normalizer>> {
    let flags = [false, true];
    let mut all: Vec<_> = flags
        .iter()
        .flat_map(|&clean| flags.map(|chinese| (clean, chinese)))
        .flat_map(|(clean, chinese)| {
            [None, Some(false), Some(true)].map(|strip| (clean, chinese, strip))
        })
        .flat_map(|(clean, chinese, strip)| flags.map(|lower| bert(clean, chinese, strip, lower)))
        .chain([
            Normalizer::Nfc,
            Normalizer::Nfd,
            Normalizer::Nfkc,
            Normalizer::Nfkd,
            Normalizer::Lowercase,
            Normalizer::Nmt,
            Normalizer::Sequence(vec![
                Normalizer::Nfd,
                Normalizer::StripAccents,
                Normalizer::Lowercase,
            ]),
            Normalizer::Precompiled(Charsmap::new(CHARSMAP).unwrap()),
            Normalizer::Strip {
                left: true,
                right: true,
            },
        ])
        .map(Some)
        .collect();
    all.push(None);
    all
}

fn word_models(numbers: &mut ChaCha8Rng) -> [Model; 3] {
    let words = spellings(numbers, false);
    let vocab = || {
        let mut entries = vec!["[UNK]".to_owned()];
        entries.extend(words.iter().map(|word| word.to_lowercase()));
        entries.extend(
            words
                .iter()
                .map(|word| format!("##{}", word.to_lowercase())),
        );
        entries.sort();
        entries.dedup();
        Vocab::new(entries.into_iter().zip(0..)).unwrap()
    };
    let scores = words.iter().map(|word| (word, -(word.len() as f64)));
    let scores = scores.chain([(&words[0], -1.0)]).skip(1);
    [
        Model::WordPiece(WordPiece::new(vocab(), "[UNK]", "##", 20)),
        Model::WordLevel(WordLevel::new(vocab(), "[UNK]")),
        Model::Unigram(Unigram::new(scores, Some(0), false).unwrap()),
    ]
}

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

/// A stage that cuts text.
fn cutting_stage(numbers: &mut ChaCha8Rng) -> PreTokenizer {
    let behavior = *[
        SplitBehavior::Removed,
        SplitBehavior::Isolated,
        SplitBehavior::MergedWithPrevious,
        SplitBehavior::MergedWithNext,
        SplitBehavior::Contiguous,
    ]
    .choose(numbers)
    .unwrap();
    let source = *[
        r"\s+",
        r"\d{1,3}",
        r"[a-m]?",
        r"(?<=e)\w",
        r"\p{L}+| ",
        r"\R|\t",
    ]
    .choose(numbers)
    .unwrap();
    match numbers.random_range(0..12) {
        0 => PreTokenizer::Bert,
        1 => PreTokenizer::Whitespace,
        2 => PreTokenizer::WhitespaceSplit,
        3 => PreTokenizer::CharDelimiterSplit { delimiter: 'e' },
        4 => PreTokenizer::Punctuation { behavior },
        5 => PreTokenizer::Digits {
            individual_digits: numbers.random_bool(0.5),
        },
        6 => PreTokenizer::UnicodeScripts,
        7 => PreTokenizer::FixedLength {
            length: numbers.random_range(1..7),
        },
        8 => PreTokenizer::Split {
            pattern: SearchPattern::Literal("a".to_owned()),
            behavior,
            invert: numbers.random_bool(0.3),
        },
        9 => PreTokenizer::Sequence(vec![PreTokenizer::UnicodeScripts, PreTokenizer::Whitespace]),
        10 => PreTokenizer::ByteLevel {
            add_prefix_space: numbers.random_bool(0.2),
            trim_offsets: true,
            use_regex: numbers.random_bool(0.7),
            printable: numbers.random_bool(0.2),
        },
        _ => PreTokenizer::Split {
            pattern: SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap()),
            behavior,
            invert: numbers.random_bool(0.3),
        },
    }
}

/// Normalizers of any kind, one after another.
fn any_normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
    let replace = |pattern: &str, content: &str| Normalizer::Replace {
        pattern: SearchPattern::Literal(pattern.to_owned()),
        content: content.to_owned(),
    };
    let mut all = normalizers();
    all.extend([
        Some(replace("e", "")),
        Some(replace(" ", "  ")),
        Some(Normalizer::Prepend {
            prefix: " a".to_owned(),
        }),
        Some(Normalizer::StripAccents),
        Some(Normalizer::ByteLevel),
    ]);
    let count = numbers.random_range(0..4);
    let steps: Vec<_> = (0..count)
        .filter_map(|_| all.choose(numbers).cloned().flatten())
        .collect();
    (count > 0).then_some(Normalizer::Sequence(steps))
}

#[test]
fn pieces_by_themselves() {
    let mut numbers = ChaCha8Rng::seed_from_u64(31);
    let (mut compiled, mut cut) = (0, 0);
    for round in 0..500 {
        let [a, b, c] = word_models(&mut numbers);
        let models = [a, b, c, bpe_of_characters(&mut numbers)];
        let mut stages = Stages::of_model(models.choose(&mut numbers).unwrap().clone());
        stages.normalizer = any_normalizer(&mut numbers);
        let count = numbers.random_range(1..4);
        let cuts = (0..count).map(|_| cutting_stage(&mut numbers)).collect();
        stages.pre_tokenizer = Some(PreTokenizer::Sequence(cuts));
        if round % 3 == 0 {
            let added = |id, content: &str, normalized: bool| AddedToken {
                id,
                content: content.to_owned(),
                special: !normalized,
                single_word: false,
                lstrip: false,
                rstrip: !normalized,
                normalized,
            };
            stages.added_tokens = vec![added(5_000, "<s>", false), added(5_001, "the", true)];
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        compiled += usize::from(is_by(&tokenizer, Strategy::CachedPieces));
        check(&tokenizer, (0..20).map(|_| text(&mut numbers)));
        let text = few_kinds(&mut numbers, 20_000);
        let encoded = tokenizer.encode(&text, None, &EncodeOptions::default());
        if round % 2 == 0 && encoded.is_ok() {
            cut += usize::from(check_framed_parts(&tokenizer, &text));
        }
    }
    assert!(compiled > 350 && cut > 25, "{compiled} {cut}");
}

/// Long texts are parted where no added token is near, whatever white space one takes.
#[test]
fn parts_between_added_tokens() {
    let mut numbers = ChaCha8Rng::seed_from_u64(43);
    let mut cut = 0;
    for round in 0..120 {
        let mut stages = match round % 3 {
            0 => spaced_stages(&mut numbers),
            1 => {
                let algorithm = [Algorithm::Bpe, Algorithm::Unigram][round / 3 % 2];
                sentencepiece::stages(sentencepiece_model(&mut numbers, algorithm)).unwrap()
            }
            _ => {
                let mut stages = Stages::of_model(word_models(&mut numbers)[round / 3 % 3].clone());
                stages.normalizer = normalizers().choose(&mut numbers).unwrap().clone();
                stages.pre_tokenizer = Some(cutting_stage(&mut numbers));
                stages
            }
        };
        stages.added_tokens.clear();
        for (id, content) in (90_000..).zip(["<t>", "</t>", "e the", "\n\n"]) {
            stages.added_tokens.push(AddedToken {
                id,
                content: content.to_owned(),
                special: numbers.random_bool(0.3),
                single_word: numbers.random_bool(0.3),
                lstrip: numbers.random_bool(0.4),
                rstrip: numbers.random_bool(0.4),
                normalized: numbers.random_bool(0.2),
            });
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        let mut text = String::new();
        while text.len() < 40_000 {
            let length = numbers.random_range(1..6_000);
            text.push_str(&few_kinds(&mut numbers, length));
            let token = ["<t>", "</t>", "e the", "\n\n", "<", ""]
                .choose(&mut numbers)
                .unwrap();
            for around in [" ", "\n", token, " ", "\t", "\n"] {
                let most = if numbers.random_bool(0.1) { 2_000 } else { 3 };
                text.push_str(&around.repeat(numbers.random_range(0..most)));
            }
        }
        if tokenizer
            .encode(&text, None, &EncodeOptions::default())
            .is_ok()
        {
            cut += usize::from(check_framed_parts(&tokenizer, &text));
        }
    }
    assert!(cut > 20, "{cut}");
}

/// Each character between words, between marks and beside punctuation, where words are cut.
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
        // All that any stage tells apart, and a part of the many ideographs and syllables.
        let told_apart = |c: &char| {
            let code_point = u32::from(*c);
            let many = matches!(code_point, 0x3500..0xD700 | 0xE100..0xF800 | 0x1_7100..0xE_0000 | 0xE_0200..);
            !many || code_point % 61 == 0
        };
        for c in ('\0'..=char::MAX).filter(told_apart) {
            // Long enough to be cut beside the character.
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

/// A BPE of characters whose merges are found in texts. Some join words.
fn bpe_of_characters(numbers: &mut ChaCha8Rng) -> Model {
    let inner_spaces = numbers.random_bool(0.1);
    let mut tokens = vec!["<unk>".to_owned()];
    if numbers.random_bool(0.6) {
        tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
    }
    tokens.extend("▁abcdehinortw.,中жа\n".chars().map(String::from));
    tokens.remove(numbers.random_range(0..tokens.len()));
    let mut merges = Vec::new();
    for _ in 0..20 {
        let sample = text(numbers).replace(' ', "▁");
        let mut symbols: Vec<String> = sample.chars().map(String::from).collect();
        for _ in 0..6 {
            if symbols.len() < 2 {
                break;
            }
            let at = numbers.random_range(0..symbols.len() - 1);
            let together = symbols[at..at + 2].concat();
            let known = symbols[at..at + 2].iter().all(|side| tokens.contains(side));
            let inner = together.trim_start_matches('▁').contains('▁');
            if known && (inner_spaces || !inner) {
                let right = symbols.remove(at + 1);
                merges.push((symbols[at].clone().into(), right.into()));
                symbols[at].clone_from(&together);
                tokens.push(together);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    let options = BpeOptions {
        alphabet: Alphabet::Characters,
        unk_token: numbers.random_bool(0.7).then(|| "<unk>".to_owned()),
        fuse_unk: numbers.random_bool(0.5),
        byte_fallback: numbers.random_bool(0.7),
        ignore_merges: numbers.random_bool(0.1),
        continuing_subword_prefix: None,
        end_of_word_suffix: numbers.random_bool(0.05).then(|| "a".to_owned()),
        ..BpeOptions::default()
    };
    let vocab = Vocab::new(tokens.into_iter().zip(0..)).unwrap();
    Model::Bpe(Bpe::by_merges(vocab, merges, options).unwrap())
}

/// Normalizers in the manner of SentencePiece, and some whose chunks depend on one another.
fn spaced_normalizer(numbers: &mut ChaCha8Rng) -> Option<Normalizer> {
    let replace = |from: &str, to: &str| Normalizer::Replace {
        pattern: SearchPattern::Literal(from.to_owned()),
        content: to.to_owned(),
    };
    let runs = |to: &str| Normalizer::Replace {
        pattern: SearchPattern::Regex(Regex::new(" {2,}", Dialect::Oniguruma).unwrap()),
        content: to.to_owned(),
    };
    let prepend = || Normalizer::Prepend {
        prefix: "▁".to_owned(),
    };
    let map = match numbers.random_range(0..4) {
        0 => Charsmap::new(CHARSMAP).unwrap(),
        1 => Charsmap::new(&charsmap(&[])).unwrap(),
        2 => Charsmap::new(&charsmap(&[
            ("W", "w"),
            (".", ""),
            (",", " "),
            ("\u{600}", ""),
            ("▁", "x"),
        ]))
        .unwrap(),
        _ => Normalization::NmtNfkc.charsmap().unwrap().clone(),
    };
    let strip = Normalizer::Strip {
        left: numbers.random_bool(0.5),
        right: numbers.random_bool(0.8),
    };
    let precompiled = Normalizer::Precompiled(map);
    Some(match numbers.random_range(0..12) {
        0 => return None,
        1 | 2 => Normalizer::Sequence(vec![prepend(), replace(" ", "▁")]),
        3 => replace(" ", "▁"),
        4 => precompiled,
        5 => Normalizer::Sequence(vec![precompiled, runs(" ")]),
        6 => Normalizer::Sequence(vec![precompiled, strip, runs("▁")]),
        7 => Normalizer::Sequence(vec![Normalizer::Nmt, Normalizer::Nfkc, runs(" ")]),
        8 => Normalizer::Sequence(vec![
            replace("..", "\""),
            replace("the", ""),
            Normalizer::Nfkd,
            Normalizer::StripAccents,
            Normalizer::Lowercase,
            precompiled,
        ]),
        9 => Normalizer::Sequence(vec![strip, Normalizer::Nfkc, runs("▁"), prepend()]),
        10 => Normalizer::Sequence(vec![precompiled, Normalizer::Nfc, replace(" ", "▁")]),
        _ => {
            let mut all = vec![
                prepend(),
                strip,
                precompiled,
                runs(" "),
                Normalizer::Nmt,
                Normalizer::Nfd,
                Normalizer::Nfkc,
                replace(",", " "),
                replace("a b", "ab"),
                replace(" ", "▁"),
            ];
            let count = numbers.random_range(1..5);
            let some = (0..count).map(|_| all.swap_remove(numbers.random_range(0..all.len())));
            Normalizer::Sequence(some.collect())
        }
    })
}

fn spaced_stages(numbers: &mut ChaCha8Rng) -> Stages {
    let model = match numbers.random_range(0..4) {
        0 | 1 => bpe_of_characters(numbers),
        2 => {
            let words = spellings(numbers, true);
            let scores = words.iter().map(|word| (word, -(word.len() as f64)));
            let unk_id = numbers.random_bool(0.9).then_some(0);
            Model::Unigram(Unigram::new(scores, unk_id, numbers.random_bool(0.3)).unwrap())
        }
        _ => {
            let words = spellings(numbers, true);
            let vocab = Vocab::new(words.iter().zip(0..)).unwrap();
            Model::WordLevel(WordLevel::new(vocab, words[0].clone()))
        }
    };
    let metaspace = |prepend_scheme, split| PreTokenizer::Metaspace {
        replacement: '▁',
        prepend_scheme,
        split,
    };
    let schemes = [
        PrependScheme::Always,
        PrependScheme::First,
        PrependScheme::Never,
    ];
    let scheme = *schemes.choose(numbers).unwrap();
    let mut stages = Stages::of_model(model);
    stages.normalizer = spaced_normalizer(numbers);
    stages.pre_tokenizer = match numbers.random_range(0..9) {
        0 | 1 => None,
        2 => Some(PreTokenizer::Split {
            pattern: SearchPattern::Literal(" ".to_owned()),
            behavior: SplitBehavior::MergedWithPrevious,
            invert: false,
        }),
        3 | 4 => Some(metaspace(scheme, false)),
        5 => Some(PreTokenizer::Sequence(vec![
            PreTokenizer::WhitespaceSplit,
            metaspace(scheme, numbers.random_bool(0.8)),
        ])),
        _ => Some(metaspace(scheme, true)),
    };
    stages.added_tokens.push(AddedToken {
        id: 100_000,
        content: "<s>".to_owned(),
        special: true,
        single_word: false,
        lstrip: numbers.random_bool(0.2),
        rstrip: numbers.random_bool(0.2),
        normalized: numbers.random_bool(0.2),
    });
    stages
}

#[test]
fn words_with_the_spaces_before_them() {
    let mut numbers = ChaCha8Rng::seed_from_u64(26);
    let (mut compiled, mut cut) = (0, 0);
    for _ in 0..400 {
        let tokenizer = Tokenizer::new(spaced_stages(&mut numbers)).unwrap();
        compiled += usize::from(is_by(&tokenizer, Strategy::Metaspace));
        check(&tokenizer, (0..20).map(|_| text(&mut numbers)));
        let text = few_kinds(&mut numbers, 20_000);
        if tokenizer
            .encode(&text, None, &EncodeOptions::default())
            .is_ok()
        {
            cut += usize::from(check_parts(&tokenizer, &text, &EncodeOptions::default()));
        }
    }
    assert!(compiled > 150 && cut > 80, "{compiled} {cut}");
}

/// Tokenizers that only write spaces as `▁`, as Llama 2's: long chunks are cut, and parts are taken
/// for chunks and chunks for parts where they may be.
#[test]
fn chunks_of_which_only_spaces_change() {
    let mut numbers = ChaCha8Rng::seed_from_u64(41);
    let mut cut = 0;
    while cut < 60 {
        let mut stages = Stages::of_model(bpe_of_characters(&mut numbers));
        let writes = Normalizer::Replace {
            pattern: SearchPattern::Literal(" ".to_owned()),
            content: "▁".to_owned(),
        };
        let prepends = Normalizer::Prepend {
            prefix: "▁".to_owned(),
        };
        stages.normalizer = match numbers.random_range(0..3) {
            0 => Some(writes),
            1 => Some(Normalizer::Sequence(vec![prepends, writes])),
            _ => {
                stages.pre_tokenizer = Some(PreTokenizer::Metaspace {
                    replacement: '▁',
                    prepend_scheme: PrependScheme::First,
                    split: false,
                });
                None
            }
        };
        let tokenizer = Tokenizer::new(stages).unwrap();
        if !format!("{tokenizer:?}").contains("cuts: Some") {
            continue;
        }
        cut += 1;
        let words: Vec<String> = (0..20)
            .map(|_| text(&mut numbers).replace([' ', '\n'], ""))
            .collect();
        let texts = (0..10).map(|_| {
            let mut text = String::new();
            for _ in 0..40 {
                text.push_str(["", " ", " ", "  ", "\n"].choose(&mut numbers).unwrap());
                text.push_str(words.choose(&mut numbers).unwrap());
            }
            text
        });
        let texts: Vec<String> = texts.collect();
        check(&tokenizer, texts);
    }
}

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(path);
    match path.is_file() {
        true => Some(path),
        false => {
            eprintln!("skipped: {} is not there", path.display());
            None
        }
    }
}

#[test]
fn published_sentencepiece_models() {
    let mut numbers = ChaCha8Rng::seed_from_u64(22);
    for name in ["llama2_sentencepiece_bpe.model", "t5_style_unigram.model"] {
        let Some(path) = shared(&format!("vocab/{name}")) else {
            continue;
        };
        let file = std::fs::read(path).unwrap();
        let tokenizer = Tokenizer::new(sentencepiece::read(&file).unwrap()).unwrap();
        check(&tokenizer, (0..400).map(|_| text(&mut numbers)));
        for kind in ["english", "multilingual"] {
            let Some(path) = shared(&format!("text/{kind}.txt")) else {
                continue;
            };
            let sample = std::fs::read_to_string(path).unwrap();
            let sample: Vec<char> = sample.chars().take(200_000).collect();
            let documents = sample
                .chunks(4000)
                .map(|document| document.iter().collect());
            check(&tokenizer, documents);
        }
    }
}

#[test]
fn a_published_bert_vocabulary() {
    let Some(path) = shared("vocab/bert_uncased_vocab.txt") else {
        return;
    };
    let mut numbers = ChaCha8Rng::seed_from_u64(24);
    let file = std::fs::read(path).unwrap();
    let tokenizer = Tokenizer::new(wordpiece::read(&file, None).unwrap()).unwrap();
    check(&tokenizer, (0..400).map(|_| text(&mut numbers)));
    for kind in ["english", "multilingual"] {
        let Some(path) = shared(&format!("text/{kind}.txt")) else {
            continue;
        };
        let sample = std::fs::read_to_string(path).unwrap();
        let sample: Vec<char> = sample.chars().take(200_000).collect();
        let documents = sample
            .chunks(4000)
            .map(|document| document.iter().collect());
        check(&tokenizer, documents);
    }
}
