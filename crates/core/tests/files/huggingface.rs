//! `tokenizer.json`, read and written: what comes back, and what is refused and how.

use std::path::Path;

use jeton_core::format::{LoadOptions, huggingface};
use jeton_core::model::{Model, bpe::Alphabet};
use jeton_core::printable::to_char;
use jeton_core::{EncodeOptions, ErrorKind, InvalidUtf8, Stages, Tokenizer, Unit};

use crate::support::published;

const PIECE: &str = r#""add_prefix_space":false,"trim_offsets":true,"use_regex":true"#;

/// A file with every part; small enough to be split anywhere.
fn file() -> String {
    format!(
        r#"{{"version":"1.0",
        "truncation":{{"direction":"Right","max_length":10,"strategy":"LongestFirst","stride":0}},
        "padding":null,
        "added_tokens":[{{"id":3,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}}],
        "normalizer":{{"type":"Sequence","normalizers":[{{"type":"NFC"}},{{"type":"Replace","pattern":{{"Regex":"x+"}},"content":"y"}}]}},
        "pre_tokenizer":{{"type":"Sequence","pretokenizers":[{{"type":"Split","pattern":{{"String":"-"}},"behavior":"Isolated","invert":false}},{{"type":"ByteLevel",{PIECE}}}]}},
        "post_processor":{{"type":"BertProcessing","sep":["b",1],"cls":["a",0]}},
        "decoder":{{"type":"ByteLevel",{PIECE}}},
        "model":{{"type":"BPE","dropout":0.1,"unk_token":null,"vocab":{{"a":0,"b":1,"ab":2}},"merges":[["a","b"]]}}}}"#
    )
}

#[test]
fn written_files_equal_the_files_read() {
    let stages = huggingface::read(file().as_bytes()).unwrap();
    let written = huggingface::write(&stages).unwrap();
    assert_eq!(huggingface::read(written.as_bytes()).unwrap(), stages);
    assert!(
        written.starts_with("{\n  \"version\": \"1.0\",\n  \"truncation\": {\n    \"direction\"")
    );
    assert!(written.contains("\"dropout\": 0.1,"));
}

#[test]
fn a_byte_order_mark_is_dropped() {
    let marked = format!("\u{feff}{}", file());
    assert_eq!(
        huggingface::read(marked.as_bytes()).unwrap(),
        huggingface::read(file().as_bytes()).unwrap()
    );
}

#[test]
fn a_file_cut_short_is_refused_wherever_it_is_cut() {
    let file = file();
    for twentieth in 0..20 {
        let cut = &file.as_bytes()[..file.len() * twentieth / 20];
        let error = huggingface::read(cut).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().contains("not valid JSON"), "{error}");
    }
}

#[test]
fn errors_say_what_and_where() {
    for (from, to, message) in [
        (
            r#""1.0""#,
            r#""2.0""#,
            r#"version: version "2.0" is not known, only "1.0""#,
        ),
        (
            r#""NFC""#,
            r#""NFX""#,
            r#"normalizer.normalizers[0].type: unknown normalizer "NFX" (did you mean "NFC"?)"#,
        ),
        (
            r#""x+""#,
            "7",
            "normalizer.normalizers[1].pattern.Regex: expected a string, found a number",
        ),
        (
            r#""Isolated""#,
            r#""isolated""#,
            r#"pre_tokenizer.pretokenizers[0].behavior: unknown behavior "isolated" (did you mean "Isolated"?)"#,
        ),
        (
            r#","invert":false"#,
            "",
            r#"pre_tokenizer.pretokenizers[0]: the field "invert" is missing"#,
        ),
        (
            r#","invert":false"#,
            r#","invert":null"#,
            "pre_tokenizer.pretokenizers[0].invert: must not be null",
        ),
        (
            r#","invert":false"#,
            r#","invert":false,"invert":true"#,
            "pre_tokenizer.pretokenizers[0].invert: this field appears twice",
        ),
        (
            r#"["b",1]"#,
            r#"["b"]"#,
            "post_processor.sep: expected a token and its id",
        ),
        (
            r#"["b",1]"#,
            r#"["b",-1]"#,
            "post_processor.sep[1]: expected a whole number from 0 to 4294967295, found a number",
        ),
        (
            r#""BPE""#,
            r#""BPF""#,
            r#"model.type: unknown model "BPF" (did you mean "BPE"?)"#,
        ),
        (
            r#""a":0,"#,
            "",
            r#"model: merges[0] ("a" "b"): "a" is not in the vocabulary"#,
        ),
        (
            r#""a":0"#,
            r#""a":1"#,
            r#"model.vocab: id 1 is used for both "a" and "b""#,
        ),
        (
            r#""a":0"#,
            r#""a":1.5"#,
            r#"model.vocab: the id of token "a" must be a whole number from 0 to 4294967295"#,
        ),
        (
            r#"[["a","b"]]"#,
            r#"[["a"]]"#,
            "model.merges[0]: expected an array of two tokens",
        ),
        (
            r#"[["a","b"]]"#,
            r#"["a b c"]"#,
            "model.merges[0]: expected two tokens with a space between them, with only one way to read it",
        ),
        (
            r#""id":3"#,
            r#""id":"3""#,
            "added_tokens[0].id: expected a whole number from 0 to 4294967295, found a string",
        ),
    ] {
        let broken = file().replacen(from, to, 1);
        let error = huggingface::read(broken.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("tokenizer.json: {message}"));
    }
}

