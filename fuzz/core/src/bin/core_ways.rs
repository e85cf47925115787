//! Fuzzes encoding: of any stages and any text, all ways to encode say the same.
//!
//! An input chooses the stages and the options of the call, and ends with the text. An error in one
//! way is an error of the same kind in all.

#![no_main]
#![expect(clippy::disallowed_types, reason = "nothing forks here")]

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use jeton_core::added_tokens::{AddedToken, SpecialPolicy};
use jeton_core::decoder::Decoder;
use jeton_core::format::sentencepiece;
use jeton_core::format::snapshot;
use jeton_core::model::bpe::{Alphabet, BpeOptions};
use jeton_core::model::sentencepiece::spec::{
    Algorithm, ModelProto, NormalizerSpec, Piece, PieceKind, TrainerSpec,
};
use jeton_core::model::{Bpe, Characters, Model, Sampling, Unigram, WordLevel, WordPiece};
use jeton_core::normalizer::{Charsmap, Normalizer};
use jeton_core::pattern::{Dialect, Regex, SearchPattern};
use jeton_core::post_processor::PostProcessor;
use jeton_core::pre_tokenizer::{PreTokenizer, PrependScheme, SplitBehavior, named};
use jeton_core::text::InvalidUtf8;
use jeton_core::vocab::Vocab;
use jeton_core::{EncodeOptions, Error, ErrorKind, Stages, Tokenizer, Unit};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;

const CHARSMAP: &[u8] = include_bytes!("../../../../testdata/charsmap.bin");

/// What bytes beyond ASCII stand for in a text: what stages look for or change, and runs.
const PARTS: &str = "the|ing|ab|  |\r\n|\u{b}|\u{1c}|\u{85}|\u{a0}|\u{3000}|\u{2028}|\u{1680}|\
    \u{200b}|\u{feff}|\u{ad}|\u{fffd}|▁|▁▁|...|'s|'RE|\u{338}|1234567|٣|½|é|É|e\u{301}|\u{301}|\
    \u{323}|Å|ﬁ|ς|Σ|İ|ß|ſ|中|中文|か|が|ガ|ｶﾞ|한국|\u{1100}\u{1161}|жа|म\u{93f}|🙂|👩\u{200d}👧|“|…|。|\
    \u{600}|Ａ|Ġ|<s>|</s>|[UNK]|<unk>|##|aaaaaaaaaaaaaaaa|中中中中中中|\u{1d165}|\u{20000}";

/// How many bytes a text has that two threads encode in parts.
const PARTED: usize = 9 << 10;

/// How many bytes a token that merges make has at most.
const LONGEST: usize = 256;

/// What a vocabulary begins with.
const CHARACTERS: &str = "<unk>▁abcdehinortw.,'12 \n#ĠÃé中ж";

const BEHAVIORS: [SplitBehavior; 5] = [
    SplitBehavior::Removed,
    SplitBehavior::Isolated,
    SplitBehavior::MergedWithPrevious,
    SplitBehavior::MergedWithNext,
    SplitBehavior::Contiguous,
];

const SCHEMES: [PrependScheme; 3] = [
    PrependScheme::Always,
    PrependScheme::Never,
    PrependScheme::First,
];

/// Patterns of every engine, compiled once.
static PATTERNS: LazyLock<Vec<SearchPattern>> = LazyLock::new(|| {
    let regexes = [
        r"\s+",
        r"\d{1,3}",
        r"[a-m]?",
        r"(?<=e)\w",
        r"\p{L}+| ",
        r"\R|\t",
        " +",
        r"(\w)\1",
        r"\b",
    ];
    let regex = |source| SearchPattern::Regex(Regex::new(source, Dialect::Oniguruma).unwrap());
    let literals = [" ", "a", "▁", "ab", "", "\u{301}"];
    let literals = literals.map(|text| SearchPattern::Literal(text.to_owned()));
    regexes.map(regex).into_iter().chain(literals).collect()
});

static NAMED: LazyLock<Vec<PreTokenizer>> = LazyLock::new(|| {
    named::NAMED
        .iter()
        .map(named::Named::pre_tokenizer)
        .collect()
});

static MAP: LazyLock<Charsmap> = LazyLock::new(|| Charsmap::new(CHARSMAP).unwrap());

type Chosen<T> = Result<T, Unfit>;

/// Why an input is no tokenizer: its choices do not fit together.
struct Unfit;

impl From<arbitrary::Error> for Unfit {
    fn from(_: arbitrary::Error) -> Self {
        Self
    }
}

