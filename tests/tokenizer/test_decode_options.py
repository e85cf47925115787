"""What decoding leaves out and shows, where ids are in their text, and arrays of odd layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jeton
from jeton.components import Regex, decoders, models, normalizers
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    UnknownTokenError,
    UnsupportedError,
)
from kinds import KINDS, each_kind, ranks
from shared_data import VOCABULARIES, needed


def by_fallback_and_table(tok: jeton.Tokenizer) -> list[jeton.Tokenizer]:
    """The same tokenizer before and after it has made its decode table."""
    other = tok.replace()
    other.decode([tok.vocab.max_id] * 5000)
    return [tok, other]


@pytest.mark.parametrize("tok", by_fallback_and_table(ranks()), ids=["fallback", "table"])
def test_ids_of_padded_rows_are_left_out_or_shown(tok: jeton.Tokenizer) -> None:
    ids = [65, 299, 66, 1 << 20]
    for call in (tok.decode, tok.decode_bytes, lambda ids, **o: tok.decode_batch([ids], **o)):
        with pytest.raises(UnknownTokenError, match="id 299"):
            call(ids)
    assert tok.decode(ids, unknown_ids="skip") == "AB"
    assert tok.decode(ids, unknown_ids="show") == "A[unknown id 299]B[unknown id 1048576]"
    assert tok.decode_bytes(ids, unknown_ids="skip") == b"AB"
    assert tok.decode_bytes(ids[:2], unknown_ids="show") == b"A[unknown id 299]"
    assert tok.decode_batch([ids, [299]], unknown_ids="skip") == ["AB", ""]
    assert tok.decode_batch([[299]], unknown_ids="show") == ["[unknown id 299]"]
    for shown, expected in (("skip", "AB"), ("show", "A[unknown id 299]B[unknown id 1048576]")):
        stream = tok.decode_stream(unknown_ids=shown)  # type: ignore[arg-type]
        assert stream.push(ids) + stream.finish() == expected
        assert stream.kept_tokens == 4
    with pytest.raises(ArgumentError, match="unknown_ids"):
        tok.decode(ids, unknown_ids="ignore")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unknown_ids"):
        tok.decode(ids, unknown_ids=None)  # type: ignore[arg-type]


@each_kind
def test_ids_of_padded_rows_and_tokens_that_are_left_out(tok: jeton.Tokenizer) -> None:
    plain, with_table = by_fallback_and_table(tok)
    specials = [*tok.special_tokens.values()]
    known = sorted({*tok.vocab.values()})[:40]
    ids = [
        tok.vocab.max_id + 3,
        *specials,
        *known,
        tok.vocab.max_id + 1,
        *specials,
        known[0],
        1 << 20,
    ]
    choices: list[Any] = [False, True, specials[:1]]
    for skip in choices:
        of_known = tok.decode(
            [it for it in ids if it <= tok.vocab.max_id], skip_special_tokens=skip
        )
        for some in (plain, with_table):
            assert some.decode(ids, skip_special_tokens=skip, unknown_ids="skip") == of_known
            with pytest.raises(UnknownTokenError):
                some.decode(ids, skip_special_tokens=skip)
        shown = plain.decode(ids, skip_special_tokens=skip, unknown_ids="show")
        assert shown.count("[unknown id") == 3
        assert with_table.decode(ids, skip_special_tokens=skip, unknown_ids="show") == shown


@pytest.mark.parametrize("tok", by_fallback_and_table(ranks()), ids=["fallback", "table"])
def test_chosen_tokens_are_left_out(tok: jeton.Tokenizer) -> None:
    """As the timestamps of Whisper stay, where its other special tokens go."""
    end, pad = tok.special_tokens["<|endoftext|>"], tok.special_tokens["<|pad|>"]
    ids = [65, end, 66, pad]
    assert tok.decode(ids, skip_special_tokens=True) == "AB"
    chosen: Any
    for chosen in (["<|pad|>"], [pad], {"<|pad|>"}, iter(["<|pad|>", pad]), np.array([pad])):
        assert tok.decode(ids, skip_special_tokens=chosen) == "A<|endoftext|>B"
    assert tok.decode(ids, skip_special_tokens=[]) == "A<|endoftext|>B<|pad|>"
    assert tok.decode_bytes(ids, skip_special_tokens=[end]) == b"AB<|pad|>"
    assert tok.decode_batch([ids], skip_special_tokens=[end]) == ["AB<|pad|>"]
    stream = tok.decode_stream(skip_special_tokens=["<|endoftext|>"])
    assert stream.push(ids) == "AB<|pad|>"
    with pytest.raises(UnknownTokenError, match="is not a token"):
        tok.decode(ids, skip_special_tokens=["<|nothing|>"])
    for wrong in ("<|pad|>", b"<|pad|>", None, 1, [1.5], [None]):
        with pytest.raises(ArgumentTypeError, match="skip_special_tokens"):
            tok.decode(ids, skip_special_tokens=wrong)  # type: ignore[arg-type]


LAYOUTS: dict[str, Callable[[list[int]], Any]] = {
    "a field of packed records": lambda ids: np.array(
        [(0, id, 0) for id in ids], dtype=[("a", "u1"), ("id", "<u4"), ("b", "u1")]
    )["id"],
    "a field of records of two bytes more": lambda ids: np.array(
        [(id, 0) for id in ids], dtype=[("id", "<i4"), ("b", "<u2")]
    )["id"],
    "64 bits in packed records": lambda ids: np.array(
        [(id, 0) for id in ids], dtype=[("id", "<i8"), ("b", "<u4")]
    )["id"],
    "16 bits in packed records": lambda ids: np.array(
        [(0, id) for id in ids], dtype=[("b", "u1"), ("id", "<u2")]
    )["id"],
    "the other order in packed records": lambda ids: np.array(
        [(0, id) for id in ids], dtype=[("b", "u1"), ("id", ">u4")]
    )["id"],
    "from an odd byte on": lambda ids: np.frombuffer(
        b"\0" + np.array(ids, "<u4").tobytes(), "<u4", offset=1
    ),
    "backwards": lambda ids: np.array(
        [(id, 0) for id in reversed(ids)], dtype=[("id", "<u4"), ("b", "u1")]
    )["id"][::-1],
    "every second": lambda ids: np.repeat(np.array(ids, np.uint32), 2)[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_odd_layouts_hold_the_ids_that_they_hold(layout: str) -> None:
    tok = ranks()
    ids = tok.encode("the weather there, né 🙂")
    array = LAYOUTS[layout](ids)
    assert array.tolist() == ids
    expected = tok.decode(ids)
    assert tok.decode(array) == expected
    assert tok.decode_bytes(array) == expected.encode()
    assert tok.decode_batch([array, array]) == [expected, expected]
    stream = tok.decode_stream()
    assert stream.push(array) + stream.finish() == expected
    assert tok.spans_of(array) == tok.spans_of(ids)
    batch = jeton.TokenBatch(array, [0, len(ids)])
    assert batch.tolist() == [ids]


@each_kind
def test_spans_of_ids_tile_the_decoded_text(tok: jeton.Tokenizer) -> None:
    ids = tok.encode("the weather the")
    text = tok.decode(ids)
    spans = tok.spans_of(ids)
    assert len(spans) == len(ids)
    at = 0
    for start, end in spans:
        assert at == start <= end
        at = end
    assert at == len(text)


def test_spans_of_ids_that_a_model_wrote() -> None:
    tok = ranks()
    # No encoder gives these, and the last character is not whole.
    ids = [116, 104, 101, *"é🙂".encode(), 300, 0xF0, 0x9F]
    assert tok.decode(ids) == "theé🙂<|endoftext|>\ufffd"
    text = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 4), *[(4, 5)] * 4]
    assert tok.spans_of(ids) == [*text, (5, 18), (18, 19), (18, 19)]
    assert tok.spans_of(ids, skip_special_tokens=True) == [*text, (5, 5), (5, 6), (5, 6)]
    assert tok.spans_of(ids[:9], unit="bytes")[3:] == [(3, 5), (3, 5), *[(5, 9)] * 4]
    assert tok.spans_of(ids[:9], unit="utf-16")[3:] == [(3, 4), (3, 4), *[(4, 6)] * 4]
    assert tok.spans_of([65, 299, 66], unknown_ids="skip") == [(0, 1), (1, 1), (1, 2)]
    assert tok.spans_of([65, 299, 66], unknown_ids="show") == [(0, 1), (1, 17), (17, 18)]
    assert tok.spans_of([]) == []
    with pytest.raises(UnknownTokenError, match="id 299 at position 1"):
        tok.spans_of([65, 299])


def test_the_space_that_decoding_drops_at_the_front_has_no_place() -> None:
    tok = KINDS["WordPiece"]()
    ids = tok.encode("the weather, the")
    assert tok.decode(ids) == "the weather, the"
    assert tok.spans_of(ids) == [(0, 3), (3, 11), (11, 12), (12, 16)]


@pytest.mark.large
@pytest.mark.parametrize("is_json", [False, True])
def test_spans_of_byte_tokens(is_json: bool) -> None:
    tok = jeton.load(needed(VOCABULARIES / "llama2_sentencepiece_bpe.model"))
    if is_json:
        tok = jeton.Tokenizer.from_json(tok.to_json())
    ids = tok.encode("a 🦙b")
    text = tok.decode(ids)
    assert [text[start:end] for start, end in tok.spans_of(ids)][-5:] == ["🦙"] * 4 + ["b"]


def test_tokens_that_do_not_add_up_are_refused() -> None:
    tok = jeton.Tokenizer(models.WordLevel({"a": 0, "b": 1, "|": 2}, unk_token="a"))
    tok = tok.replace(decoder=decoders.CTC(pad_token="<pad>", word_delimiter_token="|"))
    assert tok.spans_of([0, 1, 2, 0]) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    with pytest.raises(UnsupportedError, match="do not add up"):
        tok.spans_of([1, 0, 0, 1])


def test_matches_of_a_decoder_do_not_begin_in_each_other() -> None:
    tok = KINDS["characters"]()
    replaces = decoders.Sequence([decoders.Fuse(), decoders.Replace(Regex(r"(?<=\Kt)"), "x")])
    tok = tok.replace(decoder=replaces)
    ids = [tok.vocab["t"]] * 3
    assert tok.decode(ids) == normalizers.Replace(Regex(r"(?<=\Kt)"), "x")("ttt") == "xxx"


def test_absent_operators_are_no_fault_of_the_expression() -> None:
    with pytest.raises(UnsupportedError, match=r"jeton does not run.*absent operator"):
        normalizers.Replace(Regex("(?~ab)"), "x")("aab")
    with pytest.raises(FormatError, match="Oniguruma does not accept"):
        normalizers.Replace(Regex("(?<n"), "x")("aab")


@pytest.mark.parametrize("pattern", [r"((a\g<1>?)\g<1>?)b", r"(?i)((é\g<1>?)\g<1>?)b", r"a\g<0>?b"])
def test_calls_of_groups_are_refused(pattern: str) -> None:
    with pytest.raises(FormatError, match="calls a group"):
        jeton.Tokenizer.from_ranks({bytes([it]): it for it in range(256)}, pattern=pattern)
