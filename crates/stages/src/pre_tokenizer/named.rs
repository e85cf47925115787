//! Pre-tokenizers that are known by name: the split patterns of well-known models.
//!
//! Look here for what `pattern="gpt4"` means. The expressions are as their publishers wrote
//! them; each runs in the dialect of the library it was written for.

use super::{PreTokenizer, SplitBehavior};
use jeton_text::error::{Error, ErrorKind, Result, did_you_mean};
use jeton_text::pattern::{Dialect, Regex, SearchPattern};

/// A way to split text that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it is called here.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Who published it, and where.
    pub origin: &'static str,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The matches of an expression in tiktoken's dialect are the pieces.
    Matches(&'static str),
    /// Split at the matches of expressions in Oniguruma's dialect, one after another.
    Splits(&'static [&'static str]),
    /// The runs of anything but white space are the pieces.
    WhitespaceSplit,
    /// The whole text is one piece.
    Whole,
}

impl Named {
    /// The pre-tokenizer; its pieces hold text, so a byte-level model follows it as it is.
    pub fn pre_tokenizer(&self) -> PreTokenizer {
        let known = |source, dialect| SearchPattern::Regex(Regex::known(source, dialect));
        match self.rule {
            Rule::Matches(source) => PreTokenizer::Matches {
                pattern: known(source, Dialect::Tiktoken),
            },
            Rule::Splits([source]) => split(source),
            Rule::Splits(sources) => {
                PreTokenizer::Sequence(sources.iter().map(|source| split(source)).collect())
            }
            Rule::WhitespaceSplit => PreTokenizer::WhitespaceSplit,
            Rule::Whole => PreTokenizer::Sequence(Vec::new()),
        }
    }

    /// The stage of one of its expressions.
    fn stage_of(&self, expression: &str) -> Option<PreTokenizer> {
        match self.rule {
            Rule::Matches(source) => (source == expression).then(|| self.pre_tokenizer()),
            Rule::Splits(sources) => {
                let source = sources.iter().find(|source| **source == expression)?;
                Some(split(source))
            }
            Rule::WhitespaceSplit | Rule::Whole => None,
        }
    }

    /// The expressions, and the dialect they are written in; none where no expression splits.
    pub fn sources(&self) -> (Vec<&'static str>, Dialect) {
        match self.rule {
            Rule::Matches(source) => (vec![source], Dialect::Tiktoken),
            Rule::Splits(sources) => (sources.to_vec(), Dialect::Oniguruma),
            Rule::WhitespaceSplit | Rule::Whole => (Vec::new(), Dialect::Tiktoken),
        }
    }

    /// The one expression of Oniguruma that splits every text alike, where there is one.
    ///
    /// Such expressions match every character, so that nothing lies between matches. Oniguruma has
    /// no possessive `{1,3}+`, and its `$` is the end of a line, so some are written again here.
    pub fn in_oniguruma(&self) -> Option<&'static str> {
        match (self.name, self.rule) {
            ("gpt2", _) => Some(GPT2_ORIGINAL),
            ("cl100k", _) => Some(CL100K_ONIGURUMA),
            (_, Rule::Matches(source) | Rule::Splits(&[source])) => Some(source),
            _ => None,
        }
    }
}

/// The stage of an expression that was published for Oniguruma.
pub fn split(source: &'static str) -> PreTokenizer {
    PreTokenizer::Split {
        pattern: SearchPattern::Regex(Regex::known(source, Dialect::Oniguruma)),
        behavior: SplitBehavior::Isolated,
        invert: false,
    }
}