impl From<Error> for Unfit {
    fn from(_: Error) -> Self {
        Self
    }
}

fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte.checked_sub(0x80) {
            None => text.push(char::from(byte)),
            Some(part) => text.extend(PARTS.split('|').cycle().nth(part.into())),
        }
    }
    text
}

/// As many of `one` as the input says.
fn some<T>(
    input: &mut Unstructured<'_>,
    most: usize,
    one: impl Fn(&mut Unstructured<'_>) -> Chosen<T>,
) -> Chosen<Vec<T>> {
    let count = input.int_in_range(0..=most)?;
    (0..count).map(|_| one(input)).collect()
}

fn spelling(input: &mut Unstructured<'_>) -> Chosen<String> {
    let length = input.int_in_range(1..=4)?;
    Ok(text(input.bytes(length)?))
}

fn pattern(input: &mut Unstructured<'_>) -> Chosen<SearchPattern> {
    Ok(input.choose(&PATTERNS)?.clone())
}

fn normalizer(input: &mut Unstructured<'_>) -> Chosen<Normalizer> {
    Ok(match input.int_in_range(0..=12)? {
        0 => Normalizer::Nfc,
        1 => Normalizer::Nfd,
        2 => Normalizer::Nfkc,
        3 => Normalizer::Nfkd,
        4 => Normalizer::Lowercase,
        5 => Normalizer::StripAccents,
        6 => Normalizer::Strip {
            left: input.arbitrary()?,
            right: input.arbitrary()?,
        },
        7 => Normalizer::Nmt,
        8 => Normalizer::Replace {
            pattern: pattern(input)?,
            content: [" ", "▁", "", "ab", "e\u{301}"][input.choose_index(5)?].to_owned(),
        },
        9 => Normalizer::Prepend {
            prefix: spelling(input)?,
        },
        10 => Normalizer::Precompiled(MAP.clone()),
        11 => Normalizer::Bert {
            clean_text: input.arbitrary()?,
            handle_chinese_chars: input.arbitrary()?,
            strip_accents: input.arbitrary()?,
            lowercase: input.arbitrary()?,
        },
        _ => Normalizer::ByteLevel,
    })
}

fn pre_tokenizer(input: &mut Unstructured<'_>) -> Chosen<PreTokenizer> {
    Ok(match input.int_in_range(0..=12)? {
        0 => PreTokenizer::ByteLevel {
            add_prefix_space: input.arbitrary()?,
            trim_offsets: input.arbitrary()?,
            use_regex: input.arbitrary()?,
            printable: input.arbitrary()?,
        },
        1 => PreTokenizer::Bert,
        2 => PreTokenizer::Metaspace {
            replacement: *input.choose(&['▁', ' ', 'a'])?,
            prepend_scheme: *input.choose(&SCHEMES)?,
            split: input.arbitrary()?,
        },
        3 => PreTokenizer::Whitespace,
        4 => PreTokenizer::WhitespaceSplit,
        5 => PreTokenizer::CharDelimiterSplit {
            delimiter: *input.choose(&['e', ' ', '中'])?,
        },
        6 => PreTokenizer::Split {
            pattern: pattern(input)?,
            behavior: *input.choose(&BEHAVIORS)?,
            invert: input.arbitrary()?,
        },
        7 => PreTokenizer::Punctuation {
            behavior: *input.choose(&BEHAVIORS)?,
        },
        8 => PreTokenizer::Digits {
            individual_digits: input.arbitrary()?,
        },
        9 => PreTokenizer::UnicodeScripts,
        10 => PreTokenizer::FixedLength {
            length: input.int_in_range(1..=9)?,
        },
        11 => PreTokenizer::Matches {
            pattern: pattern(input)?,
        },
        _ => input.choose(&NAMED)?.clone(),
    })
}

fn decoder(input: &mut Unstructured<'_>) -> Chosen<Decoder> {
    Ok(match input.int_in_range(0..=8)? {
        0 => Decoder::ByteLevel {
            printable: input.arbitrary()?,
        },
        1 => Decoder::WordPiece {
            prefix: "##".to_owned(),
            cleanup: input.arbitrary()?,
        },
        2 => Decoder::Metaspace {
            replacement: '▁',
            prepend_scheme: *input.choose(&SCHEMES)?,
            split: true,
        },
        3 => Decoder::Bpe {
            suffix: spelling(input)?,
        },
        4 => Decoder::ByteFallback,
        5 => Decoder::Fuse,
        6 => Decoder::Strip {
            content: *input.choose(&[' ', 'a', '▁'])?,
            start: input.int_in_range(0..=2)?,
            stop: input.int_in_range(0..=2)?,
        },
        7 => Decoder::Replace {
            pattern: pattern(input)?,
            content: spelling(input)?,
        },
        _ => Decoder::Ctc {
            pad_token: "a".to_owned(),
            word_delimiter_token: "▁".to_owned(),
            cleanup: input.arbitrary()?,
        },
    })
}

/// What a vocabulary holds, each once, `<unk>` first.
fn vocabulary(input: &mut Unstructured<'_>, bytes: bool) -> Chosen<Vec<String>> {
    let mut tokens = vec!["<unk>".to_owned()];
    if bytes {
        tokens.extend((0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")));
    }
    tokens.extend(CHARACTERS.chars().map(String::from));
    tokens.extend(some(input, 24, spelling)?);
    let mut seen = HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    Ok(tokens)
}

fn numbered<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = T>) -> Chosen<Vocab> {
    Ok(Vocab::new(tokens.into_iter().zip(0..))?)
}

fn score(input: &mut Unstructured<'_>) -> Chosen<f32> {
    let score: i8 = input.arbitrary()?;
    Ok(f32::from(score) * [0.25, 1.0, 4096.0][input.choose_index(3)?])
}

fn bpe(input: &mut Unstructured<'_>) -> Chosen<Bpe> {
    let alphabet = if input.arbitrary()? {
        Alphabet::Bytes
    } else {
        Alphabet::Characters
    };
    let byte_fallback = input.arbitrary()?;
    let mut tokens: Vec<Vec<u8>> = match alphabet {
        Alphabet::Bytes => (0..=u8::MAX).map(|byte| vec![byte]).collect(),
        Alphabet::Characters => {
            let tokens = vocabulary(input, byte_fallback)?;
            tokens.into_iter().map(String::into_bytes).collect()
        }
    };
    let pairs = some(input, 24, |input| {
        Ok((input.arbitrary::<u8>()?, input.arbitrary::<u8>()?))
    })?;
    let mut merges = Vec::new();
    for (left, right) in pairs {
        // From the last on, so that those that were merged are near.
        let [left, right] = [left, right].map(|back| {
            let back = usize::from(back) % tokens.len();
            tokens[tokens.len() - 1 - back].clone()
        });
        let merged = [left.clone(), right.clone()].concat();
        // Doubled each time, it would have megabytes.
        if merged.len() > LONGEST {
            continue;
        }
        if !tokens.contains(&merged) {
            tokens.push(merged);
        }
        if !merges.contains(&(left.clone(), right.clone())) {
            merges.push((left, right));
        }
    }
    tokens.extend(some(input, 3, |input| Ok(spelling(input)?.into_bytes()))?);
    let mut seen = HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    let vocab = numbered(tokens)?;
    if alphabet == Alphabet::Bytes && input.arbitrary()? {
        return Ok(Bpe::by_ranks(vocab)?);
    }
    let options = BpeOptions {
        alphabet,
        unk_token: input.arbitrary::<bool>()?.then(|| "<unk>".to_owned()),
        fuse_unk: input.arbitrary()?,
        byte_fallback,
        ignore_merges: input.arbitrary()?,
        end_of_word_suffix: input.ratio(1, 8)?.then(|| "a".to_owned()),
        ..BpeOptions::default()
    };
    Ok(Bpe::by_merges(vocab, merges, options)?)
}

fn model(input: &mut Unstructured<'_>) -> Chosen<Model> {
    Ok(match input.int_in_range(0..=5)? {
        0 | 1 => Model::Bpe(bpe(input)?),
        2 => {
            let tokens = vocabulary(input, false)?;
            let inner = tokens.iter().map(|token| format!("##{token}"));
            let inner: Vec<String> = inner.filter(|it| !tokens.contains(it)).collect();
            let vocab = numbered(tokens.into_iter().chain(inner))?;
            let most = input.int_in_range(1..=20)?;
            Model::WordPiece(WordPiece::new(vocab, "<unk>", "##", most))
        }
        3 => Model::WordLevel(WordLevel::new(
            numbered(vocabulary(input, false)?)?,
            "<unk>",
        )),
        4 => {
            let byte_fallback = input.arbitrary()?;
            let mut pieces = Vec::new();
            for token in vocabulary(input, byte_fallback)? {
                pieces.push((token, f64::from(score(input)?)));
            }
            let unk = input.arbitrary::<bool>()?.then_some(0);
            Model::Unigram(Unigram::new(pieces, unk, byte_fallback)?)
        }
        _ => {
            let tokens = CHARACTERS.chars().skip(5).map(String::from);
            let vocab = numbered(["<unk>".to_owned()].into_iter().chain(tokens))?;
            let unk = input.arbitrary::<bool>()?.then_some(0);
            Model::Characters(Characters::new(vocab, unk)?)
        }
    })
}

fn sentencepiece_model(input: &mut Unstructured<'_>) -> Chosen<Stages> {
    let algorithm = *input.choose(&[
        Algorithm::Unigram,
        Algorithm::Bpe,
        Algorithm::Word,
        Algorithm::Char,
    ])?;
    let byte_fallback = input.arbitrary()?;
    let mut pieces = vec![Piece::new("<s>", 0.0, PieceKind::Control)];
    for token in vocabulary(input, byte_fallback)? {
        let kind = match token.as_str() {
            "<unk>" => PieceKind::Unknown,
            "<s>" => continue,
            token if token.starts_with("<0x") && token.len() == 6 => PieceKind::Byte,
            _ if input.ratio(1, 16)? => PieceKind::UserDefined,
            _ if input.ratio(1, 16)? => PieceKind::Unused,
            _ => PieceKind::Normal,
        };
        pieces.push(Piece::new(token, score(input)?, kind));
    }
    let trainer = TrainerSpec {
        algorithm,
        byte_fallback,
        treat_whitespace_as_suffix: input.ratio(1, 4)?,
        ..TrainerSpec::default()
    };
    let normalizer = NormalizerSpec {
        precompiled_charsmap: if input.arbitrary()? {
            CHARSMAP.to_vec()
        } else {
            Vec::new()
        },
        add_dummy_prefix: input.arbitrary()?,
        remove_extra_whitespaces: input.arbitrary()?,
        escape_whitespaces: !input.ratio(1, 4)?,
        ..NormalizerSpec::default()
    };
    Ok(sentencepiece::stages(ModelProto::new(
        pieces, trainer, normalizer,
    ))?)
}

fn stages(input: &mut Unstructured<'_>) -> Chosen<Stages> {
    let mut stages = if input.ratio(1, 4)? {
        sentencepiece_model(input)?
    } else {
        let mut stages = Stages::of_model(model(input)?);
        stages.normalizer = match &some(input, 3, normalizer)?[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Normalizer::Sequence(several.to_vec())),
        };
        stages.pre_tokenizer = match &some(input, 3, pre_tokenizer)?[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(PreTokenizer::Sequence(several.to_vec())),
        };
        stages.decoder = match &some(input, 3, decoder)?[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Decoder::Sequence(several.to_vec())),
        };
        stages
    };
    let mut added = HashSet::new();
    for content in some(input, 3, spelling)? {
        let known = stages.model.vocab().id(content.as_bytes());
        let number = 5_000 + stages.added_tokens.len() as u32;
        if added.insert(content.clone()) {
            stages.added_tokens.push(AddedToken {
                id: known.unwrap_or(number),
                content,
                special: input.arbitrary()?,
                single_word: input.arbitrary()?,
                lstrip: input.arbitrary()?,
                rstrip: input.arbitrary()?,
                normalized: input.arbitrary()?,
            });
        }
    }
    let end = |name: &str, id| (name.to_owned(), id);
    stages.post_processor = match input.int_in_range(0..=3)? {
        0 => Some(PostProcessor::Bert {
            sep: end("<sep>", 7),
            cls: end("<cls>", 8),
        }),
        1 => Some(PostProcessor::Roberta {
            sep: end("<sep>", 7),
            cls: end("<cls>", 8),
            trim_offsets: input.arbitrary()?,
            add_prefix_space: input.arbitrary()?,
        }),
        _ => None,
    };
    Ok(stages)
}

