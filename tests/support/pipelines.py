"""Tokenizers composed at random from every component that `tokenizers` has.

`model_pipelines.py` has those of models. Look here for what the pipeline parity
suite covers. A pipeline is drawn from its number, so a failure names the pipeline that shows it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import nasty

Maker = Callable[[random.Random], Any]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BEHAVIORS = (
    "removed",
    "isolated",
    "merged_with_previous",
    "merged_with_next",
    "contiguous",
)
REGEXES = (
    GPT2,
    CL100K,
    r"\s+",
    r"\p{L}+",
    r"[0-9]",
    r"(?i)the",
    r"(?<=\p{Ll})(?=\p{Lu})",
    r"\w+|\S",
)
PUNCTUATED = "He said, \"don't\" - and they're gone . Is it so ? I 'm sure !"


def _charsmap() -> bytes:
    """The character map of a SentencePiece model trained on a line of text."""
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a quick brown fox jumps over the lazy dog"] * 5),
        model_writer=model,
        vocab_size=40,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    from sentencepiece import sentencepiece_model_pb2

    pb2: Any = sentencepiece_model_pb2  # its names are made when it is imported
    proto = pb2.ModelProto.FromString(model.getvalue())
    charsmap: bytes = proto.normalizer_spec.precompiled_charsmap
    return charsmap


_CACHE: dict[str, bytes] = {}


def precompiled(rng: random.Random) -> Any:
    if "charsmap" not in _CACHE:
        _CACHE["charsmap"] = _charsmap()
    return normalizers.Precompiled(_CACHE["charsmap"])


NORMALIZERS: Sequence[Maker] = (
    lambda rng: normalizers.NFC(),
    lambda rng: normalizers.NFD(),
    lambda rng: normalizers.NFKC(),
    lambda rng: normalizers.NFKD(),
    lambda rng: normalizers.Lowercase(),
    lambda rng: normalizers.StripAccents(),
    lambda rng: normalizers.Strip(left=rng.random() < 0.5, right=rng.random() < 0.5),
    lambda rng: normalizers.Nmt(),
    lambda rng: normalizers.Replace(
        rng.choice(["a", " ", "the", "''"]), rng.choice(["", "é", "▁"])
    ),
    lambda rng: normalizers.Replace(Regex(rng.choice(REGEXES)), rng.choice(["", " ", "_", "日本"])),
    lambda rng: normalizers.Prepend(rng.choice(["▁", " ", "_é"])),
    precompiled,
    lambda rng: normalizers.BertNormalizer(
        clean_text=rng.random() < 0.7,
        handle_chinese_chars=rng.random() < 0.7,
        strip_accents=rng.choice([None, True, False]),
        lowercase=rng.random() < 0.5,
    ),
    lambda rng: normalizers.ByteLevel(),
)
PRE_TOKENIZERS: Sequence[Maker] = (
    lambda rng: pre_tokenizers.ByteLevel(
        add_prefix_space=rng.random() < 0.5, use_regex=rng.random() < 0.7
    ),
    lambda rng: pre_tokenizers.BertPreTokenizer(),
    lambda rng: pre_tokenizers.Metaspace(
        replacement=rng.choice("▁_"),
        prepend_scheme=rng.choice(["always", "never", "first"]),
        split=rng.random() < 0.7,
    ),
    lambda rng: pre_tokenizers.Whitespace(),
    lambda rng: pre_tokenizers.WhitespaceSplit(),
    lambda rng: pre_tokenizers.CharDelimiterSplit(rng.choice("- e")),
    lambda rng: pre_tokenizers.Split(
        rng.choice([" ", "e", "--", "the"]),
        rng.choice(BEHAVIORS),
        invert=rng.random() < 0.2,
    ),
    lambda rng: pre_tokenizers.Split(
        Regex(rng.choice(REGEXES)), rng.choice(BEHAVIORS), invert=rng.random() < 0.3
    ),
    lambda rng: pre_tokenizers.Punctuation(rng.choice(BEHAVIORS)),
    lambda rng: pre_tokenizers.Digits(individual_digits=rng.random() < 0.5),
    lambda rng: pre_tokenizers.UnicodeScripts(),
    lambda rng: pre_tokenizers.FixedLength(length=rng.choice([1, 2, 5])),
)
DECODERS: Sequence[Maker] = (
    lambda rng: decoders.ByteLevel(),
    lambda rng: decoders.WordPiece(prefix="##", cleanup=rng.random() < 0.5),
    lambda rng: decoders.Metaspace(prepend_scheme=rng.choice(["always", "never", "first"])),
    lambda rng: decoders.BPEDecoder(suffix="</w>"),
    lambda rng: decoders.ByteFallback(),
    lambda rng: decoders.Fuse(),
    lambda rng: decoders.Strip(
        content=rng.choice(" _▁e"), left=rng.randint(0, 2), right=rng.randint(0, 2)
    ),
    lambda rng: decoders.Replace(rng.choice(["▁", "e", "##"]), rng.choice([" ", "", "x"])),
    lambda rng: decoders.Replace(
        Regex(rng.choice([r"\s+", r"\p{L}", "a|e"])), rng.choice([" ", ""])
    ),
    lambda rng: decoders.CTC(
        pad_token="[UNK]", word_delimiter_token="e", cleanup=rng.random() < 0.5
    ),
)
MODELS = (
    "bpe",
    "bpe-plain",
    "bpe-prefix",
    "bpe-fallback",
    "wordlevel",
    "wordpiece",
    "unigram",
)


def corpus(seed: int) -> Iterator[str]:
    yield from [
        PUNCTUATED,
        "the quick brown fox, the lazy dogs; naïve cafés 日本語 мир 123",
    ] * 3
    yield from nasty.strings(300, seed=seed)


def model_and_trainer(kind: str, specials: list[str], rng: random.Random) -> tuple[Any, Any]:
    if kind == "wordlevel":
        return (
            models.WordLevel(unk_token="[UNK]"),
            trainers.WordLevelTrainer(vocab_size=400, special_tokens=specials, show_progress=False),
        )
    if kind == "wordpiece":
        return (
            models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=rng.choice([100, 8])),
            trainers.WordPieceTrainer(
                vocab_size=900,
                limit_alphabet=400,
                special_tokens=specials,
                show_progress=False,
            ),
        )
    if kind == "unigram":
        return (
            models.Unigram(),
            trainers.UnigramTrainer(
                vocab_size=4000,
                special_tokens=specials,
                unk_token=rng.choice(["[UNK]", None]),
                show_progress=False,
            ),
        )
    options: dict[str, Any] = {}
    train: dict[str, Any] = {}
    if kind == "bpe":
        options = {"unk_token": "[UNK]", "fuse_unk": rng.random() < 0.5}
        train = {"limit_alphabet": rng.choice([60, 1000])}
    if kind == "bpe-prefix":
        options = {"unk_token": "[UNK]"}
        train = {
            "limit_alphabet": 400,
            "continuing_subword_prefix": "##",
            "end_of_word_suffix": rng.choice(["</w>", ""]),
        }
    if kind == "bpe-fallback":
        options = {
            "byte_fallback": True,
            "unk_token": "[UNK]",
            "fuse_unk": rng.random() < 0.5,
        }
        train = {"limit_alphabet": 60}
        specials = specials + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=1200, special_tokens=specials, show_progress=False, **train
    )
    return models.BPE(**options), trainer


def _sequence(rng: random.Random, makers: Sequence[Maker], number: int, at_most: int) -> list[Any]:
    first = makers[number % len(makers)](rng)
    others = [rng.choice(makers)(rng) for _ in range(rng.randint(0, at_most - 1))]
    return [first, *others] if rng.random() < 0.5 else [*others, first]


def _post_processor(rng: random.Random, ids: dict[str, int], number: int) -> Any:
    cls, sep = ("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])
    flag = rng.random() < 0.5
    template = processors.TemplateProcessing(
        single="[CLS]:1 $A:0 [SEP]",
        pair="[CLS] $A [SEP]:2 $B:1 [SEP]:1",
        special_tokens=[cls, sep],
    )
    byte_level = processors.ByteLevel(trim_offsets=flag, add_prefix_space=rng.random() < 0.5)
    choices = [
        None,
        template,
        processors.BertProcessing(sep, cls),
        processors.RobertaProcessing(
            sep, cls, trim_offsets=flag, add_prefix_space=rng.random() < 0.5
        ),
        byte_level,
        processors.Sequence([byte_level, template]),
    ]
    return choices[number % len(choices)]


def _distinct(tokenizer: Tokenizer, tokens: list[AddedToken]) -> list[AddedToken]:
    """The tokens that stay apart when normalized: of equal ones `tokenizers` finds any."""
    seen = {""}
    kept = []
    for token in tokens:
        spelling = token.content
        if token.normalized and tokenizer.normalizer is not None:
            spelling = tokenizer.normalizer.normalize_str(spelling)
        if spelling not in seen:
            kept.append(token)
        seen.add(spelling)
    return kept


def compose(number: int) -> Tokenizer:
    """The pipeline of a number: the same one every time."""
    rng = random.Random(number)
    kind = MODELS[number % len(MODELS)]
    specials = ["[UNK]", "[CLS]", "[SEP]", "<|end|>", "<|end|>of"]
    model, trainer = model_and_trainer(kind, specials, rng)
    tokenizer = Tokenizer(model)
    if number % 5:
        chain = _sequence(rng, NORMALIZERS, number, 3)
        tokenizer.normalizer = chain[0] if len(chain) == 1 else normalizers.Sequence(chain)
    if number % 11:
        chain = _sequence(rng, PRE_TOKENIZERS, number, 3)
        tokenizer.pre_tokenizer = chain[0] if len(chain) == 1 else pre_tokenizers.Sequence(chain)
    tokenizer.train_from_iterator(corpus(number), trainer)
    tokenizer.add_tokens(
        _distinct(
            tokenizer,
            [
                AddedToken("brown fox", normalized=rng.random() < 0.5),
                AddedToken("Naïve", normalized=True, single_word=rng.random() < 0.5),
                AddedToken("don", single_word=True, lstrip=rng.random() < 0.5),
                AddedToken("  ", lstrip=False, rstrip=rng.random() < 0.5, normalized=False),
            ],
        )
    )
    tokenizer.add_special_tokens(
        [AddedToken("<mask>", lstrip=True, rstrip=rng.random() < 0.5, normalized=False)]
    )
    ids = tokenizer.get_vocab()
    processor = _post_processor(rng, ids, number)
    if processor is not None:
        tokenizer.post_processor = processor
    if number % 7:
        chain = _sequence(rng, DECODERS, number, 3)
        tokenizer.decoder = chain[0] if len(chain) == 1 else decoders.Sequence(chain)
    return tokenizer


def kinds(tokenizer: Tokenizer) -> set[str]:
    """The kinds of component in a tokenizer, as `stage:Type`."""
    found: set[str] = set()

    def walk(stage: str, value: Any) -> None:
        if isinstance(value, dict):
            if "type" in value:
                found.add(f"{stage}:{value['type']}")
            for nested in ("normalizers", "pretokenizers", "processors", "decoders"):
                for item in value.get(nested, []):
                    walk(stage, item)

    file = json.loads(tokenizer.to_str())
    for stage in ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder"):
        walk(stage, file[stage])
    return found