/// The way to split text that is called `name`, in any case.
///
/// ```
/// use jeton_stages::pre_tokenizer::named;
///
/// assert_eq!(named::find("GPT4")?.name, "cl100k");
/// let error = named::find("gtp4").unwrap_err();
/// assert!(error.to_string().contains("did you mean \"gpt4\"?"));
/// # Ok::<(), jeton_text::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] where there is none, with the name that may be meant.
pub fn find(name: &str) -> Result<&'static Named> {
    let names =
        |known: &'static Named| std::iter::once(known.name).chain(known.aliases.iter().copied());
    if let Some(found) = NAMED
        .iter()
        .find(|known| names(known).any(|other| other.eq_ignore_ascii_case(name)))
    {
        return Ok(found);
    }
    let error = Error::new(
        ErrorKind::Argument,
        format!("no pattern is called {name:?}"),
    );
    Err(match did_you_mean(name, NAMED.iter().flat_map(names)) {
        Some(meant) => error.hint(format!("did you mean {meant:?}?")),
        None => {
            let known: Vec<_> = NAMED.iter().map(|known| known.name).collect();
            error.hint(format!("known names: {}", known.join(", ")))
        }
    })
}

/// The way to split text whose pieces are the matches of this one expression, and that leaves nothing
/// between them.
pub fn of_regex(regex: &Regex) -> Option<&'static Named> {
    let source = spelled(regex);
    NAMED.iter().find(|named| {
        let (sources, dialect) = named.sources();
        let as_published = dialect == regex.dialect() && sources == [&*source];
        as_published || named.in_oniguruma() == Some(&*source)
    })
}

/// The name of the known pattern whose matches are the pieces.
pub fn name_of(pre_tokenizer: &PreTokenizer) -> Option<&'static str> {
    match pre_tokenizer {
        PreTokenizer::Matches {
            pattern: SearchPattern::Regex(regex),
        }
        | PreTokenizer::Split {
            pattern: SearchPattern::Regex(regex),
            behavior: SplitBehavior::Isolated,
            invert: false,
        } => of_regex(regex).map(|named| named.name),
        PreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex: true,
            printable: false,
            ..
        } => Some("gpt2"),
        _ => None,
    }
}

/// The way to split text by these expressions, one after another.
pub fn of_splits(regexes: &[&Regex]) -> Option<&'static Named> {
    NAMED.iter().find(|named| match named.rule {
        Rule::Splits(sources) => {
            let same = |(source, regex): (&&str, &&Regex)| {
                regex.dialect() == Dialect::Oniguruma && spelled(regex) == **source
            };
            sources.len() == regexes.len() && sources.iter().zip(regexes).all(same)
        }
        _ => false,
    })
}

/// An expression with its newlines written as escapes, as some files do not.
fn spelled(regex: &Regex) -> String {
    regex.source().replace('\r', r"\r").replace('\n', r"\n")
}

/// The pre-tokenizer of this name, or of an expression that a name has; of any other regular expression, as
/// tiktoken reads it.
///
/// # Errors
/// A word that is no known name; an expression that the dialect does not accept.
pub fn from_pattern(pattern: &str) -> Result<PreTokenizer> {
    // A word alone is a name: as an expression it would find itself and drop all other text.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    match find(pattern) {
        Ok(named) => Ok(named.pre_tokenizer()),
        Err(error) if pattern.len() > 1 && pattern.bytes().all(is_name) => Err(error),
        Err(_) if pattern.is_empty() => Err(Error::new(
            ErrorKind::Argument,
            "the pattern is empty: it finds no piece, and no text would become tokens",
        )
        .hint("give the name of a known one, such as \"gpt4\", or a regular expression")),
        // An expression that was published for Oniguruma means there what its name does.
        Err(_) => match NAMED.iter().find_map(|named| named.stage_of(pattern)) {
            Some(known) => Ok(known),
            None => Ok(PreTokenizer::Matches {
                pattern: SearchPattern::Regex(Regex::new(pattern, Dialect::Tiktoken)?),
            }),
        },
    }
}

/// GPT-2's expression as GPT-2's own code writes it. The byte-level pre-tokenizer of Hugging Face
/// `tokenizers` splits by it; tiktoken writes the same rule in another way.
pub const GPT2_ORIGINAL: &str =
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// cl100k's expression without what Oniguruma reads otherwise.
const CL100K_ONIGURUMA: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s";

