"""`jeton.sentencepiece`: its names, its results on models made here, and what it refuses."""

from __future__ import annotations

import copy
import io
import math
import pickle
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.components import models, normalizers
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)
from jeton.interop.sentencepiece import results
from jeton.sentencepiece import (
    NBestSentencePieceText,
    SentencePieceProcessor,
    SentencePieceText,
    set_random_generator_seed,
)
from kinds import LLAMA

#: Characters that normalization changes, that serve as marks, or that are not whole.
TRICKY = [part.encode() for part in ("\ufffd", "n\ufffd", "ﬁ", "é", "\u3000", "\U0010fffd")]

LINES = ["low lower lowest", "new newer newest", "wide wider widest 12"] * 9

#: The methods of sentencepiece 0.2.1 and 0.2.3, without those that both spell in snake case too.
NAMES = """
CalculateEntropy Decode DecodeIds DecodeIdsAsImmutableProto DecodeIdsAsProto
DecodeIdsAsSerializedProto DecodePieces DecodePiecesAsImmutableProto DecodePiecesAsProto
DecodePiecesAsSerializedProto Detokenize Encode EncodeAsIds EncodeAsImmutableProto EncodeAsNumpy
EncodeAsOffsetMapping EncodeAsPieces EncodeAsProto EncodeAsSerializedProto GetPieceSize GetScore
IdToPiece Init IsByte IsControl IsUnknown IsUnused Load LoadFromFile LoadFromSerializedProto
LoadVocabulary NBestEncode NBestEncodeAsIds NBestEncodeAsImmutableProto NBestEncodeAsNumpy
NBestEncodeAsPieces NBestEncodeAsProto NBestEncodeAsSerializedProto Normalize OverrideNormalizerSpec
ParallelEncode ParallelEncodeAsIds ParallelEncodeAsNumpy ParallelEncodeAsPieces
ParallelEncodeAsProto PieceToId ResetVocabulary SampleEncodeAndScore SampleEncodeAndScoreAsIds
SampleEncodeAndScoreAsImmutableProto SampleEncodeAndScoreAsPieces
SampleEncodeAndScoreAsSerializedProto SampleEncodeAsIds SampleEncodeAsImmutableProto
SampleEncodeAsNumpy SampleEncodeAsPieces SampleEncodeAsProto SampleEncodeAsSerializedProto
SetDecodeExtraOptions SetEncodeExtraOptions SetVocabulary Tokenize
bos_id eos_id from_file from_proto pad_id piece_size serialized_model_proto unk_id vocab_size
""".split()


def snake(name: str) -> str:
    parts = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return parts.lstrip("_").replace("n_best", "nbest")


@pytest.fixture(scope="module")
def tok() -> jeton.Tokenizer:
    return jeton.UnigramTrainer(
        60, special_tokens=["<cls>"], user_defined_symbols=["<sep>"], hard_vocab_limit=False
    ).train(LINES)


@pytest.fixture(scope="module")
def rich() -> SentencePieceProcessor:
    """A model with pieces enough for many segmentations."""
    texts = [samples.read("tales"), samples.read("letters")]
    return jeton.UnigramTrainer(400, normalizer="identity").train(texts).as_sentencepiece()


@pytest.fixture
def sp(tok: jeton.Tokenizer) -> SentencePieceProcessor:
    return tok.as_sentencepiece()


def test_repr() -> None:
    tok = jeton.UnigramTrainer(17).train(["low lower lowest", "new newer newest"] * 9)
    assert repr(tok.as_sentencepiece()) == (
        "<SentencePieceProcessor of <jeton.Tokenizer: SentencePiece, 17 tokens, 2 special>>"
    )
    assert repr(SentencePieceProcessor()) == "<SentencePieceProcessor of None>"


def test_every_name_is_there(sp: SentencePieceProcessor) -> None:
    for name in NAMES:
        assert callable(getattr(sp, name)), name
        assert callable(getattr(sp, snake(name))), name
        documented = getattr(SentencePieceProcessor, snake(name))
        assert documented.__doc__ or name == "Init", name
    assert (len(sp), sp.piece_size(), sp.vocab_size()) == (sp.get_piece_size(),) * 3


