"""Makes gguf.json: what llama.cpp makes of texts by small vocabularies of its every kind.

Look here to add a way to split text, or a key. llama.cpp itself is asked, through the library that the
package `xllamacpp` has in it; the environment also needs `gguf`, `tokenizers` and `sentencepiece`:
`python testdata/make_gguf.py ../shared/data/text/parallel`. The vocabulary of the ways to split text is
learnt without splitting any, so that its tokens lie across every place where text may be split.
"""

import base64
import ctypes
import gzip
import json
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import gguf
import sentencepiece
import tokenizers
import xllamacpp

HERE = Path(__file__).parent
SPELLED = [
    "a",
    "B",
    "é",
    "É",
    "ß",
    "ſ",
    "ǅ",
    "中",
    "文",
    "あ",
    "ア",
    "한",
    "ก",
    "ا",
    "ㄅ",
    "ㄱ",
    "豈",
]
SPELLED += ["'s", "'S", "'ſ", "'t", "'re", "'VE", "'ll", "'", "’s", "e\u0301", "ा", "\u0301"]
SPELLED += [
    "0",
    "1",
    "23",
    "4567",
    "²",
    "½",
    "٣",
    "Ⅷ",
    " ",
    "  ",
    "   ",
    "\n",
    "\r\n",
    "\t",
    "\x0b",
]
SPELLED += ["\x85", "\u00a0", "\u3000", "\u2028", "\u200b", "\u200d", "~", "~~", "$", "+", "=", "^"]
SPELLED += [
    "`",
    "|",
    "<",
    "...",
    "!",
    "?",
    "、",
    "。",
    "，",
    "/",
    "\\",
    "_",
    "-",
    "—",
    "«",
    "🙂",
    "İ",
]
SPELLED += [
    "HelloWorld",
    "ABc",
    "GPT4o",
    "\u0378",
    "\ue000",
    "\ufeff",
    "(",
    ")",
    "[",
    "]",
    "{",
    "#",
]
SPELLED += [
    "@",
    "&",
    "*",
    ";",
    ":",
    ",",
    ".",
    "I'm",
    " 1",
    "1 ",
    "\n\n",
    " \n ",
    "\x1c",
    "\x7f",
    "µ",
]
SIGNS = [*" ~$+=^`|<!?_-", "a", "b"]
"""Characters whose pairs are all tokens, so that each split between two of them shows."""
TEXTS = ["", "Hello world", "  two  spaces  ", "a\n\nb", "1234567", "</s>x<s> y", "<user>hi <user>"]
TEXTS += ["Grüße aus Köln", "naïve", "한국어", "你好", "x<unk>y", "tab\tnew", "🙂", " lead", "end "]


class Llama:
    """llama.cpp with one vocabulary."""

    def __init__(self, path: Path) -> None:
        class Parameters(ctypes.Structure):
            """As many bytes as the parameters have at the most; the flag is that of vocabularies."""

            _fields_ = (("bytes", ctypes.c_ubyte * 256),)

        self.library = ctypes.PyDLL(xllamacpp.xllamacpp.__file__)
        pointer, number = ctypes.c_void_p, ctypes.c_int32
        self.library.llama_model_default_params.restype = Parameters
        load = self.library.llama_model_load_from_file
        load.argtypes, load.restype = [ctypes.c_char_p, Parameters], pointer
        vocabulary = self.library.llama_model_get_vocab
        vocabulary.argtypes, vocabulary.restype = [pointer], pointer
        self.tokenize = self.library.llama_tokenize
        self.tokenize.argtypes = [pointer, ctypes.c_char_p, number, ctypes.POINTER(number), number]
        self.tokenize.argtypes += [ctypes.c_bool, ctypes.c_bool]
        self.library.llama_backend_init()
        parameters = self.library.llama_model_default_params()
        parameters.bytes[72] = 1  # vocab_only
        model = load(str(path).encode(), parameters)
        if not model:
            raise SystemExit(f"{path}: not loaded")
        self.vocabulary = vocabulary(model)

    def encode(self, text: str, framed: bool = False, parsed: bool = False) -> list[int]:
        data = text.encode()
        ids = (ctypes.c_int32 * (len(data) + 8))()
        length = len(data)
        count = self.tokenize(self.vocabulary, data, length, ids, len(ids), framed, parsed)
        return list(ids[:count])


