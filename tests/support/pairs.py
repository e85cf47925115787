"""Pairs of a tokenizer file as jeton reads it and as the library that it belongs to reads it.

Look here for which models of WordPiece, Unigram and SentencePiece are compared, and what of them:
ids, decoding, spans, pieces, n-best.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import random
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

import jeton
from absent import judge_without_specials
from peer_spans import hold
from test_sentencepiece import OPTIONS, spans_agree, train

__all__ = [
    "Comparer",
    "Differences",
    "Pair",
    "option_pairs",
    "real_pairs",
    "sentence_pieces",
    "trained_pairs",
    "unigrams",
    "word_pieces",
]

#: Of this many texts, the beginning of one is looked at closely: spans, pieces, n-best.
STRIDE = 16

#: So many characters of it.
CLOSELY = 600

#: Of this many texts, the ids of one are decoded.
DECODED = 4


@dataclass
class Differences:
    """What comparing some texts found."""

    texts: int = 0
    characters: int = 0
    #: What differed and in which text, the first few.
    found: list[tuple[str, str]] = field(default_factory=list)
    count: int = 0

    def note(self, what: str, text: str) -> None:
        """Counts a difference."""
        self.count += 1
        if len(self.found) < 10:
            self.found.append((what, text[:300]))


#: Compares both sides of a pair on texts.
Comparer = Callable[[Sequence[str]], Differences]


@dataclass(frozen=True)
class Pair:
    """A file, and how it is opened on both sides."""

    group: str
    name: str
    path: Path
    open: Callable[[Path], Callable[[Sequence[str], Differences], None]]

    def comparer(self) -> Comparer:
        """A function that compares both sides on texts."""
        compare = self.open(self.path)

        def run(texts: Sequence[str]) -> Differences:
            differences = Differences(len(texts), sum(map(len, texts)))
            compare(texts, differences)
            return differences

        return run


def dropped_ones_only(
    text: str, spans: Sequence[tuple[int, int]], vanishes: Callable[[str], bool]
) -> bool:
    """Whether spans are in order and leave out only characters that vanish in normalization.

    Decomposition sorts the marks of a character, and both sides count them in the new order: so
    among marks, only their number says which vanished.
    """

    def vanished(begin: int, end: int) -> bool:
        if all(map(vanishes, text[begin:end])):
            return True
        first, last = begin, end
        while first > 0 and unicodedata.combining(text[first]):
            first -= 1
        while last < len(text) and unicodedata.combining(text[last]):
            last += 1
        return sum(map(vanishes, text[first:last])) >= end - begin

    at = start = 0
    for begin, end in spans:
        if not (start <= begin <= end and at <= end):
            return False
        if begin > at and not vanished(at, begin):
            return False
        start, at = begin, end
    return vanished(at, len(text))


def sentence_piece(path: Path) -> Callable[[Sequence[str], Differences], None]:
    """A `.model` file against SentencePiece."""
    judge: Any = sentencepiece.SentencePieceProcessor(model_file=str(path))
    tok = jeton.load(path)
    try:
        judge.nbest_encode("a", nbest_size=2)
        draws = True
    except RuntimeError:
        draws = False

    @functools.cache
    def vanishes(character: str) -> bool:
        return not judge.normalize(f"a{character}")[1 + (judge.normalize("a") != "a") :].strip(" ▁")

    def compare(texts: Sequence[str], differences: Differences) -> None:
        texts = list(texts)
        theirs = judge.encode(texts, num_threads=1, return_type="numpy")
        ours = tok.encode_batch(texts)
        for text, a, b in zip(texts, theirs, ours, strict=True):
            if not np.array_equal(a, b):
                differences.note("ids", text)
        some = [ids.tolist() for ids in theirs[::DECODED]]
        for text, c, d in zip(
            texts[::DECODED], judge.decode(some), tok.decode_batch(some), strict=True
        ):
            if c != d:
                differences.note("decoding", text)
        for text in (text[:CLOSELY] for text in texts[::STRIDE]):
            mapping = judge.encode(text, return_type="offset_mapping")
            encoding = tok.encode_with_spans(text)
            spans = [(begin, end) for begin, end in encoding.spans]
            if list(encoding.ids) != mapping["ids"]:
                differences.note("ids with spans", text)
            elif not spans_agree(judge, text, mapping, spans):
                differences.note("spans", text)
            if not dropped_ones_only(text, spans, vanishes):
                differences.note("tiling", text)
            for id, piece in zip(mapping["ids"], judge.encode(text, out_type=str), strict=True):
                if id != judge.unk_id() and tok.vocab.spelling(id) != piece.encode():
                    differences.note("pieces", text)
            start = text[:200]
            if (
                draws
                and judge.encode(start)
                and tok.nbest(start, 5) != judge.nbest_encode(start, nbest_size=5)
            ):
                differences.note("n-best", start)

    return compare


def bert(*, lowercase: bool) -> Callable[[Path], Callable[[Sequence[str], Differences], None]]:
    """A `vocab.txt` against the BERT tokenizer of tokenizers."""

    def opened(path: Path) -> Callable[[Sequence[str], Differences], None]:
        judge = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
        return hugging_face_compare(judge._tokenizer, jeton.load(path, lowercase=lowercase))

    return opened


def hugging_face(path: Path) -> Callable[[Sequence[str], Differences], None]:
    """A `tokenizer.json` against tokenizers."""
    return hugging_face_compare(tokenizers.Tokenizer.from_file(str(path)), jeton.load(path))


def hugging_face_compare(
    judge: Any, tok: jeton.Tokenizer
) -> Callable[[Sequence[str], Differences], None]:
    """The same of two opened tokenizers."""
    # Text never becomes a special token, as with special="ignore" here.
    encoder = judge_without_specials(judge.to_str())

    @functools.cache
    def vanishes(character: str) -> bool:
        normal = judge.normalizer.normalize_str(character) if judge.normalizer else character
        return not normal.strip(" ▁") or normal.isspace()

    def compare(texts: Sequence[str], differences: Differences) -> None:
        texts = list(texts)
        theirs = encoder.encode_batch_fast(texts)
        ours = tok.encode_batch(texts, add_special_tokens=True).tolist()
        for text, a, b in zip(texts, theirs, ours, strict=True):
            if a.ids != b:
                differences.note("ids", text)
        some = ours[::DECODED]
        decoded = judge.decode_batch(some, skip_special_tokens=False)
        for text, c, d in zip(texts[::DECODED], decoded, tok.decode_batch(some), strict=True):
            if c != d:
                differences.note("decoding", text)
        close = [text[:CLOSELY] for text in texts[::STRIDE]]
        for text, row in zip(close, encoder.encode_batch(close), strict=True):
            encoding = tok.encode_with_spans(text, add_special_tokens=True)
            spans = [(begin, end) for begin, end in encoding.spans]
            if list(encoding.ids) != row.ids:
                differences.note("ids with spans", text)
            elif not hold(spans, row.offsets, judge.normalizer):
                differences.note("spans", text)
            inner = [
                span for span, mask in zip(spans, row.special_tokens_mask, strict=True) if not mask
            ]
            if not dropped_ones_only(text, inner, vanishes):
                differences.note("tiling", text)

    return compare


def real_pairs(vocabularies: Path) -> Iterator[Pair]:
    """Published files; the T5-style one is a BPE by its own trainer_spec, whatever it is called."""
    for name in ("llama2_sentencepiece_bpe.model", "t5_style_unigram.model"):
        yield Pair("published", name, vocabularies / name, sentence_piece)
    for lowercase in (True, False):
        name = f"bert_uncased_vocab.txt, lowercase={lowercase}"
        path = vocabularies / "bert_uncased_vocab.txt"
        yield Pair("published", name, path, bert(lowercase=lowercase))


def option_pairs(folder: Path, count: int = 80) -> Iterator[Pair]:
    """Small SentencePiece models of all option combinations, trained here."""
    for number in range(count):
        rng = random.Random(number)
        options = {name: rng.choice(values) for name, values in OPTIONS.items()}
        options["model_type"] = OPTIONS["model_type"][number % 4]
        path = folder / f"options-{number}.model"
        if not path.exists():
            path.write_bytes(train(options))
        yield Pair("SentencePiece, all options", path.stem, path, sentence_piece)


def trained_pairs(folder: Path, lines: Sequence[str]) -> Iterator[Pair]:
    """Models trained here on real text, with sentencepiece and with tokenizers."""
    yield from sentence_pieces(folder, lines)
    yield from word_pieces(folder, lines)
    yield from unigrams(folder, lines)


def sentence_pieces(folder: Path, lines: Sequence[str]) -> Iterator[Pair]:
    shapes: list[dict[str, Any]] = [
        {},
        {"byte_fallback": True, "normalization_rule_name": "identity"},
        {"user_defined_symbols": ["<sep>", "the", "▁x", "é"], "split_digits": True},
        {"treat_whitespace_as_suffix": True, "normalization_rule_name": "nfkc_cf"},
        {
            "remove_extra_whitespaces": False,
            "allow_whitespace_only_pieces": True,
            "byte_fallback": True,
            "normalization_rule_name": "nfkc",
        },
        {"split_by_whitespace": False, "split_by_unicode_script": False},
    ]
    for kind, (number, shape) in itertools.product(
        ("unigram", "bpe", "word", "char"), enumerate(shapes)
    ):
        if kind in ("word", "char") and number > 2:
            continue
        path = folder / f"{kind}-{number}.model"
        if not path.exists():
            file = io.BytesIO()
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(lines),
                model_writer=file,
                model_type=kind,
                vocab_size=4000,
                character_coverage=0.9995,
                hard_vocab_limit=False,
                minloglevel=3,
                **shape,
            )
            path.write_bytes(file.getvalue())
        yield Pair("SentencePiece, real text", path.stem, path, sentence_piece)


def word_pieces(folder: Path, lines: Sequence[str]) -> Iterator[Pair]:
    normalizer: list[Any] = [
        normalizers.BertNormalizer(),
        normalizers.BertNormalizer(lowercase=False),
        normalizers.BertNormalizer(lowercase=True, strip_accents=False, clean_text=False),
        normalizers.Sequence([normalizers.NFKC(), normalizers.StripAccents()]),
    ]
    pre_tokenizer: list[Any] = [
        pre_tokenizers.BertPreTokenizer(),
        pre_tokenizers.Whitespace(),
        pre_tokenizers.WhitespaceSplit(),
    ]
    for number, (normal, pre) in enumerate(itertools.product(normalizer, pre_tokenizer)):
        path = folder / f"wordpiece-{number}.json"
        if not path.exists():
            prefix = "@@" if number % 4 == 3 else "##"
            limit = 20 if number % 3 == 1 else 100
            judge = tokenizers.Tokenizer(
                models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=limit)
            )
            judge.normalizer, judge.pre_tokenizer = normal, pre
            judge.decoder = decoders.WordPiece(prefix=prefix, cleanup=number % 2 == 0)
            trainer = trainers.WordPieceTrainer(
                vocab_size=4000,
                special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
                continuing_subword_prefix=prefix,
                show_progress=False,
            )
            judge.train_from_iterator(lines, trainer)
            judge.save(str(path))
        yield Pair("WordPiece by tokenizers", path.stem, path, hugging_face)


def unigrams(folder: Path, lines: Sequence[str]) -> Iterator[Pair]:
    normalizer: list[Any] = [
        None,
        normalizers.NFKC(),
        normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Lowercase()]),
    ]
    pre_tokenizer: list[Any] = [
        pre_tokenizers.Metaspace(),
        pre_tokenizers.Metaspace(prepend_scheme="first"),
        pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
        pre_tokenizers.WhitespaceSplit(),
    ]
    for number, (normal, pre) in enumerate(itertools.product(normalizer, pre_tokenizer)):
        path = folder / f"unigram-{number}.json"
        if not path.exists():
            judge = tokenizers.Tokenizer(models.Unigram())
            judge.normalizer, judge.pre_tokenizer = normal, pre
            judge.decoder = decoders.Metaspace()
            trainer = trainers.UnigramTrainer(
                vocab_size=3000,
                special_tokens=["<unk>", "<s>"],
                unk_token="<unk>",
                show_progress=False,
            )
            judge.train_from_iterator(lines, trainer)
            stored = json.loads(judge.to_str())
            if number % 2:
                model = stored["model"]
                model["byte_fallback"] = True
                model["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
            path.write_text(json.dumps(stored), encoding="utf-8")
        yield Pair("Unigram by tokenizers", path.stem, path, hugging_face)