def test_ways_to_load(tok: jeton.Tokenizer, sp: SentencePieceProcessor, tmp_path: Path) -> None:
    tok.save(tmp_path / "a.model")
    proto = (tmp_path / "a.model").read_bytes()
    assert sp.serialized_model_proto() == proto

    class Message:
        def SerializeToString(self) -> bytes:
            return proto

    loaded = SentencePieceProcessor()
    assert loaded.Load(str(tmp_path / "a.model")) is True
    for made in (
        SentencePieceProcessor(str(tmp_path / "a.model")),
        SentencePieceProcessor(model_file=tmp_path / "a.model"),
        SentencePieceProcessor(model_proto=proto),
        SentencePieceProcessor(model_proto=Message()),
        SentencePieceProcessor.from_file(tmp_path / "a.model"),
        SentencePieceProcessor.from_proto(proto),
        loaded,
    ):
        assert made.tokenizer == tok and type(made.tokenizer) is jeton.Tokenizer
        assert made.encode("lowest") == tok.encode("lowest")


def test_forms(sp: SentencePieceProcessor) -> None:
    text = "low é <sep>"
    pieces = sp.encode(text, out_type=str)
    assert pieces == ["▁low", "▁", "é", "▁", "<sep>"]
    assert sp.encode(text) == sp.piece_to_id(pieces)
    assert sp.encode(text, return_type=bytes) == [piece.encode() for piece in pieces]
    array = sp.encode(text, out_type="numpy")
    assert (array.dtype.name, array.tolist()) == ("int32", sp.encode(text))
    mapping = sp.encode(text, out_type="offset_mapping")
    assert mapping["offsets"] == [(0, 3), (3, 4), (4, 5), (5, 6), (6, 11)]
    in_bytes = sp.encode(text.encode(), out_type="offset_mapping")
    assert in_bytes["offsets"] == [(0, 3), (3, 4), (4, 6), (6, 7), (7, 12)]
    told = sp.encode(text, out_type="immutable_proto")
    assert isinstance(told, SentencePieceText)
    assert "".join(piece.surface for piece in told.pieces) == text
    assert told.pieces[2].piece_as_bytes == told.pieces[2].surface_as_bytes == "é".encode()
    assert told.text_as_bytes == text.encode()
    assert sp.encode(text, out_type="proto").pieces[2].end == 6
    # protobuf's own containers, or lists.
    assert not isinstance(sp.encode(text, out_type="proto").pieces[:2], tuple)
    assert sp.id_to_piece(range(3)) == sp.id_to_piece([0, 1, 2])
    best = sp.nbest_encode(text, nbest_size=3, out_type="immutable_proto")
    assert isinstance(best, NBestSentencePieceText)
    scores = [one.score for one in best.nbests]
    assert scores == sorted(scores, reverse=True) and len(scores) == 3
    assert sp.encode([text, ""], out_type=str) == [pieces, []]
    assert sp.nbest_encode([text], nbest_size=1) == [[sp.encode(text)]]


def test_messages_are_what_protobuf_reads(sp: SentencePieceProcessor) -> None:
    messages = pytest.importorskip("sentencepiece.sentencepiece_pb2")
    read = messages.SentencePieceText()
    read.ParseFromString(sp.encode("lowest é", out_type="serialized_proto"))
    ours = sp.encode("lowest é", out_type="proto")
    assert [(p.piece, p.id, p.surface, p.begin, p.end) for p in read.pieces] == [
        (p.piece, p.id, p.surface, p.begin, p.end) for p in ours.pieces
    ]
    read = messages.NBestSentencePieceText()
    read.ParseFromString(sp.nbest_encode("lowest", nbest_size=3, out_type="serialized_proto"))
    assert [round(one.score, 4) for one in read.nbests] == [
        round(one.score, 4)
        for one in sp.nbest_encode("lowest", nbest_size=3, out_type="proto").nbests
    ]