/// Letters of the scripts that have case, as DeepSeek's first models list them.
pub const DEEPSEEK_LETTERS: &str = concat!(
    r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅ",
    "Ὀ-Ὅὐ-ὗὙὛὝ\u{1F5F}-\u{1F7D}ᾀ-ᾴᾶ-ᾼ\u{1FBE}ῂ-ῄῆ-ῌ\u{1FD0}-\u{1FD3}\u{1FD6}-\u{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u{2126}ℨ\u{212A}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ",
    r"Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+"
);
/// Signs, as they list them.
const DEEPSEEK_SIGNS: &str = "\\s?[!-/:-~！-／：-～‘-‟\u{3000}-。]+";
/// Scripts without case, as they list them.
const DEEPSEEK_CJK: &str = "[一-龥\u{800}-一가-\u{D7FF}]+";

/// StarCoder's expressions.
pub const STARCODER: &[&str] = &[r"\p{N}", GPT2_ORIGINAL];
/// Falcon's expressions.
pub const FALCON: &[&str] = &[r"[\p{P}\$\+<=>\^~\|`]+", GPT2_ORIGINAL, "[0-9][0-9][0-9]"];
/// BLOOM's expression.
const BLOOM: &str = " ?[^(\\s|[.,!?…。，、।۔،])]+";

