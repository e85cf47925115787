"""Packing: rows of one length that lose no token which they do not report."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton.data import IGNORED, PackedRows, Packing, TokenDataset, pack
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingWarning
from prepared import without_waiting
from test_layouts import write

pytestmark = [
    pytest.mark.usefixtures(without_waiting.__name__),
    pytest.mark.filterwarnings("ignore:best_fit_crop crops:jeton.errors.TrainingWarning"),
]

METHODS = ["concatenate", "best_fit_crop", "bins", "split"]
"""The methods; `split` is `bins` that splits documents longer than a row."""


def numbered(lengths: list[int]) -> list[list[int]]:
    """Documents in which every token is another one, from 1 on."""
    ends = np.cumsum([1, *lengths]).tolist()
    return [list(range(start, start + size)) for start, size in zip(ends, lengths, strict=False)]


def packed(documents: list[list[int]], length: int, method: Any, **options: Any) -> Packing:
    if method == "split":
        return pack(documents, length, "bins", too_long="split", **options)
    if method == "bins":
        options = {"too_long": "crop", **options}
    return pack(documents, length, method, **options)


GIVEN = {
    "lengths": st.lists(st.integers(0, 20), max_size=40),
    "length": st.integers(1, 16),
    "method": st.sampled_from(METHODS),
}


@settings(max_examples=200)
@given(**GIVEN, seed=st.integers(0, 99))
def test_no_token_is_lost_unreported(
    lengths: list[int], length: int, method: str, seed: int
) -> None:
    documents = numbered(lengths)
    packing = packed(documents, length, method)
    report, rows = packing.report, packing[:]
    kept = rows.ids[rows.document_ids >= 0]
    assert len(np.unique(kept)) == len(kept) == report.kept
    assert report.tokens == sum(lengths) == report.kept + report.cropped + report.dropped
    assert report.padding == rows.ids.size - report.kept == (rows.document_ids < 0).sum()
    assert report.documents == len(documents) and report.rows == len(rows.ids)
    if method == "concatenate":
        assert kept.tolist() == list(range(1, report.tokens + 1))
        assert report.padding < length
    elif method == "best_fit_crop":
        assert report.padding < length
    elif method == "split":
        assert report.cropped == report.dropped == 0
    else:
        assert report.cropped == sum(max(0, size - length) for size in lengths)
    for token, document in zip(kept, rows.document_ids[rows.document_ids >= 0], strict=True):
        assert token in documents[document]


@pytest.mark.large
@settings(max_examples=200)
@given(**GIVEN, shift=st.booleans(), seed=st.integers(0, 99))
def test_rows(lengths: list[int], length: int, method: str, shift: bool, seed: int) -> None:
    """Labels, positions, boundaries and masks, from what they mean."""
    documents = numbered(lengths)
    learnt = np.random.default_rng(seed).random(sum(lengths)) < 0.5
    packing = packed(documents, length, method, masks=learnt, shift_labels=shift, pad_id=7)
    rows = packing[:]
    shape = (len(packing), length)
    assert all(array.shape == shape and array.dtype == np.int64 for array in rows[:4])
    assert rows.cu_seqlens.dtype == np.int32
    last = {document[-1] for document in documents if document}
    bounds = [0]
    for at, (token, label, document, position) in enumerate(
        zip(*(array.flatten().tolist() for array in rows[:4]), strict=True)
    ):
        before = rows.document_ids.flat[at - 1] if at % length else None
        starts = before != document
        if starts and at:
            bounds.append(at)
        assert position == (0 if starts else rows.position_ids.flat[at - 1] + 1)
        if document < 0:
            assert (token, label) == (7, IGNORED)
            continue
        # Labels by tokens, which are numbered from 1 on.
        target = token + 1 if shift else token
        known = token not in last if shift else not starts
        assert label == (target if known and learnt[target - 1] else IGNORED)
    assert rows.cu_seqlens.tolist() == ([*bounds, rows.ids.size] if len(packing) else [0])
    mask, free = rows.mask(), rows.mask(causal=False)
    for row in range(len(packing)):
        ids = rows.document_ids[row]
        for here in range(length):
            for there in range(length):
                assert free[row, here, there] == (ids[here] == ids[there])
                assert mask[row, here, there] == (free[row, here, there] and there <= here)


@given(lengths=GIVEN["lengths"], length=GIVEN["length"], lookahead=st.integers(1, 50))
def test_best_fit_crop_is_what_it_says(lengths: list[int], length: int, lookahead: int) -> None:
    packing = pack(numbered(lengths), length, "best_fit_crop", lookahead=lookahead)
    assert (packing.plan.starts == 0).all()
    waiting: list[int] = []
    coming = [number for number, size in enumerate(lengths) if size]
    for row in range(len(packing)):
        left = length
        first, stop = packing.plan.rows[row : row + 2].tolist()
        for document, size in zip(
            packing.plan.documents[first:stop].tolist(),
            packing.plan.lengths[first:stop].tolist(),
            strict=True,
        ):
            while coming and len(waiting) < lookahead:
                waiting.append(coming.pop(0))
            fitting = [number for number in waiting if lengths[number] <= left]
            if fitting:
                assert size == lengths[document] == max(lengths[number] for number in fitting)
            else:
                assert size == left
                assert lengths[document] == min(lengths[number] for number in waiting)
            waiting.remove(document)
            left -= size
        assert left == 0 or not (waiting or coming)
    assert not waiting and not coming


def test_best_fit_crop_says_how_much_it_crops() -> None:
    """Of 9 tokens in rows of 4, the last of the document of 5 is cropped."""
    with pytest.warns(TrainingWarning) as caught:
        packing = pack(numbered([5, 4]), 4, "best_fit_crop")
    [message] = [str(it.message) for it in caught]
    assert message.startswith("best_fit_crop crops 1 of 9 tokens (11.11%)")
    assert '"concatenate"' in message and 'too_long="split" lose none' in message
    assert caught[0].filename == __file__
    assert packing.report.cropped == 1


@pytest.mark.parametrize(
    ("lengths", "method", "options"),
    [
        ([4, 3, 1], "best_fit_crop", {}),
        ([5, 4], "concatenate", {}),
        ([5, 4], "bins", {"too_long": "crop"}),
    ],
)
@pytest.mark.filterwarnings("error")
def test_packing_that_crops_nothing_unasked_does_not_warn(
    lengths: list[int], method: Any, options: dict[str, Any]
) -> None:
    pack(numbered(lengths), 4, method, **options)


@given(lengths=GIVEN["lengths"], length=GIVEN["length"])
def test_bins_are_best_fit_decreasing(lengths: list[int], length: int) -> None:
    lengths = [min(size, length) for size in lengths]
    packing = pack(numbered(lengths), length, "bins")
    assert packing.plan.lengths.tolist() == [lengths[n] for n in packing.plan.documents.tolist()]
    rooms: list[int] = []
    for size in sorted(lengths, reverse=True):
        fitting = [room for room in rooms if room >= size > 0]
        if fitting:
            rooms[rooms.index(min(fitting))] -= size
        elif size:
            rooms.append(length - size)
    filled = [
        length - int(packing.plan.lengths[start:stop].sum())
        for start, stop in zip(packing.plan.rows, packing.plan.rows[1:], strict=False)
    ]
    assert sorted(filled) == sorted(rooms)


def test_documents_that_are_too_long() -> None:
    documents = numbered([3, 9, 12, 5])
    with pytest.raises(ArgumentError, match=r"2 of 4 documents are longer .* the longest has 12"):
        pack(documents, 8, "bins")
    dropped = pack(documents, 8, "bins", too_long="drop").report
    assert (dropped.kept, dropped.dropped, dropped.cropped) == (8, 21, 0)
    cropped = pack(documents, 8, "bins", too_long="crop").report
    assert (cropped.kept, cropped.dropped, cropped.cropped) == (24, 0, 5)
    assert str(cropped) == "4 documents in 3 rows: 0.00% padding, 17.24% of 29 tokens lost"


def plain_pieces(lengths: list[int], length: int) -> list[list[tuple[int, int, int]]]:
    """Rows of (document, start, size): the longest piece first, each into the fullest row that has
    room for it."""
    pieces = [
        (number, start, min(length, size - start))
        for number, size in enumerate(lengths)
        for start in range(0, size, length)
    ]
    rows: list[list[tuple[int, int, int]]] = []
    for piece in sorted(pieces, key=lambda it: -it[2]):
        room = [length - sum(it[2] for it in row) for row in rows]
        fitting = [at for at in range(len(rows)) if room[at] >= piece[2]]
        if fitting:
            rows[min(fitting, key=lambda at: room[at])].append(piece)
        else:
            rows.append([piece])
    return rows


@settings(max_examples=200)
@given(lengths=st.lists(st.integers(0, 60), max_size=30), length=GIVEN["length"])
def test_pieces_of_long_documents_are_best_fit(lengths: list[int], length: int) -> None:
    packing = packed(numbered(lengths), length, "split")
    expected = plain_pieces(lengths, length)
    assert len(packing) == len(expected)
    plan = packing.plan
    found = sorted(zip(plan.documents, plan.starts, plan.lengths, strict=True))
    assert found == sorted(piece for row in expected for piece in row)
    filled = sorted(sum(piece[2] for piece in row) for row in expected)
    sums = np.add.reduceat(plan.lengths, plan.rows[:-1]) if len(packing) else np.empty(0)
    assert sorted(sums.tolist()) == filled
    # A row holds no two pieces of one document.
    for first, stop in zip(plan.rows[:-1], plan.rows[1:], strict=True):
        assert len(set(plan.documents[first:stop].tolist())) == stop - first


@pytest.mark.large
def test_trl_splits_into_the_same_rows() -> None:
    pytest.importorskip("datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trl = pytest.importorskip("trl.data_utils", exc_type=ImportError)
        import datasets

        draw = np.random.default_rng(0)
        documents = numbered(draw.geometric(1 / 60, 400).tolist())
        theirs: Any = datasets.Dataset.from_dict({"input_ids": documents})
        rows = trl.pack_dataset(theirs, seq_length=64, strategy="bfd_split")
    packing = packed(documents, 64, "split")
    own = packing[:]
    ids = [row[keep].tolist() for row, keep in zip(own.ids, own.document_ids >= 0, strict=True)]
    assert len(packing) == len(rows) and packing.report.cropped_share == 0
    assert sorted(map(len, ids)) == sorted(map(len, rows["input_ids"]))
    assert sorted(it for row in ids for it in row) == sorted(
        it for row in rows["input_ids"] for it in row
    )


def test_a_chat_learns_from_its_answers_alone() -> None:
    rows = pack([[1, 2, 3, 4], [5, 6]], 6, masks=[[0, 0, 1, 1], [0, 1]])[:]
    assert rows.labels.tolist() == [[IGNORED, 3, 4, IGNORED, 6, IGNORED]]


def test_masks_of_documents_without_tokens() -> None:
    rows = pack([[1, 2, 3], [], [4]], 4, masks=[[0, 1, 1], [], [0]])[:]
    assert rows.labels.tolist() == [[2, 3, IGNORED, IGNORED]]
    assert len(pack([[], []], 4, masks=[[], []])) == len(pack([], 4, masks=[])) == 0


def test_whatever_holds_documents(tmp_path: Path) -> None:
    texts = ["to be", "or", "", "not to be"]
    tokenizer = jeton.CharTrainer().train(texts)
    batch = tokenizer.encode_batch(texts)
    write(tmp_path, "jeton", batch.tolist(), dtype="uint16", shard_tokens=6)
    tokens = TokenDataset(tmp_path)
    rows = [
        pack(given, 4).__getitem__(slice(None))
        for given in (batch, batch.tolist(), iter(batch), tokens, tokens.documents)
    ]
    assert all(
        all(np.array_equal(a, b) for a, b in zip(rows[0], other, strict=True)) for other in rows
    )


def test_rows_by_numbers() -> None:
    packing = pack(numbered([5, 9, 2, 7]), 4, "best_fit_crop")
    whole, some = packing[:], packing.gather(np.array([2, 0]))
    assert np.array_equal(some.ids, whole.ids[[2, 0]])
    assert packing[1:2].ids.tolist() == whole.ids[1:2].tolist()
    assert isinstance(some, PackedRows)


def test_rows_as_tensors_share_the_memory_of_the_arrays() -> None:
    torch = pytest.importorskip("torch")
    rows = pack(numbered([3, 4, 2, 1]), 4, "bins")[:]
    tensors = rows.to_torch()
    assert isinstance(tensors, PackedRows)
    for name, array in rows._asdict().items():
        tensor = getattr(tensors, name)
        assert torch.equal(tensor, torch.from_numpy(array)) and tensor.dtype is (
            torch.int32 if name == "cu_seqlens" else torch.int64
        )
    tensors.labels[0, 0] = 77
    assert rows.labels[0, 0] == 77
    assert torch.equal(tensors.mask(), torch.from_numpy(rows.mask()))
    assert tensors.max_seqlen == rows.max_seqlen


def test_attention_of_variable_lengths() -> None:
    """Attention by `cu_seqlens`, a segment at a time, is attention under the mask."""
    torch = pytest.importorskip("torch")
    rows = pack(numbered([3, 9, 2, 7, 1]), 6, "best_fit_crop")[:]
    count, length = rows.ids.shape
    q, k, v = torch.randn(3, count, 1, length, 8, generator=torch.Generator().manual_seed(1))
    attend = torch.nn.functional.scaled_dot_product_attention
    masked = attend(q, k, v, attn_mask=torch.as_tensor(rows.mask())[:, None])
    flat = [it.transpose(1, 2).reshape(1, count * length, 1, 8).transpose(1, 2) for it in (q, k, v)]
    pieces = [
        attend(*(it[:, :, start:stop] for it in flat), is_causal=True)
        for start, stop in zip(rows.cu_seqlens.tolist(), rows.cu_seqlens.tolist()[1:], strict=False)
    ]
    by_segments = torch.cat(pieces, 2).reshape(count, length, 8)
    assert torch.allclose(masked[:, 0], by_segments, atol=1e-6)


CALLS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("text", {"documents": "abc"}, ArgumentTypeError, "documents must be"),
    ("a number", {"documents": 3}, ArgumentTypeError, "documents must be"),
    ("words", {"documents": [["a"]]}, ArgumentTypeError, "must be a sequence of ints"),
    ("length", {"length": 0}, ArgumentError, "length must be at least 1"),
    ("method", {"method": "bestfit"}, ArgumentError, "did you mean 'best_fit_crop'"),
    ("type of method", {"method": 3}, ArgumentError, "there are concatenate, best_fit_crop, bins"),
    ("pad", {"pad_id": -1}, ArgumentError, "pad_id must be at least 0"),
    ("lookahead", {"lookahead": 5}, ArgumentError, "lookahead is for method 'best_fit_crop'"),
    ("no lookahead", {"method": "best_fit_crop", "lookahead": 0}, ArgumentError, "at least 1"),
    ("too long", {"too_long": "drop"}, ArgumentError, "too_long is for method 'bins'"),
    ("how", {"method": "bins", "too_long": "cut"}, ArgumentError, "too_long must be"),
    ("masks", {"masks": [True]}, ArgumentError, r"shape \(1,\), but there are 5 tokens"),
    ("mask a document", {"masks": [[1], [1, 0]]}, ArgumentError, "the lengths of the documents"),
    ("mask of numbers", {"masks": [1, 2, 3, 4, 5]}, ArgumentTypeError, "must be bools"),
    ("mask of text", {"masks": list("abcde")}, ArgumentError, "masks"),
]


@pytest.mark.parametrize("what, options, error, told", CALLS, ids=[call[0] for call in CALLS])
def test_arguments(what: str, options: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        pack(**{"documents": [[1, 2, 3], [4, 5]], "length": 4, **options})


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_pack(method: Any) -> None:
    empty: list[list[list[int]]] = [[], [[]]]
    for documents in empty:
        packing = packed(documents, 4, method)
        assert len(packing) == 0 and packing.report.padding_share == 0
        rows = packing[:]
        assert rows.ids.shape == (0, 4) and rows.cu_seqlens.tolist() == [0]