def written(path: Path, architecture: str, **keys: Any) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    for name, value in keys.items():
        key = f"tokenizer.ggml.{name}"
        match value:
            case bool():
                writer.add_bool(key, value)
            case int():
                writer.add_uint32(key, value)
            case str():
                writer.add_string(key, value)
            case _:
                writer.add_array(key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def byte_level(corpus: list[str]) -> dict[str, Any]:
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    random.seed(3)
    odd = ["".join(random.choices(SPELLED, k=12)) for _ in range(3000)]
    odd += [f"{first}{second}" for first in SIGNS for second in SIGNS] * 200
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500, initial_alphabet=alphabet, max_token_length=8
    )
    bpe.train_from_iterator([line[:60] for line in corpus] + odd, trainer)
    model = json.loads(bpe.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    tokens += ["<s>", "</s>", "<user>", "<|im_end|>"]
    types = [1] * (len(tokens) - 4) + [3, 3, 4, 1]
    merges = [" ".join(merge) for merge in model["merges"]]
    ends = {"bos_token_id": len(tokens) - 4, "eos_token_id": len(tokens) - 3}
    return {"model": "gpt2", "tokens": tokens, "token_type": types, "merges": merges, **ends}


def model_of(proto: bytes, name: str) -> dict[str, Any]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
    tokens, scores, types = [], [], []
    for id in range(len(processor)):
        tokens.append(processor.id_to_piece(id))
        scores.append(processor.get_score(id))
        kind = 1
        if processor.is_unknown(id):
            kind = 2
        elif processor.is_control(id):
            kind = 3
        elif processor.is_byte(id):
            kind = 6
        types.append(kind)
    tokens.append("<user>")
    scores.append(0.0)
    types.append(4)
    return {"model": name, "tokens": tokens, "scores": scores, "token_type": types}


def wordpiece(vocabulary: str) -> dict[str, Any]:
    tokens = []
    for token in vocabulary.split("\n")[:-1]:
        is_name = token.startswith("[") and token.endswith("]")
        is_continued = token.startswith("##") and len(token) > 2
        tokens.append(token if is_name else token[2:] if is_continued else f"▁{token}")
    types = [3 if token.startswith("[") else 1 for token in tokens]
    ids = {"bos": "[CLS]", "seperator": "[SEP]", "unknown": "[UNK]"}
    named = {f"{role}_token_id": tokens.index(token) for role, token in ids.items()}
    return {"model": "bert", "tokens": tokens, "token_type": types, **named}


def rwkv() -> dict[str, Any]:
    words = [bytes([byte]) for byte in range(256)]
    words += [word.encode() for word in ("He", "Hello", " w", " world", "\n\n", "üß", "\\x", "'s")]
    words += ["é".encode() + b"\xe4", b"\xbd\xa0\xe5"]
    tokens = ["<s>"]
    for word in words:
        try:
            tokens.append(repr(word.decode())[1:-1])
        except UnicodeDecodeError:
            tokens.append("".join(f"\\x{byte:02x}" for byte in word))
    return {"model": "rwkv", "tokens": tokens, "token_type": [3] + [1] * len(words)}


def main() -> None:
    texts = Path(sys.argv[1])
    corpus = [
        line
        for name in ("en", "de", "fr", "ru", "zh", "ar")
        for line in (texts / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:200]
    ]
    folder = Path(tempfile.mkdtemp())
    random.seed(5)
    odd = ["".join(random.choices(SPELLED, k=random.randint(2, 10))) for _ in range(120)]
    odd += ["".join(random.choices(SIGNS, k=8)) for _ in range(30)]
    some = TEXTS + odd + [random.choice(corpus)[:60] for _ in range(14)]
    other = json.loads((HERE / "class_folders.json").read_text(encoding="utf-8"))["files"]
    held = {name: gzip.decompress(base64.b64decode(data)) for name, data in other.items()}
    source = (HERE.parent / "crates/formats/src/gguf/pre.rs").read_text(encoding="utf-8")
    names = re.findall(r"&\[\s*((?:\"[a-z][a-z0-9_.-]+\",?\s*)+)\]", source)
    ways = [re.findall(r"\"([^\"]+)\"", group) for group in names]
    bytes_of = byte_level(corpus)
    files, cases = {}, {}

    def ask(name: str, architecture: str, keys: dict[str, Any]) -> None:
        path = written(folder / f"{name}.gguf", architecture, **keys)
        files[name] = base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()
        llama = Llama(path)
        cases[name] = {
            "ids": [llama.encode(text) for text in some],
            "framed": [llama.encode(text, True, True) for text in TEXTS],
        }

    pres: dict[str, Any] = {}
    for group in ways:
        for name in group:
            path = written(folder / "pre.gguf", "gpt2", pre=name, **bytes_of)
            llama = Llama(path)
            # All are loaded; names that mean the same have the same ids.
            ids = [llama.encode(text) for text in (some if name == group[0] else some[:40])]
            assert name == group[0] or ids == pres[group[0]]["ids"][:40], name
            if name == group[0]:
                pres[name] = {"names": group, "ids": ids}
    ask("gpt-2", "gpt2", {"pre": "gpt-2", **bytes_of, "add_bos_token": True})
    ask("llama", "llama", model_of(held["llama"], "llama"))
    ask("llama_bare", "llama", {**model_of(held["llama"], "llama"), "add_space_prefix": False})
    unigram = {"add_space_prefix": True, "eos_token_id": 1, "unknown_token_id": 2}
    ask("t5", "t5", {**model_of(held["t5"], "t5"), **unigram, "remove_extra_whitespaces": True})
    ask("bert", "bert", wordpiece(held["wordpiece"].decode()))
    ask("rwkv", "rwkv6", rwkv())
    content = {"texts": some, "plain": len(TEXTS), "files": files, "cases": cases, "pres": pres}
    (HERE / "gguf.json").write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
