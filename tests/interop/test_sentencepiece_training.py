"""`jeton.sentencepiece` in sentencepiece's place: its trainer, its normalizer, its messages."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
import jeton.sentencepiece as spm
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    TrainingError,
    TrainingWarning,
    UnsupportedError,
)
from jeton.sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

LINES = [
    "the weather there, then the theory of 12 winters",
    "she sells sea shells by the sea shore; don't they sell?",
    "newest widest lowest newer lower",
] * 5

RAW: dict[str, Any] = {
    "add_dummy_prefix": False,
    "escape_whitespaces": False,
    "remove_extra_whitespaces": False,
}


def trained(**options: Any) -> SentencePieceProcessor:
    model = io.BytesIO()
    options = {"sentence_iterator": iter(LINES), "model_type": "bpe", "vocab_size": 60, **options}
    spm.SentencePieceTrainer.train(model_writer=model, **options)
    return SentencePieceProcessor(model_proto=model.getvalue())


def pieces_of(processor: Any) -> list[str]:
    return [processor.id_to_piece(id) for id in range(processor.get_piece_size())]


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "ids": {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": -1, "pad_piece": "<fill>"},
    "symbols": {"user_defined_symbols": ["the", "<a b>", " "], "control_symbols": "<c>,<d>"},
    "a role's piece as the user's": {"user_defined_symbols": ["<s>"], "bos_piece": "<s>"},
    "bytes": {"byte_fallback": True, "vocab_size": 330, "normalization_rule_name": "identity"},
    "digits": {"split_digits": "true", "max_sentencepiece_length": 4},
    "coverage": {"character_coverage": 0.98, "required_chars": "é"},
    "more than there are": {"vocab_size": 1000},
    "another unknown": {"unk_surface": "?"},
    "without effect": {
        "differential_privacy_noise_level": 0.5,
        "differential_privacy_clipping_threshold": 2,
        "mining_sentence_size": 10,
        "training_sentence_size": 10,
    },
    "longer lines": {"max_sentence_length": 50},
    "a delimiter": {"pretokenization_delimiter": "e"},
    "parts": {"pretokenizer": lambda text: [*text]},
}


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
@pytest.mark.parametrize("name", OPTIONS)
def test_options_mean_what_they_mean_to_sentencepiece(name: str) -> None:
    judge = pytest.importorskip("sentencepiece")
    options = {"vocab_size": 60, **OPTIONS[name], "hard_vocab_limit": False}
    model = io.BytesIO()
    judge.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=model,
        model_type="bpe",
        minloglevel=3,
        **options,
    )
    theirs = judge.SentencePieceProcessor(model_proto=model.getvalue())
    ours = trained(**options)
    assert pieces_of(ours) == pieces_of(theirs)
    for mark in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(ours, mark)() == getattr(theirs, mark)()
    for text in (*LINES[:3], "  théorie <a b> <c>x 42"):
        assert ours.encode(text) == theirs.encode(text)
    unk = [theirs.unk_id()]
    assert ours.decode(unk) == theirs.decode(unk)


COUNTED: dict[str, dict[str, Any]] = {
    "plain": {},
    "all": {"use_all_vocab": True},
    "coverage": {"character_coverage": 0.98},
    "all, whatever is to be covered": {"use_all_vocab": True, "character_coverage": 0.98},
    "control": {"control_symbols": ["<c>"]},
    "bytes": {"byte_fallback": True, "vocab_size": 275},
    "too many": {"vocab_size": 400, "hard_vocab_limit": False},
    "ids": {"bos_id": -1, "pad_id": 0, "unk_id": 1, "eos_id": 2},
    "no prefix": {"add_dummy_prefix": False, "normalization_rule_name": "identity"},
}


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("kind", ["char", "word"])
def test_models_of_characters_and_words_are_those_of_sentencepiece(kind: str, name: str) -> None:
    judge = pytest.importorskip("sentencepiece")
    lines = [*LINES, "é 図"]
    read = []
    for trainer in (judge.SentencePieceTrainer, spm.SentencePieceTrainer):
        model = io.BytesIO()
        options = {"vocab_size": 16, "model_type": kind, "minloglevel": 3, **COUNTED[name]}
        trainer.train(sentence_iterator=iter(lines), model_writer=model, **options)
        theirs = judge.SentencePieceProcessor(model_proto=model.getvalue())
        ours = SentencePieceProcessor(model_proto=model.getvalue())
        texts = ["  the sea lower xé 図", *lines[:3]]
        assert ours.encode(texts) == theirs.encode(texts)
        scores = theirs.get_score(list(range(theirs.vocab_size())))
        read.append((pieces_of(theirs), pytest.approx(scores, abs=1e-5), theirs.encode(texts)))
    assert read[0][0] == read[1][0] and read[0][2] == read[1][2]
    assert read[1][1] == read[0][1].expected


def test_a_model_of_too_few_words_is_an_error() -> None:
    with pytest.raises(TrainingError, match="vocab_size=400 is too high: the corpus has 22"):
        trained(model_type="word", vocab_size=400)


def test_a_sample_of_the_lines_is_trained_from() -> None:
    first = trained(input_sentence_size=3, shuffle_input_sentence=False, vocab_size=40)
    assert pieces_of(first) == pieces_of(trained(sentence_iterator=iter(LINES[:3]), vocab_size=40))
    assert pieces_of(trained(input_sentence_size=len(LINES))) == pieces_of(trained())
    with pytest.warns(TrainingWarning, match="12 of 15 lines were drawn"):
        drawn = trained(input_sentence_size=12, self_test_sample_size=3)
    assert len(pieces_of(drawn)) == 60


def test_files_are_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(LINES), "utf-8")
    (tmp_path / "b,c.txt").write_text("\n".join(LINES[:3]), "utf-8")
    prefix = tmp_path / "m"
    spm.SentencePieceTrainer.Train(
        f"--input={tmp_path / 'a.txt'} --model_prefix={prefix} --vocab_size=60 --model_type=bpe"
    )
    told = SentencePieceProcessor(model_file=f"{prefix}.model")
    assert pieces_of(told) == pieces_of(trained())
    rows = [line.split("\t") for line in prefix.with_suffix(".vocab").read_text().splitlines()]
    assert [piece for piece, _ in rows] == pieces_of(told)
    assert [float(score) for _, score in rows] == told.get_score(list(range(60)))
    spm.SentencePieceTrainer.train(
        input=[tmp_path / "a.txt", tmp_path / "b,c.txt"],
        model_prefix=str(prefix),
        vocab_size=40,
        vocabulary_output_piece_score=False,
    )
    assert prefix.with_suffix(".vocab").read_text().splitlines()[:2] == ["<unk>", "<s>"]
    assert jeton.load(f"{prefix}.model").vocab_size == 40


def test_lines_that_sentencepiece_leaves_out_are_told() -> None:
    lines = [*LINES, "x" * 5000, "a ▅ b", ""]
    with pytest.warns(TrainingWarning, match=r"2 lines were left out: .*=4,192 bytes"):
        assert pieces_of(trained(sentence_iterator=iter(lines))) == pieces_of(trained())


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no such option": ({"vocab_sizes": 3}, ArgumentError, "did you mean 'vocab_size'"),
    "another kind": ({"model_type": "words"}, ArgumentError, "unigram, bpe, word or char"),
    "words around symbols": (
        {"model_type": "word", "user_defined_symbols": ["a"]},
        UnsupportedError,
        "user_defined_symbols",
    ),
    "all of what is no list": ({"use_all_vocab": True}, ArgumentError, "'word' and 'char'"),
    "what there is not": ({"input_format": "tsv"}, UnsupportedError, "input_format"),
    "two sources": ({"input": "a.txt"}, ArgumentError, "give either input or sentence_iterator"),
    "no number": ({"vocab_size": "many"}, ArgumentTypeError, "vocab_size must be a number"),
    "no flag": ({"split_digits": "maybe"}, ArgumentTypeError, "split_digits must be a bool"),
    "a wrong id": ({"unk_id": 99}, ArgumentError, "does not hold"),
    "two ways to part": (
        {"pretokenizer": str.split, "pretokenization_delimiter": "|"},
        ArgumentError,
        "both split text",
    ),
    "parts that are another text": (
        {"pretokenizer": lambda text: ["hello"]},
        ArgumentError,
        "do not join to that text",
    ),
    "rules twice": (
        {"normalizer": SentencePieceNormalizer(rule_name="nfkc"), "add_dummy_prefix": True},
        ArgumentError,
        "add_dummy_prefix and normalizer contradict",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_contradicting_options_are_refused(name: str) -> None:
    options, error, told = REFUSED[name]
    with pytest.raises(error, match=told):
        trained(**options)


def test_an_exception_of_the_caller_comes_out() -> None:
    def fails(text: str) -> list[str]:
        raise RuntimeError("oh")

    with pytest.raises(RuntimeError, match="oh"):
        trained(pretokenizer=fails)
    with pytest.raises(ArgumentError, match="give model_prefix"):
        spm.SentencePieceTrainer.train(sentence_iterator=iter(LINES))


def test_pieces_keep_to_the_parts_of_a_function() -> None:
    pieces = pieces_of(trained(pretokenizer=lambda text: text.replace("he", "h\0e").split("\0")))
    assert not any("he" in piece for piece in pieces)
    assert trained(pretokenizer=lambda text: [text]).normalize(" a  b") == "▁a▁b"


NORMALIZERS: dict[str, dict[str, Any]] = {
    "identity": {"rule_name": "identity"},
    "nfkc_cf": {"rule_name": "nfkc_cf"},
    "nmt_nfkc, raw": {"rule_name": "nmt_nfkc", **RAW},
    "rules": {"norm_map": [("foo", "bar"), (b"apple", "orange"), ("x", "")]},
    "rules, raw": {"norm_map": [("foo", "bar"), ("apple", "orange")], **RAW},
    "no prefix": {"rule_name": "nfkc", "add_dummy_prefix": False},
}


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers_are_those_of_sentencepiece(name: str) -> None:
    judge = pytest.importorskip("sentencepiece")
    ours = SentencePieceNormalizer(**NORMALIZERS[name])
    theirs = judge.SentencePieceNormalizer(**NORMALIZERS[name])
    copies = (
        ours,
        pickle.loads(pickle.dumps(ours)),
        SentencePieceNormalizer(normalizer_spec=ours.serialized_normalizer_spec()),
        SentencePieceNormalizer(normalizer_spec=theirs.serialized_normalizer_spec()),
        SentencePieceNormalizer(model_proto=theirs.serialized_model_proto()),
    )
    for text in ("ＫＡＤＯＫＡＷＡ ABC", "  foo  applex㍻ ", "", "Straße\u200b"):
        for given in (text, text.encode()):
            for normalizer in copies:
                assert normalizer.normalize(given) == theirs.Normalize(given)
            told = theirs.Normalize(given, with_offsets=True)
            assert ours.normalize(given, with_offsets=True) == tuple(told)
    if "norm_map" in NORMALIZERS[name]:
        assert ours.decompile() == [tuple(rule) for rule in theirs.Decompile()]


@pytest.mark.large
def test_rules_of_a_model_and_of_a_file(tmp_path: Path) -> None:
    tok = jeton.UnigramTrainer(40, normalizer="nmt_nfkc_cf").train(LINES)
    tok.save(tmp_path / "m.model")
    normalizer = SentencePieceNormalizer(model_file=tmp_path / "m.model")
    assert normalizer.normalize(["Ａb", "㍻"]) == tok.as_sentencepiece().normalize(["Ａb", "㍻"])
    (tmp_path / "rules.tsv").write_text("0041\t0042\n61 62\t0063\textra\n7A\n", "utf-8")
    rules = SentencePieceNormalizer(rule_tsv=tmp_path / "rules.tsv", **RAW)
    assert rules.normalize("AabzB") == "BcB"
    assert rules.decompile() == [("A", "B"), ("ab", "c"), ("z", "")]


BAD_RULES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "nothing": (SentencePieceNormalizer, ArgumentError, "no rules are given"),
    "a rule without a source": (
        lambda: SentencePieceNormalizer(norm_map=[("", "a")]),
        ArgumentError,
        "has nothing to replace",
    ),
    "a rule that changes nothing": (
        lambda: SentencePieceNormalizer(norm_map=[(b"a", "a")]),
        ArgumentError,
        "changes nothing",
    ),
    "a rule twice": (
        lambda: SentencePieceNormalizer(norm_map=[("a", "b"), ("a", "c")]),
        ArgumentError,
        "is given twice",
    ),
    "no UTF-8": (
        lambda: SentencePieceNormalizer(norm_map=[(b"\xff", b"a")]),
        ArgumentError,
        "is not UTF-8",
    ),
    "no rules of that name": (
        lambda: SentencePieceNormalizer(rule_name="nfk"),
        ArgumentError,
        "did you mean",
    ),
    "no model": (
        lambda: SentencePieceNormalizer(model_proto=b"\x0a\xff"),
        FormatError,
        "truncated at byte",
    ),
    "no normalizer": (
        lambda: SentencePieceNormalizer(model_proto=b"\x0a\x00"),
        FormatError,
        "has no specification of a normalizer",
    ),
}


@pytest.mark.parametrize("name", BAD_RULES)
def test_rules_that_make_no_sense(name: str) -> None:
    call, error, told = BAD_RULES[name]
    with pytest.raises(error, match=told):
        call()


def test_messages_of_model_files_are_those_of_sentencepiece(tmp_path: Path) -> None:
    pytest.importorskip("google.protobuf")
    judge = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    from jeton.sentencepiece import sentencepiece_model_pb2

    def described(message: Any) -> dict[str, Any]:
        fields = {
            field.name: (field.number, field.type, repr(field.default_value))
            for field in message.fields
        }
        values = {value.name: value.number for enum in message.enum_types for value in enum.values}
        return fields | values

    for name in ("TrainerSpec", "NormalizerSpec", "ModelProto"):
        ours = getattr(sentencepiece_model_pb2, name).DESCRIPTOR
        theirs = getattr(judge, name).DESCRIPTOR
        assert described(theirs).items() <= described(ours).items()
    proto = trained().serialized_model_proto()
    read = sentencepiece_model_pb2.ModelProto.FromString(proto)
    assert read.SerializeToString() == judge.ModelProto.FromString(proto).SerializeToString()
    assert [piece.piece for piece in read.pieces] == pieces_of(trained())
    assert SentencePieceProcessor(model_proto=read).encode("sea") == trained().encode("sea")


def test_transformers_reads_a_folder_with_a_model_alone(tmp_path: Path) -> None:
    """In a process of its own, where sentencepiece is jeton's."""
    pytest.importorskip("transformers")
    pytest.importorskip("google.protobuf")
    tok = jeton.UnigramTrainer(60, hard_vocab_limit=False).train(LINES)
    tok.save(tmp_path / "spiece.model")
    program = f"""
import sys, jeton.sentencepiece, jeton.sentencepiece.sentencepiece_model_pb2 as model
sys.modules["sentencepiece"] = jeton.sentencepiece
sys.modules["sentencepiece.sentencepiece_model_pb2"] = model
from sentencepiece import sentencepiece_model_pb2, SentencePieceProcessor
proto = sentencepiece_model_pb2.ModelProto()
proto.ParseFromString(open({str(tmp_path / "spiece.model")!r}, "rb").read())
print(len(proto.pieces), proto.normalizer_spec.name, SentencePieceProcessor.__module__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == [str(tok.vocab_size), "nmt_nfkc"]


def test_ids_in_tuples_and_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    processor = trained()
    for given in ((1, 2), numpy.array([1, 2]), [1, 2]):
        assert processor.id_to_piece(given) == ["<s>", "</s>"]
        assert processor.is_control(given) == [True, True]
        assert processor.get_score(given) == [0.0, 0.0]
    assert processor.piece_to_id(("<s>", "nothing")) == [1, 0]
    array = processor.encode("the sea", out_type="numpy")
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 3
    assert array.base is not None and processor.decode(array) == "the sea"
    pieces = processor.encode("the sea", out_type=bytes)
    told = processor.decode(pieces, return_type="offset_mapping")
    assert told["text"] == b"the sea" and told["pieces"] == pieces
    told = processor.decode(pieces, return_type="offset_mapping", return_bytes=False)
    assert told["text"] == "the sea"
    again = SentencePieceProcessor.__new__(SentencePieceProcessor)
    again.__setstate__(processor.serialized_model_proto())
    assert again.encode("the sea") == array.tolist()
    with pytest.raises(ArgumentError, match="leave it out"):
        SentencePieceProcessor.from_file("x.model", model_proto=b"")
    with pytest.raises(ArgumentError, match="leave it out"):
        SentencePieceProcessor.from_proto(b"", model_file="x.model")


def test_the_best_segmentations_are_those_of_the_tokenizer() -> None:
    tok = jeton.UnigramTrainer(60, hard_vocab_limit=False).train(LINES)
    processor = tok.as_sentencepiece()
    text = "the weather there"
    best = processor.nbest_encode(text, nbest_size=8)
    assert best == tok.nbest(text, 8)
    pieces = processor.nbest_encode(text, nbest_size=8, out_type=str)
    assert [processor.piece_to_id(row) for row in pieces] == best
    assert processor.nbest_encode(text, nbest_size=2, add_bos=True)[0] == [1, *best[0]]


def test_options_without_effect_are_warned_of() -> None:
    pool = spm.ThreadPool(8)
    assert pool.num_threads() == 8
    assert trained().encode(["sea"], thread_pool=pool) == [trained().encode("sea")]
    spm.SetMinLogLevel(2)
    spm.set_nbest_timeout(0)
    with pytest.raises(ArgumentTypeError):
        spm.ThreadPool("8")  # type: ignore[arg-type]
    assert spm.__version__ == "0.2.3"