def test_messages_are_those_of_protobuf_where_it_is_installed(
    sp: SentencePieceProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    json_format = pytest.importorskip("google.protobuf.json_format")
    from jeton.sentencepiece import sentencepiece_pb2

    told = sp.encode("low é", return_type="proto")
    assert isinstance(told, sentencepiece_pb2.SentencePieceText)
    assert json_format.MessageToDict(told)["pieces"][0] == {
        **{"piece": "▁low", "id": sp["▁low"], "surface": "low", "begin": 0, "end": 3}
    }
    assert pickle.loads(pickle.dumps(told)) == told
    best = sp.nbest_encode("low", nbest_size=2, return_type="proto")
    assert isinstance(best, sentencepiece_pb2.NBestSentencePieceText)
    assert sp.decode([sp["▁low"]], return_type="proto").text == "low"
    told.pieces[0].piece = "changed"
    monkeypatch.setattr(results, "_protobuf_classes", lambda: None)
    assert isinstance(sp.encode("low", return_type="proto"), SentencePieceText)


def test_begin_and_end_pieces_are_added(sp: SentencePieceProcessor, tok: jeton.Tokenizer) -> None:
    plain = sp.encode("lower é")
    assert sp.encode("lower é", add_bos=True, add_eos=True) == [1, *plain, 2]
    assert sp.encode("lower é", reverse=True, add_bos=True) == [1, *plain[::-1]]
    pieces = sp.encode("lower é", out_type=str, emit_unk_piece=True, add_eos=True)
    assert pieces[-2:] == ["<unk>", "</s>"]
    own = SentencePieceProcessor(
        model_proto=sp.serialized_model_proto(), out_type=str, add_bos=True
    )
    assert own.encode("low") == ["<s>", "▁low"]
    assert own.encode("low", add_bos=False) == ["▁low"]
    assert own.encode(["low"], out_type=int) == [[1, *tok.encode("low")]]
    places = sp.encode("low", out_type="immutable_proto", add_bos=True, add_eos=True).pieces
    assert [(p.piece, p.begin, p.end) for p in places] == [
        ("<s>", 0, 0),
        ("▁low", 0, 3),
        ("</s>", 3, 3),
    ]


def test_scores_and_kinds(sp: SentencePieceProcessor) -> None:
    ids = list(range(len(sp)))
    assert sp.kind(ids[:5]) == ["unknown", "control", "control", "control", "user_defined"]
    assert set(sp.kind(ids[5:])) == {"normal"}
    assert sp.is_user_defined(4) and sp.is_control([1, 4]) == [True, False]
    best = sp.nbest_encode("lowest", nbest_size=1)[0]
    path = sp.nbest_encode("lowest", nbest_size=4, out_type="proto").nbests[0]
    assert [piece.id for piece in path.pieces] == best
    assert path.score == pytest.approx(sum(sp.get_score(best)), abs=1e-4)
    assert (sp.unk_id(), sp.bos_id(), sp.eos_id(), sp.pad_id()) == (0, 1, 2, -1)
    assert sp["no such piece"] == sp.piece_to_id(b"no such piece") == 0


def test_decoding_of_what_is_unknown(sp: SentencePieceProcessor) -> None:
    assert sp.decode(["▁low", "東▁京", "<unk>", "</s>", "er"]) == "low東▁京 ⁇ er"
    assert sp.decode(sp.encode("low é")) == "low  ⁇ "
    assert sp.decode(sp.encode("low é", out_type=str)) == "low é"
    told = sp.decode(["▁low", "東▁京", "er"], out_type="immutable_proto")
    assert told.text == "low東▁京er"
    assert [(p.surface, p.begin, p.end, p.id) for p in told.pieces[:2]] == [
        ("low", 0, 3, sp["▁low"]),
        ("東▁京", 3, 6, 0),
    ]
    assert sp.decode([[5, 6], []], out_type=bytes)[1] == b""
    assert sp.decode(None) == sp.decode("") == sp.decode([]) == ""
    numpy = pytest.importorskip("numpy")
    assert sp.decode(numpy.array([[5, 6], [7, 8]])) == sp.decode([[5, 6], [7, 8]])


def test_a_control_piece_between_bytes_ends_a_character() -> None:
    """As sentencepiece decodes; without the piece, the bytes are a character."""
    trainer = jeton.BPETrainer(280, alphabet="sentencepiece", byte_fallback=True)
    sp = trainer.train(LINES).as_sentencepiece()
    first, second = (sp.piece_to_id(f"<0x{byte:02X}>") for byte in "é".encode())
    assert sp.decode([first, second]) == "é"
    split = [sp.bos_id(), first, sp.eos_id(), second]
    judged = sp.decode([sp.id_to_piece(id) for id in split])
    assert sp.decode(split) == judged == "\ufffd\ufffd"
    assert sp.decode([split, [first, second, sp.eos_id()]]) == [judged, "é"]
    spm = pytest.importorskip("sentencepiece")
    theirs = spm.SentencePieceProcessor(model_proto=sp.serialized_model_proto())
    numbers = random.Random(3)
    odd = [first, second, sp.eos_id(), sp.unk_id(), sp.piece_to_id("l")]
    for _ in range(300):
        ids = numbers.choices(odd, k=numbers.randrange(1, 8))
        assert sp.decode(ids) == theirs.decode(ids), ids


def all_segmentations(sp: SentencePieceProcessor, text: str, alpha: float) -> dict[Any, float]:
    """All segmentations of a short text with the logarithms of their probabilities."""
    paths = sp.nbest_encode(text, nbest_size=512, out_type="proto").nbests
    assert len(paths) < 512
    logs = {tuple(p.piece for p in path.pieces): alpha * path.score for path in paths}
    total = math.log(sum(map(math.exp, logs.values())))
    return {pieces: log - total for pieces, log in logs.items()}


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_entropy(sp: SentencePieceProcessor, alpha: float) -> None:
    for text in ("low", "newest", "wide 12"):
        logs = all_segmentations(sp, text, alpha).values()
        expected = -sum(math.exp(log) * log for log in logs)
        assert sp.calculate_entropy(text, alpha) == pytest.approx(expected, abs=1e-4)
    assert sp.calculate_entropy(["low", ""], alpha)[1] == 0.0


def test_samples(rich: SentencePieceProcessor) -> None:
    sp, text = rich, "the winter"
    logs = all_segmentations(sp, text, 0.2)
    set_random_generator_seed(1)
    drawn = sp.sample_encode_and_score(text, num_samples=5_000, alpha=0.2, out_type=str)
    counts = Counter(tuple(pieces) for pieces, _ in drawn)
    for pieces, score in drawn:
        assert score == pytest.approx(logs[tuple(pieces)], abs=1e-4)
    for pieces, log in logs.items():
        expected = 5_000 * math.exp(log)
        assert abs(counts[pieces] - expected) <= 5 * expected**0.5 + 1
    set_random_generator_seed(1)
    again = sp.sample_encode_and_score(text, num_samples=5_000, alpha=0.2, out_type=str)
    assert again == drawn
    options: dict[str, Any] = {"num_samples": 6, "alpha": 0.2, "wor": True, "include_best": True}
    best, *others = sp.sample_encode_and_score(text, out_type=str, **options)
    assert best == (sp.encode(text, out_type=str), 0.0)
    assert len({tuple(pieces) for pieces, _ in others}) == 5
    assert all(score < 0 for _, score in others)
    message = sp.sample_encode_and_score(text, out_type="proto", num_samples=2)
    assert all(one.score <= 0 and one.text == text for one in message.nbests)


def test_a_seed_for_what_is_drawn(rich: SentencePieceProcessor) -> None:
    sp = rich
    options: dict[str, Any] = {"enable_sampling": True, "nbest_size": -1, "alpha": 0.1}
    runs = []
    for _ in range(2):
        set_random_generator_seed(5)
        runs.append([sp.encode("lowest newest", out_type=str, **options) for _ in range(20)])
    assert runs[0] == runs[1]
    assert len({tuple(pieces) for pieces in runs[0]}) > 5
    assert sp.sample_encode_as_pieces("low", 3, 0.5) in [
        list(pieces) for pieces in all_segmentations(sp, "low", 1.0)
    ]


def test_a_restricted_vocabulary(sp: SentencePieceProcessor, tmp_path: Path) -> None:
    before = sp.encode("lowest <sep>", out_type=str)
    assert sp.set_vocabulary(["▁low", b"est"])
    assert sp.encode("lowest newest", out_type=str)[0] == "▁low"
    assert sp.encode("new <sep>", out_type=str) == [*"▁new", "▁", "<sep>"]
    assert sp.is_unused(sp["▁new"]) or "▁new" not in before
    again = pickle.loads(pickle.dumps(sp))
    assert again.encode("lower") == sp.encode("lower")
    assert again.reset_vocabulary() and sp.reset_vocabulary()
    assert again.encode("lowest <sep>", out_type=str) == before
    (tmp_path / "v.tsv").write_text("▁low\t9\nest\t2\r\n▁n\n", encoding="utf-8")
    sp.load_vocabulary(tmp_path / "v.tsv", 3)
    assert [sp.id_to_piece(id) for id in range(len(sp)) if not sp.is_unused(id)][-1] != "est"
    bad = {"empty": "\t3\n", "no number": "a\tb\n"}
    for text in bad.values():
        (tmp_path / "v.tsv").write_text(text, encoding="utf-8")
        with pytest.raises(
            ArgumentError, match=r"v\.tsv:1: .* is not a piece, a tab and a frequency"
        ):
            sp.load_vocabulary(tmp_path / "v.tsv", 1)
    (tmp_path / "v.tsv").write_bytes(b"\xff")
    with pytest.raises(FileError, match="not UTF-8 at byte 0"):
        sp.load_vocabulary(tmp_path / "v.tsv", 1)
    with pytest.raises(FileError, match="missing"):
        sp.load_vocabulary(tmp_path / "missing", 1)


def test_bytes_stay_bytes_under_a_restricted_vocabulary() -> None:
    options = {"byte_fallback": True, "hard_vocab_limit": False}
    sp = jeton.UnigramTrainer(400, **options).train(LINES).as_sentencepiece()  # type: ignore[arg-type]
    sp.set_vocabulary([])
    assert sp.decode(sp.encode("low 東")) == "low 東"


def test_options_for_every_call(sp: SentencePieceProcessor) -> None:
    plain = sp.encode("low é", out_type=str)
    sp.set_encode_extra_options("reverse:bos:unk")
    assert sp.encode("low é", out_type=str) == ["<s>", "<unk>", "▁", "▁low"]
    assert copy.copy(sp).encode("low é", out_type=str)[0] == "<s>"
    sp.set_encode_extra_options("")
    assert sp.encode("low é", out_type=str) == plain
    sp.set_decode_extra_options("reverse")
    assert sp.decode(["er", "▁low"]) == "lower"


def test_other_normalization(sp: SentencePieceProcessor) -> None:
    sp.override_normalizer_spec(add_dummy_prefix="false", remove_extra_whitespaces=0)
    assert sp.normalize("a  b") == "a▁▁b"
    assert sp.decode(["▁low"]) == " low"
    with pytest.raises(ArgumentError, match="did you mean 'add_dummy_prefix'"):
        sp.override_normalizer_spec(add_dumy_prefix=True)
    with pytest.raises(ArgumentTypeError, match="add_dummy_prefix must be a bool"):
        sp.override_normalizer_spec(add_dummy_prefix="perhaps")


@pytest.mark.large
def test_case_is_folded() -> None:
    tok = jeton.UnigramTrainer(40, normalizer="nfkc_cf", hard_vocab_limit=False).train(LINES)
    sp = tok.as_sentencepiece()
    assert sp.normalize("LOWER ÉTÉ Ⅷ ΣΑΣ") == "▁lower▁été▁viii▁σασ"
    assert sp.encode("LOWER") == sp.encode("lower")
    assert tok.stages.normalizer is not None and tok.stages.normalizer("Ａ") == "▁a"
    assert normalizers.Precompiled.named("nfkc_cf")("Ａ") == "a"
    with pytest.raises(ArgumentError, match="nfkc_cf is for style='sentencepiece'"):
        jeton.UnigramTrainer(40, style="huggingface", normalizer="nfkc_cf")


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "text": (lambda sp: sp.encode(3), ArgumentTypeError, "a text must be a str or bytes, not int"),
    "texts": (lambda sp: sp.encode([None]), ArgumentTypeError, "a text must be a str or bytes"),
    "tuple": (lambda sp: sp.encode(("a",)), ArgumentTypeError, "not tuple"),
    "form": (lambda sp: sp.encode("a", out_type=float), ArgumentError, "is not one of int, str"),
    "two forms": (
        lambda sp: sp.encode("a", out_type=int, return_type=str),
        ArgumentError,
        "are the same argument",
    ),
    "bytes of a form": (
        lambda sp: sp.encode("a", return_bytes=True),
        ArgumentError,
        "is for return_type='offset_mapping'",
    ),
    "nothing drawn": (
        lambda sp: sp.encode("a", enable_sampling=True, nbest_size=1),
        ArgumentError,
        "enable_sampling needs",
    ),
    "many segmentations": (
        lambda sp: sp.nbest_encode("a", nbest_size=513),
        ArgumentError,
        "at most 512, not 513",
    ),
    "alpha": (
        lambda sp: sp.encode("a", enable_sampling=True, alpha="x"),
        ArgumentTypeError,
        "alpha must be a number",
    ),
    "negative alpha": (
        lambda sp: sp.calculate_entropy("a", -1.0),
        ArgumentError,
        "alpha must be at least 0",
    ),
    "nan": (lambda sp: sp.calculate_entropy("a", math.nan), ArgumentError, "alpha must be"),
    "no samples": (
        lambda sp: sp.sample_encode_and_score("a", num_samples=0),
        ArgumentError,
        "num_samples must be at least 1",
    ),
    "many samples": (
        lambda sp: sp.sample_encode_and_score("a", num_samples=10**9),
        ArgumentError,
        "num_samples must be at most",
    ),
    "the best with replacement": (
        lambda sp: sp.sample_encode_and_score("a", include_best=True),
        ArgumentError,
        "include_best needs wor=True",
    ),
    "id": (lambda sp: sp.id_to_piece(10**6), IndexError, "belongs to no piece; there are"),
    "negative id": (lambda sp: sp.get_score(-1), IndexError, "id -1 belongs to no piece"),
    "id of a text": (lambda sp: sp.decode([10**6]), IndexError, "belongs to no piece"),
    "no id": (lambda sp: sp.is_byte("a"), ArgumentTypeError, "id must be an int"),
    "no number": (lambda sp: sp.decode([1.5]), ArgumentTypeError, "id must be an int"),
    "mixed": (lambda sp: sp.decode(["a", 1]), ArgumentTypeError, "takes ids or pieces"),
    "form of text": (
        lambda sp: sp.decode([1], out_type=int),
        ArgumentError,
        "is not for decoding",
    ),
    "piece": (lambda sp: sp.piece_to_id(3), ArgumentTypeError, "must be a str or bytes"),
    "option": (
        lambda sp: sp.set_encode_extra_options("bos:revers"),
        ArgumentError,
        "no extra option 'revers' \\(did you mean 'reverse'",
    ),
    "options": (lambda sp: sp.set_encode_extra_options(3), ArgumentTypeError, "must be a str"),
    "vocabulary": (lambda sp: sp.set_vocabulary("abc"), ArgumentTypeError, "an iterable of pieces"),
    "both": (lambda sp: sp.load("a", b"b"), ArgumentError, "both given"),
    "neither": (lambda sp: sp.load(), ArgumentError, "there is nothing to load"),
    "no file": (lambda sp: sp.load("/no/such.model"), MissingFileError, "no such"),
    "no proto": (lambda sp: sp.load(model_proto=3), ArgumentTypeError, "model_proto must be bytes"),
    "broken proto": (
        lambda sp: sp.load(model_proto=b"\xff"),
        FormatError,
        "byte 1: 1 bytes should",
    ),
    "seed": (lambda sp: set_random_generator_seed(-1), ArgumentError, "seed must be at least 0"),
    "another kind": (
        lambda sp: jeton.CharTrainer().train("ab").as_sentencepiece(),
        UnsupportedError,
        "only a tokenizer as a SentencePiece .model file holds it",
    ),
    "segmentations of BPE": (
        lambda sp: of_bpe().nbest_encode("a", nbest_size=2),
        UnsupportedError,
        "only one segmentation",
    ),
    "no piece in front": (
        lambda sp: (
            jeton.UnigramTrainer(30, bos_id=None, eos_id=None, hard_vocab_limit=False)
            .train(LINES)
            .as_sentencepiece()
            .encode("a", add_bos=True)
        ),
        ArgumentError,
        "has no piece that begins texts",
    ),
}


