//! Published ranks: the pattern and the special tokens of a file that has neither.
//!
//! A file is recognised by its sha256 alone. Look here to add an encoding; its
//! address is in the Python package, which downloads it.

/// An encoding that was published as ranks.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// Its name.
    pub name: &'static str,
    /// The hash of its file, in hexadecimal.
    pub sha256: &'static str,
    /// The name of its pattern.
    pub pattern: &'static str,
    /// The parts that its special tokens play where it is used, as published with its models.
    pub roles: &'static [(&'static str, &'static str)],
    special_tokens: SpecialTokens,
}

/// Special tokens as they were published: some by name, some as a numbered range.
#[derive(Clone, Copy, Debug)]
struct SpecialTokens {
    named: &'static [(&'static str, u32)],
    reserved: &'static [Reserved],
}

/// `<|PREFIX_N|>`, `<|PREFIX_N+1|>`, … with consecutive ids.
#[derive(Clone, Copy, Debug)]
struct Reserved {
    prefix: &'static str,
    first_number: u32,
    first_id: u32,
    count: u32,
}

impl Encoding {
    /// Its special tokens and their ids. Where two share an id, the one that decoding gives comes
    /// first.
    pub fn special_tokens(&self) -> impl Iterator<Item = (String, u32)> {
        let SpecialTokens { named, reserved } = self.special_tokens;
        let named = named.iter().map(|(token, id)| ((*token).to_owned(), *id));
        let reserved = reserved.iter().flat_map(|range| {
            (0..range.count).map(move |n| {
                let token = format!("<|{}_{}|>", range.prefix, range.first_number + n);
                (token, range.first_id + n)
            })
        });
        named.chain(reserved)
    }
}

/// The encoding that a file with this hash is: the plainest where several share one file.
pub fn by_sha256(sha256: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.sha256 == sha256)
}

/// The encoding of this name.
pub fn by_name(name: &str) -> Option<&'static Encoding> {
    ENCODINGS.iter().find(|encoding| encoding.name == name)
}

/// Whether an encoding was published in which both of these special tokens have this id.
pub(crate) fn share_an_id(a: &str, b: &str, id: u32) -> bool {
    let has = |encoding: &Encoding, name: &str| {
        let mut tokens = encoding.special_tokens();
        tokens.any(|(token, of_token)| token == name && of_token == id)
    };
    (ENCODINGS.iter()).any(|encoding| has(encoding, a) && has(encoding, b))
}

/// The token at which a document ends.
const END: &[(&str, &str)] = &[("eos", "<|endoftext|>")];

const R50K: &str = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930";
const P50K: &str = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069";
const CL100K: &str = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7";
const O200K: &str = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d";
const LLAMA3: &str = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55";

