//! The names that llama.cpp has for ways to split text: each known one with its expressions, and those refused.

use super::Pre;
use jeton_stages::pre_tokenizer::named::{DEEPSEEK_LETTERS, FALCON, GPT2_ORIGINAL, STARCODER};

/// Names that no stages here can reproduce, each with the reason.
pub const REFUSED: &[(&str, &str)] = &[
    ("gemma4", GEMMA),
    ("granite-embed-multi-311m", GEMMA),
    (
        "whitespace",
        "drops white space, and merges characters that no byte stands for",
    ),
];

const GEMMA: &str = "takes runs of line feeds whole, and merges all else, which no model here does";

macro_rules! contractions {
    () => {
        r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
    };
}

macro_rules! cl100k_like {
    ($numbers:literal) => {
        concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|",
            $numbers,
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}

/// Words whose letters go from upper to lower case, where `$upper` and `$lower` are classes.
macro_rules! o200k_like {
    ($upper:literal, $lower:literal, $end:expr, $numbers:literal) => {
        concat!(
            r"[^\r\n\p{L}\p{N}]?",
            $upper,
            "*",
            $lower,
            "+",
            $end,
            r"|[^\r\n\p{L}\p{N}]?",
            $upper,
            "+",
            $lower,
            "*",
            $end,
            "|",
            $numbers,
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
}

macro_rules! maybe_contraction {
    () => {
        concat!(contractions!(), "?")
    };
}

/// Letters with their marks, and signs, as DeepSeek V3 and similar models split them.
macro_rules! deepseek_like {
    ($after_signs:literal) => {
        concat!(
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
            r"| ?[\p{P}\p{S}]+",
            $after_signs,
            r"|\s+(?!\S)|\s+"
        )
    };
}

const LLAMA3: &str = cl100k_like!(r"\p{N}{1,3}");
const QWEN2: &str = cl100k_like!(r"\p{N}");
const O200K: &str = o200k_like!(
    r"[^\P{L}a-z]",
    r"[^\P{L}A-Z]",
    maybe_contraction!(),
    r"\p{N}{1,3}"
);
const CJK: &str = "[一-龥\u{3040}-ゟ゠-ヿ]+";
const BLOOM: &str = " ?[^(\\s|.,!?…。，、।۔،)]+";
const LINES: &str = r"[^\n]+|[\n]+";

/// Signs, and scripts without case, in DeepSeek's first models. In an expression without a Unicode class,
/// llama.cpp matches white space beyond ASCII by `\s` only.
const DEEPSEEK_SIGNS: &str = r"\s?[!-/:-~！-／：-～‘-‟、-。]+";
const DEEPSEEK_CJK: &str = r"[一-龥\x{800}-一가-\x{D7FF}&&\S]+";

/// Jais 2 splits white space into runs whose lengths are powers of two.
const JAIS2: &str = concat!(
    contractions!(),
    r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
    r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)",
    r"|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
);

/// The Han characters of Kimi K2.
macro_rules! han {
    () => {
        r"\x{3400}-\x{4DBF}\x{4E00}-\x{9FFF}\x{F900}-\x{FAFF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2EBEF}\x{2F800}-\x{2FA1F}"
    };
}

const KIMI: &str = concat!(
    "[",
    han!(),
    r"]+|[^\r\n\p{L}\p{N}]?[\p{L}&&[^",
    han!(),
    "]]+",
    maybe_contraction!(),
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// How splits differ from those of the pattern in `meant`.
const CONTRACTIONS: &str = "the long s (U+017F) as an s after an apostrophe";
const CASES: &str = "the case of letters beyond ASCII, at which llama.cpp splits no word";

/// All ways to split text that jeton knows.
pub const PRES: &[Pre] = &[
    Pre::new(
        &[
            "gpt-2",
            "phi-2",
            "jina-es",
            "jina-de",
            "gigachat",
            "jina-v2-es",
            "jina-v2-de",
            "a.x-4.0",
            "mellum",
            "modern-bert",
            "exaone4",
            "mpt",
            "olmo",
            "jais",
            "trillion",
            "granite-docling",
            "jina-v1-en",
            "jina-v2-code",
            "roberta-bpe",
        ],
        &[GPT2_ORIGINAL],
        None,
    ),
    Pre::new(
        &[
            "llama-bpe",
            "llama3",
            "llama-v3",
            "falcon3",
            "falcon-h1",
            "pixtral",
            "midm-2.0",
            "lfm2",
            "jina-v5-nano",
        ],
        &[LLAMA3],
        Some(("llama3", CONTRACTIONS)),
    )
    .ignoring_merges()
    .with_bos(),
    Pre::new(
        &["dbrx", "smaug-bpe", "glm4", "chatglm-bpe"],
        &[LLAMA3],
        Some(("llama3", CONTRACTIONS)),
    ),
    Pre::new(
        &[
            "qwen2",
            "deepseek-r1-qwen",
            "kormo",
            "f2llmv2",
            "megrez",
            "stablelm2",
            "hunyuan",
            "solar-open",
            "grok-2",
        ],
        &[QWEN2],
        Some(("qwen2", CONTRACTIONS)),
    ),
    Pre::new(
        &["qwen35"],
        &[concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
        Some(("qwen3.5", CONTRACTIONS)),
    ),
    Pre::new(
        &["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"],
        &[O200K],
        Some(("o200k", CASES)),
    ),
    Pre::new(
        &["tekken"],
        &[o200k_like!(r"[^\P{L}a-z]", r"[^\P{L}A-Z]", "", r"\p{N}")],
        Some(("tekken", CASES)),
    )
    .ignoring_merges()
    .with_bos(),
    Pre::new(
        &["granite-embed-multi-97m"],
        &[o200k_like!(
            r"[\p{L}\p{M}&&[^a-z]]",
            r"[\p{L}\p{M}&&[^A-Z]]",
            maybe_contraction!(),
            r"\p{N}{1,3}"
        )],
        None,
    )
    .ignoring_merges(),
    Pre::new(
        &["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
        &[r"\p{N}{1,3}", CJK, deepseek_like!(r"[\r\n]*|\s*[\r\n]+")],
        None,
    ),
    Pre::new(
        &["spark2_5"],
        &[r"\p{N}{1,3}", CJK, deepseek_like!(r"|[\r\n]"), r"\p{N}"],
        None,
    ),
    Pre::new(
        &["afmoe"],
        &[
            // What is in front of a number goes with its first digits, until the next stage.
            r"\P{N}*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
            "[一-鿿㐀-䶿\u{8c48}-\u{faff}\u{3040}-ゟ゠-ヿ･-ﾟ⼀-\u{2fdf}\u{e40}-\u{e7f}\u{e80}-\u{eff}ក-\u{17ff}က-႟ꩠ-\u{aa7f}ꧠ-\u{a9ff}가-\u{d7af}ᄀ-ᇿ]+",
            deepseek_like!(r"[\r\n]*|\s*[\r\n]+"),
        ],
        None,
    ),
    Pre::new(
        &["deepseek-llm"],
        &[
            r"[\r\n]",
            DEEPSEEK_LETTERS,
            DEEPSEEK_SIGNS,
            r"\s+\z",
            DEEPSEEK_CJK,
            r"\p{N}+",
        ],
        None,
    ),
    Pre::new(
        &["deepseek-coder"],
        &[
            r"[\r\n]",
            r"\s?\p{L}+",
            r"\s?\p{P}+",
            DEEPSEEK_CJK,
            r"\p{N}",
        ],
        None,
    ),
    Pre::new(&["falcon"], FALCON, None),
    Pre::new(
        &[
            "starcoder",
            "refact",
            "command-r",
            "smollm",
            "codeshell",
            "exaone",
            "minerva-7b",
            "mellum2",
        ],
        STARCODER,
        None,
    ),
    Pre::new(&["bloom", "poro-chat", "gpt3-finnish"], &[BLOOM], None),
    Pre::new(&["viking"], &[BLOOM, r"\p{N}"], None),
    Pre::new(&["jais-2"], &[JAIS2], None),
    Pre::new(
        &["chameleon"],
        &[
            "<sentinel:[0-9]+>",
            "(?:IMGIMG)(?:[A-I]{1,4})Z",
            r"[\t\n]|    |  ",
            r"\p{N}",
            r"[\p{P}!-/:-@\[-`{-~]",
            GPT2_ORIGINAL,
        ],
        None,
    )
    .with_bos(),
    Pre::new(
        &["youtu"],
        &[
            "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u{3040}-ゟ゠-ヿ]+",
            o200k_like!(
                r"[\p{L}\p{M}]",
                r"[\p{L}\p{M}]",
                maybe_contraction!(),
                r"\p{N}"
            ),
        ],
        None,
    )
    .ignoring_merges(),
    Pre::new(
        &["tiny_aya", "cohere2moe"],
        &[o200k_like!(
            r"[\p{L}\p{M}]",
            r"[\p{L}\p{M}]",
            maybe_contraction!(),
            r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
        )],
        None,
    ),
    Pre::new(&["kimi-k2"], &[KIMI], None),
    Pre::new(
        &["superbpe"],
        &[r"\p{N}+", "(?=(?:[0-9]{3})+(?![0-9]))"],
        None,
    ),
    Pre::new(
        &["bailingmoe", "bailingmoe2", "llada-moe"],
        &[concat!(
            r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
        )],
        None,
    ),
    Pre::new(
        &["seed-coder"],
        &[concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
        None,
    ),
    Pre::new(
        &["ufakzeka"],
        &[r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"],
        None,
    ),
    Pre::new(&["laguna"], &[LINES, QWEN2], None),
    Pre::new(
        &["exaone-moe"],
        &[concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        )],
        None,
    ),
    Pre::new(
        &["minicpm5"],
        &[r"\p{N}{1,3}", cl100k_like!(r"\p{N}+")],
        None,
    )
    .ignoring_merges(),
    Pre::new(&["sarvam-moe"], &[LINES], None).of_text(),
    Pre::new(
        &["default"],
        &[
            r"[\p{P}\$\+<=>\^~\|]+",
            GPT2_ORIGINAL,
            r"\p{N}+",
            "[0-9][0-9][0-9]",
        ],
        None,
    ),
];
