"""`jeton.sentencepiece` call by call against the installed sentencepiece.

Calls that only some versions of the library have are compared where it has them.
"""

from __future__ import annotations

import functools
import random
import statistics
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import Scale
from jeton.components import normalizers
from jeton.sentencepiece import SentencePieceProcessor
from test_sentencepiece import LINES, OPTIONS, nasty, train

sentencepiece = pytest.importorskip("sentencepiece")

NAMES: Sequence[str] = dir(sentencepiece.SentencePieceProcessor)
IS_OLD = "encode_as_immutable_proto" in NAMES
"""Before 0.2.2 there were immutable messages, and neither arrays nor dicts."""

#: Everything is compared of this many models, two or more of each algorithm.
MODELS = 8
TEXTS = 8


@functools.cache
def model(number: int) -> tuple[dict[str, Any], bytes]:
    """A model: all algorithms, with and without bytes, the rest of the options at random."""
    rng = random.Random(number)
    options = {name: rng.choice(values) for name, values in OPTIONS.items()}
    options["model_type"] = OPTIONS["model_type"][number % 4]
    options["byte_fallback"] = number // 4 % 2 == 1
    if IS_OLD:
        # User-defined pieces had another bonus.
        options["user_defined_symbols"] = []
    return options, train(options)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, as plain values; the kind of the error that it ends in."""
    try:
        return plain(call())
    except IndexError:
        return "no such piece"
    except (ValueError, RuntimeError, TypeError, OSError, LookupError):
        return "refused"


def plain(value: Any) -> Any:
    """Messages as bytes, and arrays as lists."""
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    return value


Pair = tuple[Any, SentencePieceProcessor]


def pair(proto: bytes) -> Pair:
    """The judge and ours, of one model."""
    return (
        sentencepiece.SentencePieceProcessor(model_proto=proto),
        SentencePieceProcessor(model_proto=proto),
    )


def same(both: Pair, name: str, *given: Any, **options: Any) -> None:
    """Calls the same on both."""
    expected, got = (outcome(partial(getattr(sp, name), *given, **options)) for sp in both)
    assert got == expected, (name, given, options)


FORMS: list[Any] = [int, str, "serialized_proto"]
FORMS += ["immutable_proto"] if IS_OLD else [bytes, "numpy", "offset_mapping", "proto"]
AROUND: list[dict[str, bool]] = [
    {},
    {"add_bos": True},
    {"add_eos": True, "reverse": True},
    {"add_bos": True, "add_eos": True, "emit_unk_piece": True},
]


def messages(told: Any) -> list[tuple[Any, ...]]:
    """The pieces of an immutable message, which is compared by its attributes."""
    pieces = [(p.piece, p.id, p.surface, p.begin, p.end) for p in told.pieces]
    return [(told.text, round(told.score, 3)), *pieces]


@pytest.mark.large
@pytest.mark.parametrize("number", range(MODELS))
def test_text_to_pieces(number: int) -> None:
    options, proto = model(number)
    judge, ours = both = pair(proto)
    rng = random.Random(number)
    texts = ["", " ", "▁", "the fox", *(nasty(rng) for _ in range(TEXTS))]
    for text in texts:
        about = (options, text)
        for form in FORMS:
            if form == "immutable_proto":
                told = judge.encode(text, out_type=form), ours.encode(text, out_type=form)
                assert messages(told[0]) == messages(told[1]), about
                continue
            around = AROUND if form in (int, str) else AROUND[:1]
            for more in around:
                same(both, "encode", text, out_type=form, **more)
                if options["model_type"] == "unigram" and form != "offset_mapping":
                    same(both, "nbest_encode", text, nbest_size=7, out_type=form, **more)
        same(both, "normalize", text, with_offsets=True)
        same(both, "normalize", text)
        data = text.encode()
        same(both, "normalize", data, with_offsets=True)
        same(both, "encode", data)
        broken = data[1:] + b"\xff a\xe6\x9d" + data
        same(both, "encode", broken)
        same(both, "encode", broken, out_type="serialized_proto")
        if not IS_OLD:
            same(both, "encode", data, out_type="offset_mapping")
            for as_bytes in (False, True):
                same(both, "encode", text, out_type="offset_mapping", return_bytes=as_bytes)
    for form in (int, str):
        same(both, "encode", texts, out_type=form, add_bos=True)


@pytest.mark.parametrize("number", range(MODELS))
def test_pieces_to_text(number: int) -> None:
    options, proto = model(number)
    judge, ours = both = pair(proto)
    rng = random.Random(number)
    size = len(judge)
    odd = ["東▁京", "▁", "zzz", "▁▁x", "<0x41>", "<0xE6>", "<unk>", "</s>", "<s>", "�", "<pad>"]
    spelled = [judge.id_to_piece(id) for id in range(size)]
    forms = [str, "serialized_proto"] + (
        ["immutable_proto"] if IS_OLD else [bytes, "offset_mapping", "proto"]
    )
    for _ in range(40):
        ids = [rng.randrange(size) for _ in range(rng.randint(0, 9))]
        pieces = [rng.choice(spelled + odd * 9) for _ in range(rng.randint(1, 9))]
        for given in (ids, pieces):
            for form in forms:
                if form == "immutable_proto":
                    told = judge.decode(given, out_type=form), ours.decode(given, out_type=form)
                    if given:
                        assert messages(told[0]) == messages(told[1]), (options, given)
                elif given or form is str:
                    same(both, "decode", given, out_type=form)
    # Before, a single 0 was no id.
    single = 5 if IS_OLD else 0
    others: list[Any] = [
        single,
        "▁the",
        [[5, 6], [], [7]],
        [["▁the"], ["zzz"]],
        [],
        "",
        size,
        -1,
        [size],
    ]
    for other in others:
        same(both, "decode", other)


@pytest.mark.parametrize("number", range(4))
def test_pieces(number: int) -> None:
    options, proto = model(number)
    judge, ours = both = pair(proto)
    ids = list(range(len(judge)))
    looked_up = ["id_to_piece", "get_score", "is_unknown", "is_control", "is_unused", "is_byte"]
    for name in looked_up:
        for given in (ids, ids[-1], len(ids), -1, [0, len(ids)]):
            same(both, name, given)
    spelled = judge.id_to_piece(ids)
    for piece in [*spelled, "no such piece", "", "<unk>", "</s>", "▁"]:
        same(both, "piece_to_id", piece)
        same(both, "__getitem__", piece)
    same(both, "piece_to_id", spelled)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id", "vocab_size", "get_piece_size", "__len__"):
        same(both, name)
    assert ours.serialized_model_proto() == proto
    kinds = {"unknown": judge.is_unknown, "control": judge.is_control, "byte": judge.is_byte}
    for name, judged in kinds.items():
        assert [kind == name for kind in ours.kind(ids)] == judged(ids)
    symbols = {"".join(symbol) for symbol in options["user_defined_symbols"]}
    defined = {ours.id_to_piece(id) for id in ids if ours.is_user_defined(id)}
    assert {piece.replace("▁", " ") for piece in defined} >= {s for s in symbols if " " in s}


@pytest.mark.large
@pytest.mark.skipif(IS_OLD, reason="this sentencepiece knows of fewer characters")
@pytest.mark.parametrize("name", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
def test_character_maps(name: str, scale: Scale) -> None:
    """The map that is made here does to every text what the one of a trained model does."""
    proto = train({"byte_fallback": False, "vocab_size": 120}, normalization_rule_name=name)
    ours = SentencePieceProcessor(model_proto=proto)
    made = normalizers.SentencePiece(
        charsmap=normalizers.Precompiled.named(name).charsmap,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )
    ours.override_normalizer_spec(
        add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False
    )
    shipped = ours.tokenizer.stages.normalizer
    assert shipped is not None
    # The library's Unicode is older than jeton's, and younger than Python's.
    characters = [chr(code) for code in range(1, 0x30000)]
    characters = [c for c in characters if unicodedata.category(c) not in ("Cn", "Cs")]
    rng = random.Random(1)
    marks = [chr(code) for code in (*range(0x300, 0x350), 0x5B7, 0x94D, 0x3099, 0x309A, 0x1161)]
    texts = ["\n".join(characters)]
    texts += ["".join(rng.choices(characters, k=40)) for _ in range(scale.strings // 10)]
    texts += [
        rng.choice(characters[:0x3000]) + "".join(rng.choices(marks, k=rng.randint(1, 3)))
        for _ in range(scale.strings)
    ]
    for text in texts:
        assert made(text) == shipped(text), text
    rules = sentencepiece.SentencePieceNormalizer(rule_name=name).Decompile()
    for text, expected in rng.sample(rules, min(scale.strings, len(rules))):
        assert made(text) == expected, text


def test_training_with_case_folded() -> None:
    """A model that is trained here with a case-folding map is read there, to the same ids."""
    import jeton

    tok = jeton.UnigramTrainer(90, normalizer="nmt_nfkc_cf").train([line.title() for line in LINES])
    ours = tok.as_sentencepiece()
    judge = sentencepiece.SentencePieceProcessor(model_proto=ours.serialized_model_proto())
    rng = random.Random(2)
    for text in ["The QUICK Fox", "ΑΣ ΣΤΡΑ ẞ ſ İ ı", *(nasty(rng).upper() for _ in range(60))]:
        assert ours.encode(text) == judge.encode(text), text
        assert ours.normalize(text) == judge.normalize(text)
    assert ours.encode("The Fox") == ours.encode("tHE FOX")


@pytest.mark.large
def test_shared_models(vocabularies: Path, documents: list[str]) -> None:
    for name in ("llama2_sentencepiece_bpe.model", "t5_style_unigram.model"):
        judge, _ = both = (
            sentencepiece.SentencePieceProcessor(model_file=str(vocabularies / name)),
            SentencePieceProcessor(model_file=vocabularies / name),
        )
        for text in documents[::9]:
            text = text[:2_000]
            same(both, "encode", text, out_type="serialized_proto")
            if judge.bos_id() >= 0:
                same(both, "encode", text, out_type=str, add_bos=True)
            same(both, "normalize", text, with_offsets=True)
            ids = judge.encode(text)
            same(both, "decode", ids, out_type="serialized_proto")


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.skipif("calculate_entropy" not in NAMES, reason="this sentencepiece has no entropy")
def test_entropy(alpha: float) -> None:
    proto = train({name: values[0] for name, values in OPTIONS.items()})
    judge, ours = pair(proto)
    rng = random.Random(1)
    for text in ["", "the fox", "she sells sea shells", *(nasty(rng) for _ in range(40))]:
        expected = judge.calculate_entropy(text, alpha)
        assert ours.calculate_entropy(text, alpha) == pytest.approx(expected, rel=2e-3, abs=2e-3)


@pytest.mark.skipif(
    "sample_encode_and_score" not in NAMES, reason="this sentencepiece has no samples with scores"
)
@pytest.mark.parametrize("options", [{}, {"wor": True}, {"wor": True, "include_best": True}])
def test_samples_with_scores(options: dict[str, bool]) -> None:
    """As often, and with scores as likely; a score of a sample by itself is the same."""
    proto = train({name: values[0] for name, values in OPTIONS.items()})
    judge, ours = pair(proto)
    text, alpha, count, rounds = "the tests", 0.3, 4, 1_500

    def drawn(sp: Any) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], list[float]]]:
        times: dict[tuple[str, ...], int] = {}
        scores: dict[tuple[str, ...], list[float]] = {}
        for _ in range(rounds):
            samples = sp.sample_encode_and_score(
                text, num_samples=count, alpha=alpha, out_type=str, **options
            )
            assert len(samples) == count
            for pieces, score in samples:
                key = tuple(pieces)
                times[key] = times.get(key, 0) + 1
                scores.setdefault(key, []).append(score)
        return times, scores

    (theirs, their_scores), (mine, my_scores) = drawn(judge), drawn(ours)
    for key in {*theirs, *mine}:
        ours_count, theirs_count = mine.get(key, 0), theirs.get(key, 0)
        expected = (ours_count + theirs_count) / 2
        assert abs(ours_count - theirs_count) <= 5 * (2 * expected) ** 0.5 + 1, key
        if min(ours_count, theirs_count) > 200:
            samples = mine_of, theirs_of = my_scores[key], their_scores[key]
            error = sum(statistics.variance(scores) / len(scores) for scores in samples) ** 0.5
            # Without replacement a score says how likely all that was drawn is: it varies.
            difference = statistics.fmean(mine_of) - statistics.fmean(theirs_of)
            assert abs(difference) <= 6 * error + 1e-3, key


@pytest.mark.skipif("set_vocabulary" not in NAMES, reason="this sentencepiece restricts nothing")
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word"])
@pytest.mark.parametrize("byte_fallback", [False, True])
def test_restricted_vocabularies(model_type: str, byte_fallback: bool, tmp_path: Path) -> None:
    first = {name: values[0] for name, values in OPTIONS.items()}
    first |= {"user_defined_symbols": ["<sep>"], "vocab_size": 300}
    proto = train({**first, "model_type": model_type, "byte_fallback": byte_fallback})
    judge, _ = both = pair(proto)
    rng = random.Random(1)
    texts = ["the quick brown fox", "<sep>she sells", *(nasty(rng) for _ in range(20))]
    spelled = judge.id_to_piece(list(range(len(judge))))
    for share in (0.0, 0.3, 0.8):
        valid = [piece for piece in spelled if rng.random() < share]
        same(both, "set_vocabulary", valid)
        for text in texts:
            same(both, "encode", text, out_type="serialized_proto")
            if model_type == "unigram":
                same(both, "nbest_encode", text, nbest_size=4, out_type=str)
    path = tmp_path / "vocabulary.tsv"
    rows = [f"{piece}\t{rng.randint(1, 9)}" for piece in spelled[3:] if "\t" not in piece]
    path.write_text("\n".join(rows), encoding="utf-8")
    same(both, "load_vocabulary", str(path), 6)
    for text in texts:
        same(both, "encode", text)
    if not byte_fallback:
        same(both, "reset_vocabulary")
        for text in texts:
            same(both, "encode", text)


@pytest.mark.skipif("set_encode_extra_options" not in NAMES, reason="no extra options there")
@pytest.mark.parametrize(
    "extra", ["", "bos", "eos:bos", "bos:eos:reverse", "reverse:bos", "unk", "reverse:unk", "foo"]
)
def test_extra_options(extra: str) -> None:
    proto = train({name: values[0] for name, values in OPTIONS.items()})
    both = pair(proto)
    same(both, "set_encode_extra_options", extra)
    for text in ("the fox 東京 x", "", "東"):
        for form in (int, str, "serialized_proto"):
            same(both, "encode", text, out_type=form)
        same(both, "encode", text, out_type=str, add_bos=True, reverse=True)
    same(both, "set_decode_extra_options", extra)
    for given in ([5, 6, 7, 0], ["▁the", "zzz", "▁fox"]):
        same(both, "decode", given)


@pytest.mark.skipif("override_normalizer_spec" not in NAMES, reason="no such call there")
@pytest.mark.parametrize("number", range(8))
def test_other_normalization(number: int) -> None:
    proto = train({name: values[0] for name, values in OPTIONS.items()})
    judge, _ = both = pair(proto)
    names = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    flags = {name: bool(number >> at & 1) for at, name in enumerate(names)}
    same(both, "override_normalizer_spec", **flags)
    rng = random.Random(1)
    for text in ("  the  fox ", "", *(nasty(rng) for _ in range(20))):
        same(both, "encode", text, out_type="serialized_proto")
        ids = judge.encode(text)
        same(both, "decode", ids)