#[test]
fn depth_and_numbers_have_bounds() {
    let deep = "[".repeat(100_000);
    let error = huggingface::read(deep.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("recursion limit"), "{error}");
    let nested = r#"{"type":"Sequence","normalizers":["#.repeat(10_000);
    assert!(huggingface::read(format!(r#"{{"normalizer":{nested}"#).as_bytes()).is_err());
    let huge = file().replacen("0.1", "1e999", 1);
    assert!(huggingface::read(huge.as_bytes()).is_err());
    let past = file().replacen(r#""ab":2"#, r#""ab":4000000000"#, 1);
    assert!(huggingface::read(past.as_bytes()).is_err());
}

#[test]
fn no_value_of_a_wrong_type_gets_through_or_panics() {
    let value: serde_json::Value = serde_json::from_str(&file()).unwrap();
    let mut paths = Vec::new();
    collect(&value, String::new(), &mut paths);
    for path in paths {
        for wrong in ["[]", "{}", "7", "\"x\"", "true", "null", "-1", "1e300"] {
            let mut changed = value.clone();
            *changed.pointer_mut(&path).unwrap() = serde_json::from_str(wrong).unwrap();
            if let Ok(stages) = huggingface::read(changed.to_string().as_bytes())
                && let Ok(tokenizer) = Tokenizer::new(stages)
            {
                let _ = tokenizer.encode("a-xb", Some("b"), &EncodeOptions::default());
                let _ = tokenizer.decode(&[0, 1, 2, 3], &true.into(), InvalidUtf8::Strict);
            }
        }
    }
}

fn collect(value: &serde_json::Value, path: String, paths: &mut Vec<String>) {
    let children: Vec<(String, &serde_json::Value)> = match value {
        serde_json::Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, item)| (i.to_string(), item))
            .collect(),
        serde_json::Value::Object(fields) => fields
            .iter()
            .map(|(name, item)| (name.clone(), item))
            .collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        collect(child, format!("{path}/{step}"), paths);
    }
    paths.push(path);
}

#[test]
fn the_files_beside_it_add_tokens_as_transformers_does() {
    let config = br#"{
        "added_tokens_decoder": {"9": {"content": "<x>", "lstrip": true}, "3": {"content": "<s>", "special": true}},
        "image_token": "<image>", "pad_token": "<pad>", "bos_token": "<s>", "add_bos_token": true,
        "additional_special_tokens": ["<e>", "ab"]
    }"#;
    let beside = |config| huggingface::Beside {
        config: Some(config),
        ..Default::default()
    };
    let (stages, _) = huggingface::read_folder(file().as_bytes(), beside(config)).unwrap();
    let added: Vec<_> = (stages.added_tokens.iter())
        .map(|token| (token.id, token.content.as_str(), token.special))
        .collect();
    let wanted = [
        (2, "ab", true),
        (3, "<s>", true),
        (4, "<x>", false),
        (5, "<pad>", true),
        (6, "<image>", true),
        (7, "<e>", true),
    ];
    assert_eq!(added, wanted);
    let roles = [("pad", "<pad>".to_owned())];
    let files = huggingface::write_folder(&stages, &roles).unwrap();
    let whole = huggingface::Beside {
        special_tokens: Some(files[2].1.as_bytes()),
        ..beside(files[1].1.as_bytes())
    };
    let again = huggingface::read_folder(files[0].1.as_bytes(), whole);
    assert_eq!(again.unwrap(), (stages, Vec::new()));
    let broken = huggingface::read_folder(file().as_bytes(), beside(b"[1]")).unwrap_err();
    assert_eq!(
        broken.to_string(),
        "tokenizer_config.json: expected an object, found an array"
    );
}

/// A byte-level tokenizer with these tokens, as JSON, after those of the 256 bytes, and these merges.
fn byte_level(tokens: &str, merges: &str) -> String {
    let bytes: Vec<String> = (0..=u8::MAX)
        .map(|byte| format!("{:?}:{byte}", to_char(byte).to_string()))
        .collect();
    format!(
        r#"{{"model":{{"type":"BPE","vocab":{{{}{tokens}}},"merges":{merges}}},
        "pre_tokenizer":{{"type":"ByteLevel",{PIECE}}},"decoder":{{"type":"ByteLevel",{PIECE}}}}}"#,
        bytes.join(",")
    )
}

