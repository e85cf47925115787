"""`stream`: batches from texts that are encoded while a model trains, without a set on the disk.

All tokens are one sequence, document after document, and window `i` has the tokens from
`i * block_size` on. A step takes the next `world_size * batch_size` windows, and rank `r` the
`r`-th `batch_size` of these; every rank encodes all texts, so ranks need not agree on anything. A
state is a position of the source, at the end of a document, and the number of tokens taken after
it, so a resumed run encodes at most one block of texts again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jeton.arguments import check_kind, checked_flag, checked_int
from jeton.corpora.dropped import DroppedRecords
from jeton.corpora.token_blocks.blocks import DocumentSource, SourcePosition
from jeton.data.dataset import Batch
from jeton.data.preparing.end_of_text import Choice
from jeton.data.preparing.inputs import source_of
from jeton.data.preparing.options import AUTO, PrepareOptions
from jeton.data.tensors import checked_device, on_device
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer

_CHARACTERS = 1 << 20
"""How many characters of an iterable are collected before they are encoded."""


def stream(
    data: str | os.PathLike[str] | Iterable[Any],
    tokenizer: Tokenizer,
    batch_size: int,
    block_size: int,
    *,
    field: str | None = None,
    documents: Literal["file", "line"] | str = "file",
    errors: Literal["strict", "replace", "ignore"] = "strict",
    bad_records: Literal["error", "drop"] = "error",
    end_of_text: str | int | Choice | None = AUTO,
    end_of_text_place: Literal["after", "before"] = "after",
    frame: bool = False,
    epochs: int | None = 1,
    rank: int = 0,
    world_size: int = 1,
    drop_last: bool = False,
    device: object = None,
) -> TokenStream:
    """Batches of texts that are encoded while a model trains.

    The tokens are those of `prepare` with the same options, in the order of the data; nothing is
    shuffled, and nothing written. For several epochs the next one follows without a gap. To train
    for more than an epoch or two, `prepare` is quicker.

    Args:
        data: As for `prepare`: files, an iterable of texts or records, a data set, a table.
        tokenizer: The tokenizer.
        batch_size: The number of windows of a batch on each rank.
        block_size: The number of tokens of a window.
        field, documents, errors, bad_records, end_of_text, end_of_text_place: As for `prepare`.
        frame: As for `prepare`.
        epochs: How often the data is read; `None` repeats it without end.
        rank: The number of this process in a distributed run, from 0.
        world_size: The number of processes.
        drop_last: Whether to leave out the last windows if they do not fill a batch on every rank;
            otherwise they are distributed evenly, and a rank may have one batch fewer.
        device: As for `TokenDataset.get_batch`: a device for tensors of torch, or `None` for numpy.

    Raises:
        ArgumentError: A value is not valid, or the tokenizer has no end-of-text token.

    Example:
        >>> import jeton
        >>> from jeton.data import stream
        >>> tok = jeton.BPETrainer(260, special_tokens=["<|endoftext|>"]).train(["to be"])
        >>> texts = ["to be", "or not", "to be"]
        >>> batches = stream(texts, tok, 1, 4)
        >>> tok.decode(next(iter(batches)).x[0])
        'to be<|endoftext|>o'
        >>> state = batches.state_dict()
        >>> rest = [batch.x.tolist() for batch in batches]
        >>> again = stream(texts, tok, 1, 4)
        >>> again.load_state_dict(state)
        >>> [batch.x.tolist() for batch in again] == rest
        True
    """
    request = PrepareOptions.of(locals()).request(tokenizer)
    names = ("field", "documents", "errors", "bad_records", "frame")
    settings = {
        "tokenizer": tokenizer.digest,
        **{name: request.plan.options[name] for name in names},
        "end_of_text": request.plan.end_record,
        "block_size": checked_int("block_size", block_size, 1),
    }
    is_once = isinstance(data, Iterator)
    if is_once and epochs != 1:
        raise ArgumentError("data is an iterator, which is read once, so epochs must be 1")
    return TokenStream(
        source_of(data, request.encoding, None, characters=_CHARACTERS),
        json.loads(json.dumps(settings)),
        is_once=is_once,
        batch_size=checked_int("batch_size", batch_size, 1),
        epochs=None if epochs is None else checked_int("epochs", epochs, 1),
        rank=checked_int("rank", rank, 0),
        world_size=checked_int("world_size", world_size, 1),
        drop_last=checked_flag("drop_last", drop_last),
        device=None if device is None else checked_device(device),
    )


@dataclass(frozen=True)
class _Place:
    """A token of the stream that begins a document, and where the source is read from there."""

    token: int
    epoch: int
    position: SourcePosition


class TokenStream:
    """Batches of a stream of texts: `stream` makes it.

    An iteration runs to the end of the last epoch, from where the previous iteration stopped.
    """

    def __init__(
        self,
        source: DocumentSource,
        settings: dict[str, Any],
        *,
        is_once: bool,
        batch_size: int,
        epochs: int | None,
        rank: int,
        world_size: int,
        drop_last: bool,
        device: Any,
    ) -> None:
        if rank >= world_size:
            raise ArgumentError(
                f"rank is {rank}, but ranks run from 0 to world_size - 1, {world_size - 1}"
            )
        self._source, self._settings = source, settings
        #: Whether the source can be read only once, and whether it was.
        self._is_once, self._is_read = is_once, False
        self._block_size: int = settings["block_size"]
        self._batch_size, self._epochs, self._drop_last = batch_size, epochs, drop_last
        self._rank, self._world_size, self._device = rank, world_size, device
        #: The place that reading resumes from, and the tokens taken after it.
        self._place, self._skip = _Place(0, 0, SourcePosition()), 0

    @property
    def epoch(self) -> int:
        """The number of the epoch of the next batch's first document, from 0."""
        return self._place.epoch

    @property
    def tokens(self) -> int:
        """The number of tokens that all ranks have taken."""
        return self._place.token + self._skip

    def __iter__(self) -> Iterator[Batch]:
        """Batches as of `TokenDataset.get_batch`: `x` and `y`, int64, of shape (batch, block)."""
        block, step = self._block_size, self._batch_size * self._world_size
        waiting = np.empty(0, np.int64)
        places = deque([self._place])
        parts, size = [waiting], 0
        with closing(self._tokens(places)) as tokens:
            for some in tokens:
                parts.append(some.astype(np.int64))
                size += len(some)
                if size <= step * block:
                    continue
                waiting = np.concatenate(parts)
                while len(waiting) > step * block:
                    first = self._rank * self._batch_size
                    batch = self._batch(waiting, first, first + self._batch_size)
                    waiting = waiting[step * block :]
                    self._advance(places, step * block)
                    yield batch
                parts, size = [waiting], len(waiting)
        waiting = np.concatenate(parts)
        # The windows that do not fill a step.
        rest = max(0, len(waiting) - 1) // block
        first, last = (rest * at // self._world_size for at in (self._rank, self._rank + 1))
        self._advance(places, len(waiting))
        if first < last and not self._drop_last:
            yield self._batch(waiting, first, last)

    def state_dict(self) -> dict[str, Any]:
        """The position of the next batch, as a dict for JSON or `torch.save`; it is the same on all
        ranks that have taken the same number of batches."""
        place = self._place
        return {
            **self._settings,
            "epoch": place.epoch,
            "position": place.position.to_json(),
            "token": place.token,
            "taken": self._skip,
            "inputs": self._inputs(place),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resumes with the next batch after a state.

        The number of ranks, the size of batches and the number of epochs may have changed. From an
        iterable, the documents that were read are passed over.

        Raises:
            ArgumentError: The state is of other data, options or another tokenizer, or not a state.
        """
        check_kind("state", state, Mapping, "a dict")
        for name, value in self._settings.items():
            if name not in state:
                raise ArgumentError(f"the state has no {name!r}; it is not one of a stream")
            if state[name] != value:
                raise ArgumentError(
                    f"the state was saved with {name}={state[name]!r}, but here it is {value!r}; "
                    "the tokens are not the same"
                )
        epoch, token, taken = (
            checked_int(f"{name} of the state", state.get(name), 0)
            for name in ("epoch", "token", "taken")
        )
        try:
            place = _Place(token, epoch, SourcePosition.from_json(state["position"]))
            inputs = self._inputs(place)
        except (LookupError, TypeError, ValueError) as error:
            raise ArgumentError(f"the state is damaged: {error}") from None
        if state.get("inputs") != inputs:
            raise ArgumentError("the files that were read before the state are not the same now")
        self._place, self._skip = place, taken

    def _inputs(self, place: _Place) -> str:
        """A digest of the names and sizes of the files that were read."""
        entries = self._source.identity()
        count = None if place.epoch else self._source.consumed(place.position)
        known = [
            {**entry, "path": Path(str(entry["path"])).name} if "path" in entry else entry
            for entry in entries[:count]
        ]
        for entry in known:
            for name in ("mtime_ns", "iterable"):
                entry.pop(name, None)
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    def _batch(self, tokens: Any, first: int, last: int) -> Batch:
        """The windows with these numbers."""
        block = self._block_size
        some = tokens[first * block : last * block + 1]
        x, y = some[:-1].reshape(-1, block), some[1:].reshape(-1, block)
        if self._device is None:
            return Batch(x.copy(), y.copy())
        return Batch(on_device(x.copy(), self._device), on_device(y.copy(), self._device))

    def _advance(self, places: deque[_Place], tokens: int) -> None:
        """Moves on by some tokens."""
        taken = self.tokens + tokens
        while len(places) > 1 and places[1].token <= taken:
            places.popleft()
        self._place, self._skip = places[0], taken - places[0].token

    def _tokens(self, places: deque[_Place]) -> Generator[Any, None, None]:
        """The tokens from here on, block by block; appends the places where documents begin."""
        start, skip = self._place, self._skip
        total, epoch = start.token, start.epoch
        if self._is_once and self._is_read and not epoch:
            raise ArgumentError(
                "data is an iterator, which was read already: go on with the same iterator of the "
                "stream, or begin with new data"
            )
        self._is_read = True
        dropped = DroppedRecords()
        while self._epochs is None or epoch < self._epochs:
            position = start.position if epoch == start.epoch else SourcePosition()
            before = total
            with closing(self._source.blocks(position)) as blocks:
                for block in blocks:
                    total += len(block.tokens)
                    dropped.add(block.dropped)
                    if block.after is not None:
                        places.append(_Place(total, epoch, block.after))
                    here = min(skip, len(block.tokens))
                    skip -= here
                    yield block.tokens[here:]
            if total == before and position == SourcePosition():
                raise ArgumentError("data has no documents")
            epoch += 1
            places.append(_Place(total, epoch, SourcePosition()))
