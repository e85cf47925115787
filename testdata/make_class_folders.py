"""Makes class_folders.json: what transformers' classes in Python make of folders without tokenizer.json.

Look here to add a class. Small vocabularies are trained, a folder is made of each with its
configuration, and the class of transformers 4, `AutoTokenizer.from_pretrained(..., use_fast=False)`,
says the ids of texts, with and without those around them. Where there is none that agrees with what
transformers 4 and 5 load by default (CLIP, and a space in front of GPT-2's texts), their fast one does.
It needs an environment of its own, with `transformers<5`, `sentencepiece`, `tiktoken` and `protobuf`:
`python testdata/make_class_folders.py ../shared/data/text/parallel`.
"""

import base64
import gzip
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import transformers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

TEXTS = [
    "",
    "Hello world",
    "  two  spaces  ",
    "It's 1,234.5 — and 9, 10,",
    "Grüße, Ñandú, naïve café",
    "e\u0301a",
    "你好，世界",
    "한국어 문장 🙂🚀",
    "tab\tnew\nline\r\nend ",
    " lead",
    "trail ",
    "``quoted'' text",
    "ABC def",
    "a▁b",
    "</s> in text",
    "x<mask> y",
    "x <mask> y",
    "<s>a</s> b",
    "<extra_id_0> z <extra_id_1>",
    "<unk> u",
    "½ ﬁ ①",
    "1234567890",
    "<start_of_turn>user\nhi<end_of_turn>\n",
    "[MASK] it [SEP]",
    "<|im_end|> x plain y<|x|>",
    "<|endoftext|>go",
    ">>deu<< Hello",
    "\u00a0nbsp\u3000ideo",
    "İstanbul ẞ",
    "🔎\ufe0e x",
    "<|a|> zq zq9 ZQ9 x <|b|> y",
    "<extra_id_0>__de__ a",
    "zq Upper upper",
]
FAST = {"clip", "gpt2_bos"}
"""The folders that the fast class says."""
NOT_DECODED = {"t5_listed", "nllb_roles"}
"""The folders whose fast class has other ids for added tokens, so that it cannot say their text."""
DECODED = 20
"""How many texts come back from their ids."""


def main() -> None:
    texts = Path(sys.argv[1])
    corpus = [
        line
        for name in ("en", "de", "fr", "ru")
        for line in (texts / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:150]
    ]
    folder = Path(tempfile.mkdtemp())
    path = folder / "corpus.txt"
    path.write_text("\n".join(corpus), encoding="utf-8")
    files = {**sentencepiece_models(path, folder), **other_files(corpus)}
    random.seed(1)
    some = TEXTS + [random.choice(corpus)[:100] for _ in range(20)]
    cases = {}
    for name, (names, beside) in folders(files).items():
        place = folder / name
        place.mkdir()
        for file, held in names.items():
            (place / file).write_bytes(files[held])
        for file, content in beside.items():
            (place / file).write_text(json.dumps(content), encoding="utf-8")
        tok = transformers.AutoTokenizer.from_pretrained(place, use_fast=name in FAST)
        fast = transformers.AutoTokenizer.from_pretrained(place)
        ids = [tok.encode(text, add_special_tokens=False) for text in some]
        # Classes in Python put spaces beside special tokens that nobody wrote; their fast ones do not.
        decoder = fast if fast.is_fast and name not in NOT_DECODED else None
        cases[name] = {
            "files": names,
            "beside": beside,
            "ids": ids,
            "decoded": [
                decoder.decode(it, clean_up_tokenization_spaces=False)
                for it in (ids[:DECODED] if decoder else ())
            ],
            "framed": [tok.encode(text) for text in some[:8]],
            "roles": {
                role: token
                for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
                if (token := getattr(tok, f"{role}_token")) is not None
            },
        }
    used = {held for case in cases.values() for held in case["files"].values()}
    content = {
        "texts": some,
        "files": {
            name: base64.b64encode(gzip.compress(data, mtime=0)).decode()
            for name, data in files.items()
            if name in used
        },
        "folders": cases,
    }
    (Path(__file__).parent / "class_folders.json").write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )


def sentencepiece_models(corpus: Path, folder: Path) -> dict[str, bytes]:
    none = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    # Character maps would be most of the file.
    plain = {"normalization_rule_name": "identity"}
    kinds: dict[str, dict[str, Any]] = {
        "llama": {"model_type": "bpe", "byte_fallback": True, "split_digits": True, **none},
        "gemma": {
            "model_type": "bpe",
            "byte_fallback": True,
            "add_dummy_prefix": False,
            "user_defined_symbols": ["<mask>", "<start_of_turn>", "<end_of_turn>", "▁▁", "▁▁▁"],
            "pad_id": 0,
            "eos_id": 1,
            "bos_id": 2,
            "unk_id": 3,
            "eos_piece": "<eos>",
            "bos_piece": "<bos>",
            **none,
        },
        "t5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
        "xlmr": {**plain},
        "albert": {
            **plain,
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": -1,
            "eos_id": -1,
            "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
        },
        "bigbird": {
            **plain,
            "pad_id": 0,
            "eos_id": 1,
            "bos_id": 2,
            "unk_id": 3,
            "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
        },
        "deberta": {
            **plain,
            "pad_id": 0,
            "pad_piece": "[PAD]",
            "bos_id": 1,
            "bos_piece": "[CLS]",
            "eos_id": 2,
            "eos_piece": "[SEP]",
            "unk_id": 3,
            "unk_piece": "[UNK]",
        },
        "xlnet": {
            **plain,
            "control_symbols": ["<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"],
        },
        "source": {**plain, "vocab_size": 450},
        "target": {**plain, "vocab_size": 500},
    }
    made = {}
    for name, options in kinds.items():
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus),
            model_prefix=str(folder / name),
            minloglevel=2,
            **({"vocab_size": 600, "character_coverage": 0.998} | options),
        )
        made[name] = (folder / f"{name}.model").read_bytes()
    return made


def pieces(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(id) for id in range(len(processor))]


def as_json(vocabulary: Any) -> bytes:
    return json.dumps(vocabulary, ensure_ascii=False).encode()


def other_files(corpus: list[str]) -> dict[str, bytes]:
    bpe = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]
    special += ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
    bpe.train_from_iterator(corpus, vocab_size=600, special_tokens=special)
    made = pair("bpe", bpe.to_str())
    for name, lowercase in (("wordpiece", True), ("cased", False)):
        words = tokenizers.BertWordPieceTokenizer(lowercase=lowercase)
        words.train_from_iterator(corpus, vocab_size=700, limit_alphabet=300)
        vocabulary = words.get_vocab()
        made[name] = "".join(f"{it}\n" for it in sorted(vocabulary, key=vocabulary.get)).encode()
    made["mpnet"] = b"<s>\n<pad>\n</s>\n" + made["wordpiece"] + b"<mask>\n"
    clip = tokenizers.Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    clip.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    words_of_clip = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    clip.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words_of_clip), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=800, end_of_word_suffix="</w>", initial_alphabet=alphabet
    )
    clip.train_from_iterator(corpus, trainer)
    more = [*alphabet, *(f"{it}</w>" for it in alphabet), "<|startoftext|>", "<|endoftext|>"]
    made |= pair("clip", clip.to_str(), more)
    return made


def pair(name: str, tokenizer_json: str, more: list[str] | None = None) -> dict[str, bytes]:
    model = json.loads(tokenizer_json)["model"]
    vocabulary = model["vocab"]
    for token in more or ():
        vocabulary.setdefault(token, len(vocabulary))
    merges = "".join(f"{' '.join(it)}\n" for it in model["merges"])
    return {
        f"{name}_vocab": as_json(vocabulary),
        f"{name}_merges": f"#version: 0.2\n{merges}".encode(),
    }