#[test]
fn a_vocabulary_may_lack_bytes() {
    let file = |vocab: &str, options: &str, added: &str| {
        format!(
            r#"{{"model":{{"type":"BPE",{options}"vocab":{{"Ġ":0,"a":1,"Ã":2,"©":3,"Ã©":4{vocab}}},"merges":[["Ã","©"]]}},
            "added_tokens":[{added}],
            "pre_tokenizer":{{"type":"ByteLevel",{PIECE}}},"decoder":{{"type":"ByteLevel",{PIECE}}}}}"#
        )
    };
    let special = |content: &str| {
        format!(
            r#"{{"id":5,"content":"{content}","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}}"#
        )
    };
    let bytes = Some(Alphabet::Bytes);
    let characters = Some(Alphabet::Characters);
    for (name, vocab, options, added, expected, ids) in [
        ("dropped", "", "", String::new(), bytes, vec![4, 0, 1]),
        (
            "an unknown token",
            r#","<unk>":5"#,
            r#""unk_token":"<unk>","#,
            special("<unk>"),
            bytes,
            vec![5, 4, 0, 5, 5, 5, 5, 1],
        ),
        (
            "one for all that stand side by side",
            r#","<unk>":5"#,
            r#""unk_token":"<unk>","fuse_unk":true,"#,
            String::new(),
            bytes,
            vec![5, 4, 0, 5, 1],
        ),
        (
            "an unknown token in other characters",
            r#","▁":5"#,
            r#""unk_token":"▁","#,
            special("▁"),
            characters,
            vec![5, 4, 0, 5, 5, 5, 5, 1],
        ),
        (
            "another special token in other characters",
            r#","▁":5"#,
            "",
            special("▁"),
            bytes,
            vec![4, 0, 1],
        ),
        (
            "a token in other characters",
            r#","▁":5"#,
            "",
            String::new(),
            characters,
            vec![4, 0, 1],
        ),
        (
            "an unknown token that would be other bytes",
            r#","Ġ?":5"#,
            r#""unk_token":"Ġ?","#,
            String::new(),
            characters,
            vec![5, 4, 0, 5, 5, 5, 5, 1],
        ),
        (
            "byte fallback",
            r#","<0xC4>":5,"<0xB8>":6,"<0xC2>":7"#,
            r#""byte_fallback":true,"#,
            String::new(),
            characters,
            vec![4, 0, 1],
        ),
    ] {
        let stages = huggingface::read(file(vocab, options, &added).as_bytes()).unwrap();
        let alphabet = match &stages.model {
            Model::Bpe(bpe) => Some(bpe.options().alphabet),
            _ => None,
        };
        assert_eq!(alphabet, expected, "{name}");
        let written = huggingface::write(&stages).unwrap();
        assert_eq!(
            huggingface::read(written.as_bytes()).unwrap(),
            stages,
            "{name}"
        );
        for kept in ["\"Ã©\": 4", "\"Ġ\": 0"] {
            assert!(written.contains(kept), "{name}: {written}");
        }
        for target in ["vocab.json", "ranks.tiktoken"] {
            let error = written_as(&stages, target).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        }
        let tokenizer = Tokenizer::new(stages).unwrap();
        let encoded = tokenizer.encode_ids("xé 🙂a", &EncodeOptions::default());
        assert_eq!(encoded.unwrap(), ids, "{name}");
    }
}

fn written_as(stages: &Stages, name: &str) -> jeton_core::Result<()> {
    jeton_core::convert::serialize(stages, Path::new(name)).map(drop)
}