fn options(input: &mut Unstructured<'_>) -> Chosen<EncodeOptions> {
    let sampling = Sampling {
        seed: Some(1),
        ..Sampling::default()
    };
    Ok(EncodeOptions {
        special: match input.int_in_range(0..=5)? {
            0 => SpecialPolicy::Raise,
            1 => SpecialPolicy::Only(["<s>".to_owned()].into()),
            2 | 3 => SpecialPolicy::Allow,
            _ => SpecialPolicy::Ignore,
        },
        add_special_tokens: input.arbitrary()?,
        sampling: match input.int_in_range(0..=15)? {
            0 => Sampling {
                dropout: Some(0.5),
                ..sampling
            },
            1 => Sampling {
                alpha: Some(0.5),
                ..sampling
            },
            2 => Sampling {
                alpha: Some(0.5),
                nbest_size: Some(3),
                ..sampling
            },
            _ => Sampling::default(),
        },
        unit: if input.arbitrary()? {
            Unit::Bytes
        } else {
            Unit::Characters
        },
    })
}

/// What a call gives, or the kind of its error.
fn told<T>(result: Result<T, Error>) -> Result<T, ErrorKind> {
    result.map_err(|error| error.kind())
}

fn same<T: PartialEq + Debug>(
    way: &str,
    found: &T,
    expected: &T,
    tokenizer: &Tokenizer,
    text: &str,
) {
    let stages = tokenizer.stages();
    assert!(
        found == expected,
        "{way}: {stages:?}\n{text:?}\ngives {found:?},\n  not {expected:?}"
    );
}

