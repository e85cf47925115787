"""Packing: documents of any lengths in sequences of one length, for training without waste.

Look here for `pack`; `plans.py` decides which documents go into which sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from jeton.arguments import (
    check_kind,
    checked_flag,
    checked_int,
    checked_iterable,
    checked_numbers,
    suggestion,
)
from jeton.data import plans
from jeton.data.dataset import TokenDataset
from jeton.data.documents import Documents
from jeton.data.examples import Examples
from jeton.data.masks import IGNORED, LossMask
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingWarning, warn_caller
from jeton.results.encoding import TokenBatch
from jeton.results.pad_batch import torch_of

_METHODS = ["concatenate", "best_fit_crop", "bins"]


class PackedRows(NamedTuple):
    """Sequences of packed documents; all arrays but the last are int64 of shape (rows, length)."""

    ids: Any
    """The tokens, then `pad_id`."""
    labels: Any
    """The id to predict at each place; `IGNORED` if there is none."""
    document_ids: Any
    """The number of the document of each token; -1 for padding."""
    position_ids: Any
    """Counts from 0 in every segment, and in padding."""
    cu_seqlens: Any
    """The bounds of the segments in the concatenated sequences, int32, from 0 to the number of
    tokens, for variable-length attention. The padding of a sequence is a segment."""

    def mask(self, *, causal: bool = True) -> Any:
        """The attention mask: bool, of shape (rows, length, length).

        Places attend within their own segment; with `causal` not to later places.
        """
        causal = checked_flag("causal", causal)
        ids = self.document_ids
        same = ids[:, :, None] == ids[:, None, :]
        if causal:
            positions = self.position_ids
            same &= positions[:, :, None] >= positions[:, None, :]
        return same

    @property
    def max_seqlen(self) -> int:
        """The length of the longest segment."""
        bounds = self.cu_seqlens
        return int((bounds[1:] - bounds[:-1]).max())

    def to_torch(self) -> PackedRows:
        """The same sequences as tensors, which share the memory of the arrays. Needs PyTorch.

        Raises:
            UnsupportedError: PyTorch is not installed.

        Example:
            >>> from jeton.data import pack
            >>> rows = pack([[1, 2], [3]], length=4)[:].to_torch()  # doctest: +SKIP
            >>> rows.ids.dtype, rows.cu_seqlens.dtype  # doctest: +SKIP
            (torch.int64, torch.int32)
        """
        return PackedRows(*map(torch_of, self))


@dataclass(frozen=True)
class PackingReport:
    """The result of packing in numbers: `tokens` = `kept` + `cropped` + `dropped`."""

    documents: int
    """The number of documents."""
    tokens: int
    """The number of their tokens."""
    rows: int
    """The number of sequences."""
    kept: int
    """The number of tokens in sequences."""
    cropped: int
    """The number of tokens cropped from documents."""
    dropped: int
    """The number of tokens of dropped documents."""
    padding: int
    """The number of places without a token."""

    @property
    def padding_share(self) -> float:
        """The share of places without a token."""
        return self.padding / max(1, self.kept + self.padding)

    @property
    def cropped_share(self) -> float:
        """The share of tokens that are in no sequence."""
        return (self.cropped + self.dropped) / max(1, self.tokens)

    def __str__(self) -> str:
        return (
            f"{self.documents:,} documents in {self.rows:,} rows: {self.padding_share:.2%} "
            f"padding, {self.cropped_share:.2%} of {self.tokens:,} tokens lost"
        )


class Packing(Examples[PackedRows]):
    """The result of `pack`: sequences of packed documents, which are built when needed."""

    def __init__(
        self,
        documents: Documents,
        plan: plans.RowPlan,
        length: int,
        mask: npt.NDArray[np.bool_] | LossMask | None,
        pad_id: int,
        shift_labels: bool,
        settings: dict[str, Any],
        dropped: int,
    ) -> None:
        self.plan = plan
        """Which part of which document is in which sequence; takes 24 bytes per segment."""
        self._documents, self._length, self._mask = documents, length, mask
        self._pad_id, self._shift_labels, self._settings = pad_id, shift_labels, settings
        tokens, kept = int(documents.offsets[-1]), int(plan.lengths.sum())
        self.report = PackingReport(
            documents=len(documents),
            tokens=tokens,
            rows=len(self),
            kept=kept,
            cropped=tokens - kept - dropped,
            dropped=dropped,
            padding=len(self) * length - kept,
        )
        """The number of tokens that were kept, cropped and dropped."""

    def __len__(self) -> int:
        """The number of sequences."""
        return len(self.plan.rows) - 1

    def gather(self, numbers: npt.NDArray[np.int64]) -> PackedRows:
        """Sequences by their numbers, in any order."""
        numbers = checked_numbers("numbers", numbers, len(self))
        shape = (len(numbers), self._length)
        ids = np.full(shape, self._pad_id, np.int64)
        labels = np.full(shape, IGNORED, np.int64)
        documents = np.full(shape, -1, np.int64)
        positions = np.zeros(shape, np.int64)
        bounds = [0]
        for row, number in enumerate(numbers.tolist()):
            at = 0
            for segment in range(int(self.plan.rows[number]), int(self.plan.rows[number + 1])):
                document = int(self.plan.documents[segment])
                start, size = int(self.plan.starts[segment]), int(self.plan.lengths[segment])
                place = slice(at, at + size)
                tokens = self._documents[document]
                ids[row, place] = tokens[start : start + size]
                self._label(labels[row, place], document, tokens, start)
                documents[row, place] = document
                positions[row, place] = np.arange(size)
                at += size
                bounds.append(row * self._length + at)
            if at < self._length:
                positions[row, at:] = np.arange(self._length - at)
                bounds.append((row + 1) * self._length)
        return PackedRows(ids, labels, documents, positions, np.array(bounds, np.int32))

    def _label(
        self,
        labels: npt.NDArray[np.int64],
        document: int,
        tokens: npt.NDArray[np.integer],
        start: int,
    ) -> None:
        """Writes the labels of a segment: the token after each, or each token but the first."""
        first = 1 if self._shift_labels else 0
        targets = tokens[start + first : start + first + len(labels)].astype(np.int64)
        if self._mask is not None:
            at = int(self._documents.offsets[document]) + start + first
            targets[~self._mask[at : at + len(targets)]] = IGNORED
        labels[: len(targets)] = targets
        if not self._shift_labels:
            labels[0] = IGNORED

    def record(self, number: int) -> dict[str, npt.NDArray[np.int64]]:
        """A sequence for `transformers.Trainer`, with `position_ids`, by which its models keep
        documents apart in flash attention.

        Raises:
            ArgumentError: The labels are shifted already.
        """
        if self._shift_labels:
            raise ArgumentError("models of transformers shift labels: pack with shift_labels=False")
        [number] = checked_numbers("number", [number], len(self)).tolist()
        row = self[number]
        return {
            "input_ids": row.ids,
            "labels": row.labels,
            "position_ids": row.position_ids,
        }

    def settings(self) -> dict[str, Any]:
        """The settings that determine the number of each sequence."""
        return {"tokens": self.report.tokens, "rows": len(self), **self._settings}

    def __repr__(self) -> str:
        return f"Packing({self.report})"


def pack(
    documents: TokenDataset | Documents | TokenBatch | Iterable[npt.ArrayLike],
    length: int,
    method: Literal["concatenate", "best_fit_crop", "bins"] = "concatenate",
    *,
    masks: npt.ArrayLike | Sequence[npt.ArrayLike] | LossMask | None = None,
    pad_id: int = 0,
    shift_labels: bool = True,
    lookahead: int | None = None,
    too_long: Literal["error", "split", "crop", "drop"] | None = None,
) -> Packing:
    """Packs documents into sequences of one length.

    Args:
        documents: A token set, a batch of `Tokenizer.encode_batch`, or arrays of ids.
        length: The number of tokens of a sequence.
        method: `"concatenate"`: documents follow one another and are split at the end of each
            sequence; nothing is lost. `"bins"`: the documents that best fill a sequence share it,
            and the rest is padding; documents that are longer than a sequence are an error, or
            what `too_long` says. `"best_fit_crop"`: every sequence begins with a document, and its
            last document is cropped to fit, which may lose half of the tokens of long documents
            (see `report`); only the last sequences are padded.
        masks: For each token whether it is learnt (in a chat, the answers and not the prompts): one
            flat array, or an array per document. Other tokens have the label `IGNORED`. By default
            the loss mask of the token set, if it has one.
        pad_id: The id for padding.
        shift_labels: Whether the label of a place is the token after it, even if that is in the
            next sequence or was cropped; the last token of a document has none. Otherwise it is the
            token itself, except for the first of each segment, for models that shift labels
            themselves.
        lookahead: The number of documents among which `"best_fit_crop"` chooses; 1000 by default.
        too_long: What `"bins"` does with a document longer than a sequence: `"error"` (the default)
            raises, `"split"` splits it into pieces, of which all but the last fill a sequence, so
            that nothing is lost; `"crop"` crops its end, `"drop"` leaves it out. `report` counts
            the losses. (`"split"` is `bfd_split` of TRL.)

    Returns:
        The sequences, built when they are sliced or loaded, with a `report` of all tokens.

    Raises:
        ArgumentError: A document is too long for `"bins"`, masks do not fit the documents, or a
            value is not valid.

    Warns:
        TrainingWarning: `"best_fit_crop"` crops documents; says how many tokens that are.

    Example:
        >>> from jeton.data import pack
        >>> packing = pack([[5, 6, 7], [8, 9], [1, 2, 3, 4]], 5, "bins")
        >>> rows = packing[:]
        >>> rows.ids.tolist(), rows.labels.tolist()
        ([[1, 2, 3, 4, 0], [5, 6, 7, 8, 9]], [[2, 3, 4, -100, -100], [6, 7, -100, 9, -100]])
        >>> rows.document_ids.tolist(), rows.cu_seqlens.tolist()
        ([[2, 2, 2, 2, -1], [0, 0, 0, 1, 1]], [0, 4, 5, 8, 10])
        >>> print(packing.report)
        3 documents in 2 rows: 10.00% padding, 0.00% of 9 tokens lost
    """
    length = checked_int("length", length, 1)
    checked_int("pad_id", pad_id, 0)
    shift_labels = checked_flag("shift_labels", shift_labels)
    if not isinstance(method, str) or method not in _METHODS:
        close = suggestion(method, _METHODS) if isinstance(method, str) else ""
        hint = close or f"there are {', '.join(_METHODS)}"
        raise ArgumentError(f"method cannot be {method!r} ({hint})")
    if lookahead is not None and method != "best_fit_crop":
        raise ArgumentError(f"lookahead is for method 'best_fit_crop', not {method!r}")
    if too_long is not None and method != "bins":
        raise ArgumentError(f"too_long is for method 'bins', not {method!r}")
    if too_long is not None:
        check_kind("too_long", too_long, str, "a str")
    if too_long not in (None, "error", "split", "crop", "drop"):
        raise ArgumentError(
            f'too_long must be "error", "split", "crop" or "drop", not {too_long!r}'
        )
    all_documents = _documents(documents)
    mask: npt.NDArray[np.bool_] | LossMask | None
    if masks is None:
        mask = documents.mask if isinstance(documents, TokenDataset) else None
    else:
        mask = _mask(masks, all_documents)
    lengths, dropped = all_documents.lengths, 0
    if method == "concatenate":
        plan = plans.concatenate(lengths, length)
    elif method == "best_fit_crop":
        lookahead = checked_int("lookahead", 1000 if lookahead is None else lookahead, 1)
        plan = plans.best_fit_crop(lengths, length, lookahead)
    else:
        over = lengths > length
        if over.any() and too_long in (None, "error"):
            raise ArgumentError(
                f"{int(over.sum()):,} of {len(all_documents):,} documents are longer than a "
                f"sequence of {length:,} tokens, the longest has {int(lengths.max()):,}; pass a "
                'larger length, or too_long="split", "crop" or "drop"'
            )
        if too_long == "split":
            plan = plans.pieces(lengths, length)
        else:
            if too_long == "drop":
                dropped = int(lengths[over].sum())
            plan = plans.bins(np.where(over, 0 if too_long == "drop" else length, lengths), length)
    settings = {"length": length, "method": method, "lookahead": lookahead, "too_long": too_long}
    packing = Packing(all_documents, plan, length, mask, pad_id, shift_labels, settings, dropped)
    report = packing.report
    if method == "best_fit_crop" and report.cropped:
        warn_caller(
            f"best_fit_crop crops {report.cropped:,} of {report.tokens:,} tokens "
            f"({report.cropped_share:.2%}), the ends of documents that do not fit into a sequence "
            f'of {length:,}; "concatenate" and "bins" with too_long="split" lose none',
            TrainingWarning,
        )
    return packing


def _documents(documents: object) -> Documents:
    if isinstance(documents, TokenDataset):
        return documents.documents
    if isinstance(documents, Documents):
        return documents
    if not isinstance(documents, TokenBatch):
        documents = checked_iterable(
            "documents", documents, "a TokenDataset, a TokenBatch or arrays of ids"
        )
        documents = TokenBatch.from_rows(documents)
    return Documents(documents.offsets, documents.ids.__getitem__)


def _mask(masks: object, documents: Documents) -> npt.NDArray[np.bool_]:
    """One bool per token."""
    if isinstance(masks, LossMask):
        masks = masks[:]
    masks = checked_iterable("masks", masks, "arrays of bools")
    if not isinstance(masks, np.ndarray):
        masks = list(masks)
        nested = bool(masks) and not isinstance(masks[0], (bool, int, np.bool_, np.integer))
        if nested:
            if not all(isinstance(mask, (Sequence, np.ndarray)) for mask in masks):
                raise ArgumentTypeError("masks must be arrays of bools, one per document")
            if [len(mask) for mask in masks] != documents.lengths.tolist():
                raise ArgumentError("masks do not have the lengths of the documents")
            # To numpy an empty list has floats.
            flags = [np.asarray(mask) for mask in masks if len(mask)]
            masks = np.concatenate([np.empty(0, np.bool_), *flags])
    try:
        mask = np.asarray(masks)
    except (ValueError, TypeError, OverflowError):
        raise ArgumentTypeError("masks must be bools, or 0 and 1") from None
    total = int(documents.offsets[-1])
    if mask.ndim != 1 or len(mask) != total:
        raise ArgumentError(
            f"masks have the shape {mask.shape}, but there are {total:,} tokens in "
            f"{len(documents):,} documents"
        )
    if (
        mask.size
        and mask.dtype != np.bool_
        and not (mask.dtype.kind in "iu" and bool(((mask == 0) | (mask == 1)).all()))
    ):
        raise ArgumentTypeError("masks must be bools, or 0 and 1")
    return mask.astype(np.bool_, copy=False)