def folders(files: dict[str, bytes]) -> dict[str, tuple[dict[str, str], dict[str, Any]]]:
    xlmr = ["<s>", "<pad>", "</s>", "<unk>", *pieces(files["xlmr"])[3:]]
    files["m2m100_vocab"] = as_json({piece: id for id, piece in enumerate(xlmr)})
    both = ["</s>", "<unk>", *pieces(files["source"]), *pieces(files["target"])]
    both = [piece for piece in dict.fromkeys([*both, ">>deu<<", "<pad>"]) if piece != "<s>"]
    files["marian_vocab"] = as_json({piece: id for id, piece in enumerate(both)})

    def one(file: str, held: str, kind: str, beside: Any = None, **config: Any) -> Any:
        config = {"tokenizer_class": f"{kind}Tokenizer", **config}
        return {file: held}, {"tokenizer_config.json": config, **(beside or {})}

    def two(held: str, kind: str, beside: Any = None, **config: Any) -> Any:
        names, written = one("vocab.json", f"{held}_vocab", kind, beside, **config)
        return {**names, "merges.txt": f"{held}_merges"}, written

    fairseq = "sentencepiece.bpe.model"
    whisper = ["<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>"]
    whisper.append("<|notimestamps|>")
    m2m100 = one(fairseq, "xlmr", "M2M100", src_lang="en")
    marian = one("source.spm", "source", "Marian", source_lang="en", target_lang="de")
    return {
        "llama": one("tokenizer.model", "llama", "Llama"),
        "llama_new": one(
            "tokenizer.model", "llama", "Llama", legacy=False, add_eos_token=True, pad_token="<pad>"
        ),
        "llama_no_prefix": one(
            "tokenizer.model", "llama", "Llama", legacy=False, add_prefix_space=False
        ),
        "llama_added": one(
            "tokenizer.model",
            "llama",
            "Llama",
            {"added_tokens.json": {"plain": 602, "<|x|>": 605, "<|im_end|>": 601}},
            legacy=False,
            additional_special_tokens=["<|im_end|>"],
        ),
        "code_llama": one("tokenizer.model", "llama", "CodeLlama"),
        "gemma": one("tokenizer.model", "gemma", "Gemma"),
        "t5": one("spiece.model", "t5", "T5"),
        "t5_new": one("spiece.model", "t5", "T5", legacy=False),
        "mt5": one("spiece.model", "t5", "MT5", extra_ids=0),
        "xlm_roberta": one(fairseq, "xlmr", "XLMRoberta"),
        "camembert": one(fairseq, "xlmr", "Camembert"),
        "mbart": one(fairseq, "xlmr", "MBart", src_lang="de_DE"),
        "mbart50": one(fairseq, "xlmr", "MBart50", src_lang="fr_XX"),
        "nllb": one(fairseq, "xlmr", "Nllb", src_lang="deu_Latn"),
        "nllb_legacy": one(fairseq, "xlmr", "Nllb", legacy_behaviour=True),
        "m2m100": ({**m2m100[0], "vocab.json": "m2m100_vocab"}, m2m100[1]),
        "marian": (
            {**marian[0], "target.spm": "target", "vocab.json": "marian_vocab"},
            marian[1],
        ),
        "pegasus": one("spiece.model", "t5", "Pegasus"),
        "big_bird": one("spiece.model", "bigbird", "BigBird"),
        "deberta_v2": one("spm.model", "deberta", "DebertaV2"),
        "deberta_v2_lower": one("spm.model", "deberta", "DebertaV2", do_lower_case=True),
        "albert": one("spiece.model", "albert", "Albert"),
        "albert_accents": one(
            "spiece.model", "albert", "Albert", keep_accents=True, do_lower_case=False
        ),
        "xlnet": one("spiece.model", "xlnet", "XLNet"),
        "bert": one("vocab.txt", "wordpiece", "Bert"),
        "bert_accents": one(
            "vocab.txt", "wordpiece", "Bert", strip_accents=False, cls_token="[MASK]"
        ),
        "distilbert": one("vocab.txt", "wordpiece", "DistilBert"),
        "electra": one("vocab.txt", "wordpiece", "Electra"),
        "mpnet": one("vocab.txt", "mpnet", "MPNet"),
        "gpt2": two("bpe", "GPT2"),
        "gpt2_bos": two("bpe", "GPT2", add_bos_token=True, add_prefix_space=True),
        "codegen": two("bpe", "CodeGen"),
        "roberta": two("bpe", "Roberta"),
        "bart": two("bpe", "Bart"),
        "deberta": two("bpe", "Deberta"),
        "qwen2": two(
            "bpe", "Qwen2", {"added_tokens.json": {"<|im_start|>": 601, "<|im_end|>": 600}}
        ),
        "whisper": two("bpe", "Whisper", additional_special_tokens=whisper),
        "whisper_language": two(
            "bpe",
            "Whisper",
            additional_special_tokens=whisper,
            language="English",
            task="translate",
            predict_timestamps=True,
        ),
        "clip": two("clip", "CLIP"),
        **with_odd_settings(one, two),
    }