fn agree(input: &mut Unstructured<'_>) -> Chosen<()> {
    let tokenizer = Tokenizer::new(stages(input)?)?;
    let options = options(input)?;
    let is_long = input.arbitrary::<u8>()? == u8::MAX;
    let mut text = text(input.bytes(input.len())?);
    if is_long && !text.is_empty() {
        text = text.repeat(PARTED / text.len() + 1);
    }
    ways(&tokenizer, &text, &options);
    Ok(())
}

fn ways(tokenizer: &Tokenizer, text: &str, options: &EncodeOptions) {
    let encoding = told(tokenizer.encode(text, None, options));
    let ids = encoding.as_ref().map(|encoding| encoding.ids.clone());
    let ids = ids.map_err(|&kind| kind);
    let count = ids.as_ref().map(Vec::len).map_err(|&kind| kind);
    let check = |way, found| same(way, &found, &ids, tokenizer, text);
    let check_count = |way, found| same(way, &found, &count, tokenizer, text);
    let is_long = text.len() >= PARTED;
    let threads = 1 + usize::from(is_long);
    let never = AtomicBool::new(false);
    let alone = |(_, error)| error;
    let batch = tokenizer.encode_batch(&[text], options, threads, &never);
    check("batch", told(batch.map(|batch| batch.ids).map_err(alone)));
    let counts = tokenizer.count_batch(&[text], options, threads, &never);
    check_count(
        "counts",
        told(counts.map(|counts| counts[0]).map_err(alone)),
    );
    if is_long {
        return;
    }
    // Twice: words that are new, and words that were seen.
    for way in ["ids", "ids again"] {
        check(way, told(tokenizer.encode_ids(text, options)));
    }
    check_count("count", told(tokenizer.count(text, options)));
    let image = snapshot::write(tokenizer.stages()).expect("every tokenizer has an image");
    let again = snapshot::read(&image).and_then(Tokenizer::new);
    let again = again.expect("every image is read");
    check("image", told(again.encode_ids(text, options)));
    let (Ok(encoding), Ok(ids)) = (&encoding, &ids) else {
        return;
    };
    for most in [0, ids.len() / 2, ids.len().saturating_sub(1), ids.len()] {
        let exceeds = told(tokenizer.exceeds(text, most, options));
        same("exceeds", &exceeds, &Ok(ids.len() > most), tokenizer, text);
    }
    let end = match options.unit {
        Unit::Characters => text.chars().count(),
        Unit::Bytes => text.len(),
        Unit::Utf16 => text.encode_utf16().count(),
    };
    for span in &encoding.spans {
        assert!(
            span.start <= span.end && span.end <= end,
            "{:?}\n{text:?}\ngives {span:?}",
            tokenizer.stages()
        );
    }
    decode(tokenizer, ids, text);
}

/// One by one and by a table, which many ids make pay, ids are the same text.
fn decode(tokenizer: &Tokenizer, ids: &[u32], text: &str) {
    let all = || {
        [false, true].map(|skip| {
            let bytes = told(tokenizer.decode_bytes(ids, &skip.into()));
            (
                told(tokenizer.decode(ids, &skip.into(), InvalidUtf8::Replace)),
                bytes,
            )
        })
    };
    let decoded = all();
    let _ = tokenizer.decode(
        &ids.repeat(1_100 / ids.len().max(1) + 1),
        &false.into(),
        InvalidUtf8::Replace,
    );
    same("decode", &all(), &decoded, tokenizer, text);
}

fuzz_target!(|data: &[u8]| {
    // An input whose choices do not fit together is not of interest.
    let _ = agree(&mut Unstructured::new(data));
});