#[test]
fn byte_level_merges_are_found_by_their_tokens() {
    let tokens = r#","ab":256,"Ġa":300,"Ġab":258,"éc":257"#;
    let listed = [("a", "b"), (" ", "a"), (" ", "ab"), ("é", "c")];
    for (name, tokens, merges, expected) in [
        ("in order", tokens, r#"[["a","b"],["Ġ","a"]]"#, &listed[..2]),
        (
            "as texts",
            tokens,
            r##"["#version: 0.2","a b","Ġ a"]"##,
            &listed[..2],
        ),
        (
            "out of order",
            tokens,
            r#"[["Ġ","ab"],["Ġ","a"],["a","b"]]"#,
            &[listed[2], listed[1], listed[0]],
        ),
        (
            "twice",
            tokens,
            r#"[["a","b"],["Ġ","a"],["a","b"]]"#,
            &[listed[1], listed[0]],
        ),
        ("escaped", tokens, r#"[["\u0061","b"]]"#, &listed[..1]),
        ("none", tokens, "[]", &[]),
    ] {
        let stages = huggingface::read(byte_level(tokens, merges).as_bytes()).unwrap();
        let Model::Bpe(bpe) = &stages.model else {
            panic!("{name}");
        };
        assert_eq!(bpe.options().alphabet, Alphabet::Bytes, "{name}");
        assert_eq!(bpe.vocab().id(b" ab"), Some(258), "{name}");
        let token = |id| str::from_utf8(bpe.vocab().token(id).unwrap()).unwrap();
        let merges = bpe.merges().merges;
        let merges: Vec<_> = merges.iter().map(|&(a, b)| (token(a), token(b))).collect();
        assert_eq!(merges, expected, "{name}");
    }
    for (tokens, merges, message) in [
        (
            r#","ab":256"#,
            r#"[["a","b"],["a","zz"]]"#,
            r#"model: merges[1] ("a" "zz"): "zz" is not in the vocabulary"#,
        ),
        (
            r#","ab":256"#,
            r#"[["b","a"]]"#,
            r#"model: merges[0] ("b" "a"): "ba" is not in the vocabulary"#,
        ),
        (
            r#","ab":97"#,
            "[]",
            r#"model.vocab: id 97 is used for both "a" and "ab""#,
        ),
        (
            r#","a":256"#,
            "[]",
            r#"model.vocab: token "a" has two ids, 97 and 256"#,
        ),
        (
            r#","ab":16777216"#,
            "[]",
            r#"model.vocab: token "ab" has id 16777216, past the largest supported id 16777215"#,
        ),
        (
            "",
            r#"[["a","b"],["a"]]"#,
            "model.merges[1]: expected an array of two tokens",
        ),
        (
            "",
            r#"[["a","b"],"a b"]"#,
            "model.merges[1]: expected an array of two tokens",
        ),
        (
            "",
            r#"["a b",["a","b"]]"#,
            "model.merges[1]: expected two tokens with a space between them, with only one way to read it",
        ),
    ] {
        let error = huggingface::read(byte_level(tokens, merges).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("tokenizer.json: {message}"));
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data beside the checkout")]
fn ranks_become_merges_with_the_same_ids() {
    let folder = published::path("vocab");
    let text = "It's 12345 o'clock,\n\n  señor!  漢字\u{3000}👩‍👩‍👧 \t x\r\n  ";
    for name in ["r50k_base.tiktoken", "llama3_ranks.model"] {
        let tokenizer = Tokenizer::load(&folder.join(name), &LoadOptions::default()).unwrap();
        let file = huggingface::write(tokenizer.stages()).unwrap();
        let again = Tokenizer::new(huggingface::read(file.as_bytes()).unwrap()).unwrap();
        let ids = |tokenizer: &Tokenizer| {
            tokenizer
                .encode(text, None, &EncodeOptions::default())
                .unwrap()
                .ids
        };
        assert_eq!(ids(&again), ids(&tokenizer), "{name}");
        assert_eq!(
            again.stages().added_tokens,
            tokenizer.stages().added_tokens,
            "{name}"
        );
        let rewritten = huggingface::write(again.stages()).unwrap();
        assert!(rewritten == file, "{name}");
    }
}

#[test]
fn spans_end_with_the_text() {
    let bytes = (0..=255).map(|byte| (format!("<0x{byte:02X}>"), byte.into()));
    let vocab: serde_json::Map<_, _> = bytes.collect();
    let whitespace = r#"{"type": "WhitespaceSplit"}"#;
    for (name, pre_tokenizer, mark, text) in [
        ("suffix", "null", "end_of_word_suffix", "ab"),
        ("suffix, not ASCII", "null", "end_of_word_suffix", "é"),
        ("suffix of words", whitespace, "end_of_word_suffix", "a b"),
        ("prefix", "null", "continuing_subword_prefix", "abc"),
    ] {
        let file = format!(
            r#"{{"version": "1.0", "pre_tokenizer": {pre_tokenizer}, "model": {{"type": "BPE",
            "vocab": {}, "merges": [], "byte_fallback": true, "{mark}": "</w>"}}}}"#,
            serde_json::Value::from(vocab.clone())
        );
        let tokenizer = Tokenizer::new(huggingface::read(file.as_bytes()).unwrap()).unwrap();
        for (unit, end) in [
            (Unit::Characters, text.chars().count()),
            (Unit::Bytes, text.len()),
        ] {
            let options = EncodeOptions {
                unit,
                ..EncodeOptions::default()
            };
            let spans = tokenizer.encode(text, None, &options).unwrap().spans;
            let last = spans.last().unwrap();
            assert_eq!((last.start, last.end), (end, end), "{name}: {spans:?}");
        }
    }
}