/// Every way to split text that has a name.
pub const NAMED: &[Named] = &[
    Named {
        name: "gpt2",
        aliases: &[
            "r50k",
            "r50k_base",
            "p50k",
            "p50k_base",
            "p50k_edit",
            "gpt3",
            "mpt",
            "olmo",
        ],
        origin: "tiktoken: gpt2, r50k_base, p50k_base, p50k_edit",
        rule: Rule::Matches(
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        ),
    },
    Named {
        name: "cl100k",
        aliases: &["cl100k_base", "gpt4", "gpt-4", "gpt-3.5"],
        origin: "tiktoken: cl100k_base",
        rule: Rule::Matches(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
    },
    Named {
        name: "o200k",
        aliases: &[
            "o200k_base",
            "o200k_harmony",
            "gpt4o",
            "gpt-4o",
            "gpt-4.1",
            "gpt5",
            "gpt-5",
            "gpt-oss",
            "llama4",
            "minimax-m2",
        ],
        origin: "tiktoken: o200k_base, o200k_harmony; MiniMax: tokenizer.json of MiniMax-M2",
        rule: Rule::Matches(concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"|\s*[\r\n]+",
            r"|\s+(?!\S)",
            r"|\s+",
        )),
    },
    Named {
        name: "llama3",
        aliases: &[
            "llama-3", "llama3.1", "llama3.2", "llama3.3", "glm4", "glm-4", "dbrx", "smaug",
        ],
        origin: "Meta: llama3, llama/tokenizer.py; Zhipu AI: tokenizer.json of GLM-4",
        rule: Rule::Matches(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
    },
    Named {
        name: "qwen2",
        aliases: &["qwen", "qwen2.5", "qwen3"],
        origin: "Qwen: tokenizer.json of Qwen2, Qwen2.5 and Qwen3",
        rule: Rule::Splits(&[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ]),
    },
    Named {
        name: "qwen3.5",
        aliases: &["qwen3_5", "qwen-3.5"],
        origin: "Qwen: tokenizer.json of Qwen3.5",
        rule: Rule::Splits(&[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ]),
    },
    Named {
        name: "deepseek_v3",
        aliases: &["deepseek-v3", "deepseek", "deepseek-r1"],
        origin: "DeepSeek: tokenizer.json of DeepSeek-V3 and DeepSeek-R1",
        rule: Rule::Splits(&[
            r"\p{N}{1,3}",
            r"[一-龥぀-ゟ゠-ヿ]+",
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
        ]),
    },
    Named {
        name: "tekken",
        aliases: &["mistral-nemo"],
        origin: "Mistral AI: tekken.json of Mistral NeMo",
        rule: Rule::Matches(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
    },
    Named {
        name: "kimi_k2",
        aliases: &["kimi-k2", "kimi"],
        origin: "Moonshot AI: tokenization_kimi.py of Kimi K2",
        rule: Rule::Matches(concat!(
            r"[\p{Han}]+",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+",
            r"|\s+(?!\S)",
            r"|\s+",
        )),
    },
    Named {
        name: "starcoder",
        aliases: &[
            "command-r",
            "granite",
            "refact",
            "smollm",
            "codeshell",
            "exaone",
            "minerva",
        ],
        origin: "BigCode: tokenizer.json of StarCoder; llama.cpp: starcoder, command-r, exaone",
        rule: Rule::Splits(STARCODER),
    },
    Named {
        name: "falcon",
        aliases: &[],
        origin: "llama.cpp: falcon",
        rule: Rule::Splits(FALCON),
    },
    Named {
        name: "bloom",
        aliases: &["poro", "gpt3-finnish"],
        origin: "BigScience: tokenizer.json of BLOOM",
        rule: Rule::Splits(&[BLOOM]),
    },
    Named {
        name: "viking",
        aliases: &[],
        origin: "SiloGen: tokenizer.json of Viking; llama.cpp: viking",
        rule: Rule::Splits(&[BLOOM, r"\p{N}"]),
    },
    Named {
        name: "deepseek_coder",
        aliases: &["deepseek-coder"],
        origin: "DeepSeek: tokenizer.json of DeepSeek Coder; llama.cpp: deepseek-coder",
        rule: Rule::Splits(&[
            r"[\r\n]",
            r"\s?\p{L}+",
            r"\s?\p{P}+",
            DEEPSEEK_CJK,
            r"\p{N}",
        ]),
    },
    Named {
        name: "deepseek_llm",
        aliases: &["deepseek-llm"],
        origin: "DeepSeek: tokenizer.json of DeepSeek LLM; llama.cpp: deepseek-llm",
        rule: Rule::Splits(&[
            r"[\r\n]",
            DEEPSEEK_LETTERS,
            DEEPSEEK_SIGNS,
            r"\s+\z",
            DEEPSEEK_CJK,
            r"\p{N}+",
        ]),
    },
    Named {
        name: "superbpe",
        aliases: &[],
        origin: "SuperBPE: tokenizer.json of its second stage; llama.cpp: superbpe",
        rule: Rule::Splits(&[r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    },
    Named {
        name: "whitespace",
        aliases: &["words", "spaces"],
        origin: "words as white space divides them; white space is dropped",
        rule: Rule::WhitespaceSplit,
    },
    Named {
        name: "none",
        aliases: &["whole"],
        origin: "the whole text is one piece",
        rule: Rule::Whole,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_is_valid_and_runs_in_linear_time() {
        for known in NAMED {
            let (sources, dialect) = known.sources();
            for source in sources {
                let regex = Regex::new(source, dialect).unwrap();
                assert!(regex.is_linear(), "{}: {source}", known.name);
            }
        }
        assert!(
            Regex::new(GPT2_ORIGINAL, Dialect::Oniguruma)
                .unwrap()
                .is_linear()
        );
    }

    #[test]
    fn an_expression_that_has_a_name_is_what_the_name_says() {
        for named in NAMED {
            let sources = named.sources().0;
            let mut stages: Vec<_> = (sources.iter())
                .map(|source| from_pattern(source).unwrap())
                .collect();
            match stages.len() {
                0 => {}
                1 => assert_eq!(stages.remove(0), named.pre_tokenizer(), "{}", named.name),
                _ => {
                    let found = PreTokenizer::Sequence(stages);
                    assert_eq!(found, named.pre_tokenizer(), "{}", named.name);
                }
            }
        }
    }

    #[test]
    fn no_name_is_taken_twice() {
        let mut names: Vec<_> = NAMED
            .iter()
            .flat_map(|known| known.aliases.iter().chain([&known.name]))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