def of_bpe() -> SentencePieceProcessor:
    """A processor of a BPE model."""
    tok = jeton.BPETrainer(330, **LLAMA).train(LINES)
    with tempfile.TemporaryDirectory() as folder:
        tok.save(Path(folder) / "a.model")
        return SentencePieceProcessor(Path(folder) / "a.model")


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused(name: str, sp: SentencePieceProcessor) -> None:
    call, error, message = BAD[name]
    with pytest.raises(error, match=message) as caught:
        call(sp)
    assert isinstance(caught.value, jeton.JetonError)
    assert sp.encode("low") == sp.tokenizer.encode("low")


def test_nothing_is_loaded() -> None:
    for call in (
        lambda sp: sp.encode("a"),
        lambda sp: sp.decode([1]),
        lambda sp: len(sp),
        lambda sp: sp.bos_id(),
        lambda sp: sp.set_vocabulary([]),
        lambda sp: sp.tokenizer,
    ):
        with pytest.raises(ArgumentError, match="no model is loaded"):
            call(SentencePieceProcessor())
    empty = pickle.loads(pickle.dumps(SentencePieceProcessor(add_bos=True)))
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        empty.foo  # noqa: B018


@pytest.mark.large
@pytest.mark.parametrize("rules", ["nmt_nfkc", "nmt_nfkc_cf", "nfkc", "identity"])
@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_bytes_that_are_not_utf8_are_read_as_sentencepiece_reads_them(
    kind: str, rules: str
) -> None:
    judge = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    judge.SentencePieceTrainer.train(
        sentence_iterator=iter([*LINES, "ﬁ \ufffd \U0010fffd"]),
        model_writer=model,
        model_type=kind,
        vocab_size=50,
        hard_vocab_limit=False,
        normalization_rule_name=rules,
        user_defined_symbols=["wi", "n\ufffd"],
        minloglevel=3,
    )
    theirs = judge.SentencePieceProcessor(model_proto=model.getvalue())
    ours = SentencePieceProcessor(model_proto=model.getvalue())
    rng = random.Random(rules)
    parts = [b"low", b"wi", b" ", b"\xff", b"\xc3", b"\xe2\x96", b"\x81", *TRICKY]
    for _ in range(50):
        data = b"".join(rng.choices(parts, k=rng.randint(1, 9)))
        for out_type in (int, str, "serialized_proto"):
            expected = theirs.encode([data, b"low"], out_type=out_type)
            assert ours.encode([data, b"low"], out_type=out_type) == expected
        assert ours.normalize(data) == theirs.normalize(data)
        told = theirs.normalize(data, with_offsets=True)
        assert ours.normalize(data, with_offsets=True) == told
        if kind == "unigram":
            assert ours.nbest_encode(data, nbest_size=2) == theirs.nbest_encode(data, nbest_size=2)
    # The mark of a byte is a character that the text does not have.
    for data in (b"lower\xff\xf4\x8f\xbf\xbd", b"n\xff", "n\ufffd".encode()):
        assert ours.encode(data, out_type=str) == theirs.encode(data, out_type=str)
    if kind != "char":
        ours.set_vocabulary(["▁low"])
        assert ours.encode(b"low\xff", out_type=str) == ["▁low", "\ufffd"]


def test_odd_texts(sp: SentencePieceProcessor, rich: SentencePieceProcessor) -> None:
    assert sp.encode("low \ud83d\ude42\ud800x", out_type=str)[-3:] == ["🙂", "▁", "x"]
    told = rich.encode(b"low \xff\xfe", out_type="immutable_proto")
    assert told.pieces[-1].surface_as_bytes == b"\xff\xfe"
    assert told.pieces[-1].piece == "\ufffd\ufffd"
    assert told.SerializeAsString().startswith(b"\n\x06low \xff\xfe")
    assert rich.normalize(b"low\xff", with_offsets=True)[1][-1] == 4
    text = "low " * 50_000
    assert len(sp.encode(text, out_type="immutable_proto").pieces) == len(sp.encode(text))
    assert sp.encode("a\0b", out_type=str) == ["▁", "a\0b"]


def test_models_by_component(sp: SentencePieceProcessor) -> None:
    made = jeton.Tokenizer(models.SentencePiece(sp.serialized_model_proto()))
    assert made.as_sentencepiece().encode("lowest") == sp.encode("lowest")