def with_odd_settings(one: Any, two: Any) -> dict[str, Any]:
    """Folders that say more than they must: other roles, added tokens of every kind, flags."""
    fairseq = "sentencepiece.bpe.model"

    def token(content: str, **flags: bool) -> dict[str, Any]:
        names = ("lstrip", "rstrip", "single_word", "normalized", "special")
        return {"content": content, **dict.fromkeys(names, False), **flags}

    added = {
        "620": token("<|a|>", special=True),
        "612": token("zq", normalized=True),
        "615": token("<|b|>", lstrip=True, rstrip=True),
        "618": token("ZQ9", single_word=True),
    }
    roles = {"eos_token": "<|a|>", "mask_token": token("<|b|>", lstrip=True, special=True)}
    mask = {"mask_token": {"__type": "AddedToken", **roles["mask_token"]}}
    words = {"added_tokens.json": {"zq": 702, "Upper": 701}}
    return {
        "llama_listed": one("tokenizer.model", "llama", "Llama", added_tokens_decoder=added),
        "llama_map": one("tokenizer.model", "llama", "Llama", {"special_tokens_map.json": roles}),
        "gpt2_listed": two("bpe", "GPT2", added_tokens_decoder=added),
        "gpt2_named": two("bpe", "GPT2", extra_special_tokens={"image_token": "<|a|>"}),
        "bart_map": two("bpe", "Bart", {"special_tokens_map.json": roles}),
        "roberta_listed": two(
            "bpe", "Roberta", {"added_tokens.json": {"<mask>": 4, "<|a|>": 601, "zq": 600}}
        ),
        "xlm_roberta_no_mask": one(fairseq, "xlmr", "XLMRoberta", mask_token=None),
        "xlm_roberta_roles": one(fairseq, "xlmr", "XLMRoberta", eos_token="<|a|>", **mask),
        "nllb_roles": one(fairseq, "xlmr", "Nllb", src_lang="fra_Latn", eos_token="<|a|>"),
        "nllb_named": one(
            fairseq, "xlmr", "Nllb", src_lang="fra_Latn", extra_special_tokens={"x_token": "<|a|>"}
        ),
        "camembert_roles": one(fairseq, "xlmr", "Camembert", pad_token="<|a|>", **mask),
        "pegasus_roles": one("spiece.model", "t5", "Pegasus", eos_token="<|a|>", pad_token="<|b|>"),
        "pegasus_sentence": one("spiece.model", "t5", "Pegasus", mask_token_sent="<|a|>"),
        "t5_listed": one("spiece.model", "t5", "T5", additional_special_tokens=["<|a|>"]),
        "t5_no_bos": one("spiece.model", "t5", "T5", add_bos_token=True, add_eos_token=False),
        "code_llama_infilling": one(
            "tokenizer.model", "llama", "CodeLlama", middle_token="<|a|>", suffix_token=None
        ),
        "llama_neither": one(
            "tokenizer.model", "llama", "Llama", add_bos_token=False, add_eos_token=False
        ),
        "llama_both": one(
            "tokenizer.model", "llama", "Llama", add_bos_token=True, add_eos_token=True
        ),
        "bert_cased": one("vocab.txt", "cased", "Bert", do_lower_case=False),
        "bert_cased_stripped": one(
            "vocab.txt", "cased", "Bert", do_lower_case=False, strip_accents=True
        ),
        "bert_no_characters": one("vocab.txt", "wordpiece", "Bert", tokenize_chinese_chars=False),
        "bert_words": one("vocab.txt", "wordpiece", "Bert", words),
        "bert_fast": one("vocab.txt", "wordpiece", "Bert", tokenizer_class="BertTokenizerFast"),
        "albert_spaces": one("spiece.model", "albert", "Albert", remove_space=False),
        "deberta_v2_listed": one("spm.model", "deberta", "DebertaV2", added_tokens_decoder=added),
        "qwen2_other_code": two(
            "bpe", "Qwen2", auto_map={"AutoTokenizer": ["tokenization_x.XTokenizer", None]}
        ),
    }


if __name__ == "__main__":
    main()