/// Every published encoding that is known.
pub const ENCODINGS: &[Encoding] = &[
    Encoding {
        name: "r50k_base",
        sha256: R50K,
        pattern: "r50k",
        roles: END,
        special_tokens: SpecialTokens {
            named: &[("<|endoftext|>", 50256)],
            reserved: &[],
        },
    },
    Encoding {
        name: "p50k_base",
        sha256: P50K,
        pattern: "r50k",
        roles: END,
        special_tokens: SpecialTokens {
            named: &[("<|endoftext|>", 50256)],
            reserved: &[],
        },
    },
    Encoding {
        name: "p50k_edit",
        sha256: P50K,
        pattern: "r50k",
        roles: END,
        special_tokens: SpecialTokens {
            named: &[
                ("<|endoftext|>", 50256),
                ("<|fim_prefix|>", 50281),
                ("<|fim_middle|>", 50282),
                ("<|fim_suffix|>", 50283),
            ],
            reserved: &[],
        },
    },
    Encoding {
        name: "cl100k_base",
        sha256: CL100K,
        pattern: "cl100k",
        roles: END,
        special_tokens: SpecialTokens {
            named: &[
                ("<|endoftext|>", 100_257),
                ("<|fim_prefix|>", 100_258),
                ("<|fim_middle|>", 100_259),
                ("<|fim_suffix|>", 100_260),
                ("<|endofprompt|>", 100_276),
            ],
            reserved: &[],
        },
    },
    Encoding {
        name: "o200k_base",
        sha256: O200K,
        pattern: "o200k",
        roles: END,
        special_tokens: SpecialTokens {
            named: &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
            reserved: &[],
        },
    },
    Encoding {
        name: "o200k_harmony",
        sha256: O200K,
        pattern: "o200k",
        roles: &[
            ("bos", "<|startoftext|>"),
            ("eos", "<|return|>"),
            ("pad", "<|endoftext|>"),
        ],
        special_tokens: SpecialTokens {
            named: &[
                ("<|startoftext|>", 199_998),
                ("<|endoftext|>", 199_999),
                ("<|return|>", 200_002),
                ("<|constrain|>", 200_003),
                ("<|channel|>", 200_005),
                ("<|start|>", 200_006),
                ("<|end|>", 200_007),
                ("<|message|>", 200_008),
                ("<|call|>", 200_012),
                ("<|endofprompt|>", 200_018),
            ],
            reserved: &[
                Reserved {
                    prefix: "reserved",
                    first_number: 200_000,
                    first_id: 200_000,
                    count: 2,
                },
                Reserved {
                    prefix: "reserved",
                    first_number: 200_004,
                    first_id: 200_004,
                    count: 1,
                },
                Reserved {
                    prefix: "reserved",
                    first_number: 200_009,
                    first_id: 200_009,
                    count: 3,
                },
                // 200018 is <|endofprompt|> too, in the published list as well.
                Reserved {
                    prefix: "reserved",
                    first_number: 200_013,
                    first_id: 200_013,
                    count: 1075,
                },
            ],
        },
    },
    Encoding {
        name: "llama3",
        sha256: LLAMA3,
        pattern: "llama3",
        roles: &[("bos", "<|begin_of_text|>"), ("eos", "<|end_of_text|>")],
        special_tokens: SpecialTokens {
            named: &[
                ("<|begin_of_text|>", 128_000),
                ("<|end_of_text|>", 128_001),
                ("<|start_header_id|>", 128_006),
                ("<|end_header_id|>", 128_007),
                ("<|eot_id|>", 128_009),
            ],
            reserved: &[
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 0,
                    first_id: 128_002,
                    count: 4,
                },
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 4,
                    first_id: 128_008,
                    count: 1,
                },
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 5,
                    first_id: 128_010,
                    count: 246,
                },
            ],
        },
    },
    Encoding {
        name: "llama3.1",
        sha256: LLAMA3,
        pattern: "llama3",
        roles: &[
            ("bos", "<|begin_of_text|>"),
            ("eos", "<|end_of_text|>"),
            ("pad", "<|finetune_right_pad_id|>"),
        ],
        special_tokens: SpecialTokens {
            named: &[
                ("<|begin_of_text|>", 128_000),
                ("<|end_of_text|>", 128_001),
                ("<|finetune_right_pad_id|>", 128_004),
                ("<|start_header_id|>", 128_006),
                ("<|end_header_id|>", 128_007),
                ("<|eom_id|>", 128_008),
                ("<|eot_id|>", 128_009),
                ("<|python_tag|>", 128_010),
            ],
            reserved: &[
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 0,
                    first_id: 128_002,
                    count: 2,
                },
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 2,
                    first_id: 128_005,
                    count: 1,
                },
                Reserved {
                    prefix: "reserved_special_token",
                    first_number: 3,
                    first_id: 128_011,
                    count: 245,
                },
            ],
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_tokens_fill_their_ranges() {
        for (name, count, first, last) in [
            ("r50k_base", 1, 50_256, 50_256),
            ("p50k_edit", 4, 50_256, 50_283),
            ("cl100k_base", 5, 100_257, 100_276),
            ("o200k_base", 2, 199_999, 200_018),
            ("o200k_harmony", 1091, 199_998, 201_087),
            ("llama3", 256, 128_000, 128_255),
            ("llama3.1", 256, 128_000, 128_255),
        ] {
            let tokens: Vec<_> = by_name(name).unwrap().special_tokens().collect();
            assert_eq!(tokens.len(), count, "{name}");
            assert_eq!(
                tokens.iter().map(|(_, id)| *id).min(),
                Some(first),
                "{name}"
            );
            assert_eq!(tokens.iter().map(|(_, id)| *id).max(), Some(last), "{name}");
            for (role, spelled) in by_name(name).unwrap().roles {
                assert!(
                    tokens.iter().any(|(token, _)| token == spelled),
                    "{name}: {role}"
                );
            }
        }
    }

    #[test]
    fn a_shared_file_is_the_plainest_encoding() {
        assert_eq!(by_sha256(O200K).unwrap().name, "o200k_base");
        assert_eq!(by_sha256(LLAMA3).unwrap().name, "llama3");
        assert!(by_sha256("").is_none());
    }
}
