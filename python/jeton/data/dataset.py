"""`TokenDataset`: a token set on the disk as one long array, and batches from it."""

from __future__ import annotations

import os
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind, checked_int, checked_numbers
from jeton.data import layouts
from jeton.data.documents import Documents, ends_by_token, ends_of_shards
from jeton.data.examples import Examples
from jeton.data.loader import Loader
from jeton.data.manifest_defaults import facts_of
from jeton.data.masks import IGNORED, LossMask
from jeton.data.tensors import checked_device, on_device
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from jeton.stores.folders import local_copy
from jeton.stores.urls import shown

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer


class Batch(NamedTuple):
    """Windows of tokens, and the token after each."""

    x: Any
    """Ids, int64, of shape (batch, block)."""
    y: Any
    """For each place in `x` the id after it: int64, of the same shape; `IGNORED`, -100, if the set
    has a loss mask and that id is not learnt."""


class TokenDataset:
    """The tokens of a split, mapped into memory across all of its shards.

    Example:
        >>> import numpy as np, tempfile
        >>> from jeton.data import TokenDataset, layouts
        >>> folder = tempfile.mkdtemp()
        >>> with layouts.create("jeton", folder, dtype="uint16", shard_tokens=6) as writer:
        ...     writer.append(np.arange(10), np.array([4, 3, 3]))
        ...     _ = writer.finish()
        >>> tokens = TokenDataset(folder)
        >>> len(tokens), tokens[2:6].tolist(), tokens.documents[1].tolist()
        (10, [2, 3, 4, 5], [4, 5, 6])
        >>> x, y = tokens.get_batch(2, 4, generator=np.random.default_rng(0))
        >>> x.shape, (y - x).tolist()
        ((2, 4), [[1, 1, 1, 1], [1, 1, 1, 1]])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        split: str | None = None,
        layout: str | None = None,
        dtype: str | None = None,
        column: str | None = None,
        end_of_text: int | None = None,
        end_of_text_place: str = "after",
        tokenizer: Tokenizer | None = None,
    ) -> None:
        """Opens a token set.

        Args:
            path: A folder, a single file, or Megatron's name of two files without their ending. Or
                the URL of a folder in an object store, of which a copy is kept in the folder of
                fetched files (`JETON_CACHE_DIR`).
            split: Which split of a folder; by default the only one, or `train`.
            layout: A name of `jeton.data.layouts.LAYOUTS`, or `"datasets"` (`save_to_disk`); by
                default detected from the files.
            dtype: `"uint16"` or `"uint32"`, if the files do not say (`nanogpt`, bare files, sets of
                dolma without tables).
            column: The column of a table that holds the ids; by default `input_ids`, or the only
                possible one.
            end_of_text: The token that separates documents, if the files do not keep their ends
                (`nanogpt`, `llm.c`, `npy`): `documents` searches for it.
            end_of_text_place: Whether it is `"after"` or `"before"` each document.
            tokenizer: The tokenizer for `decode`: the one that the set was prepared with.

        In a folder that `jeton.data.prepare` wrote, the manifest has all of this.

        Raises:
            MissingFileError: The path or the split does not exist.
            FormatError: A file is truncated or damaged.
            ArgumentError: There are files of several layouts, a flat file has no `dtype`, or the
                digest of the tokenizer is not that of the manifest.
        """
        if end_of_text is not None:
            checked_int("end_of_text", end_of_text, 0)
        for name, value in (("layout", layout), ("dtype", dtype), ("column", column)):
            if value is not None:
                check_kind(name, value, str, "a str")
        if not isinstance(end_of_text_place, str) or end_of_text_place not in ("after", "before"):
            raise ArgumentError(
                f'end_of_text_place must be "after" or "before", not {end_of_text_place!r}'
            )
        place = local_copy(path)
        facts = facts_of(place)
        if tokenizer is not None:
            facts.check(tokenizer)
        layout, dtype = layout or facts.layout, dtype or facts.dtype
        if end_of_text is None and facts.end_of_text is not None:
            end_of_text, end_of_text_place = facts.end_of_text
        self.shards = layouts.read(place, split=split, layout=layout, dtype=dtype, column=column)
        """The files, in order."""
        if os.path.isdir(place):
            facts.check_shards(shard.path for shard in self.shards)
        self._arguments: dict[str, Any] = {
            "path": os.fspath(path),
            "split": split,
            "layout": layout,
            "dtype": dtype,
            "column": column,
            "end_of_text": end_of_text,
            "end_of_text_place": end_of_text_place,
            "tokenizer": tokenizer,
        }
        self._place = Path(place)
        self._tokenizer = tokenizer
        self._facts = facts
        kinds = {shard.tokens.dtype.name for shard in self.shards}
        self.dtype: np.dtype[np.integer] = np.dtype("uint32" if "uint32" in kinds else "uint16")
        """The type of the tokens: uint16 or uint32."""
        #: Where each shard begins, and the end.
        self._starts = [0]
        for shard in self.shards:
            self._starts.append(self._starts[-1] + len(shard.tokens))
        self._tokens = [shard.tokens for shard in self.shards]
        self._masks = [shard.mask for shard in self.shards]
        has_masks = facts.masks or any(mask is not None for mask in self._masks)
        for shard in self.shards if has_masks else []:
            if shard.mask is None:
                raise FormatError(f"{shard.path}: has no loss mask, and the set has one")
        self.mask = LossMask(self._mask, len(self)) if has_masks else None
        """For each token whether it is learnt; `None` without a loss mask."""

    @property
    def path(self) -> Path:
        """The path that was opened; for a URL, that of the copy."""
        return self._place

    @property
    def location(self) -> str:
        """The path or the URL that was opened."""
        return str(self._arguments["path"])

    @property
    def tokenizer_digest(self) -> str | None:
        """The digest of the tokenizer that the set was prepared with, if its manifest has it."""
        manifest = self._facts.manifest
        if manifest is None:
            return None if self._tokenizer is None else self._tokenizer.digest
        return str(manifest.tokenizer["digest"])

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments that the set was opened with, as JSON has them, without the path."""
        return {
            name: value
            for name, value in self._arguments.items()
            if name not in ("path", "tokenizer") and value is not None
        }

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, window: int) -> int: ...
    @overload
    def __getitem__(self, window: slice) -> npt.NDArray[np.integer]: ...
    def __getitem__(self, window: int | slice) -> int | npt.NDArray[np.integer]:
        """A token, or a slice of tokens as an array.

        A slice within one shard is a read-only view of the file; one across shards is a copy.
        """
        if isinstance(window, slice):
            start, stop, step = window.indices(len(self))
            if step < 0:
                first = range(start, stop, step)
                return self[first[-1] : start + 1][::step] if first else self._slice(0, 0)
            found = self._slice(start, stop)
            return found if step == 1 else found[::step]
        try:
            at = range(len(self))[window]
        except TypeError:
            raise ArgumentTypeError(
                f"a place must be an int or a slice, not {type(window).__name__}"
            ) from None
        except IndexError:
            raise IndexError(f"there is no token {window} among {len(self):,}") from None
        return int(self._slice(at, at + 1)[0])

    def _slice(self, start: int, stop: int) -> npt.NDArray[np.integer]:
        return self._sliced(self._tokens, start, stop, self.dtype)

    def _mask(self, window: slice) -> npt.NDArray[np.integer]:
        start, stop, step = window.indices(len(self))
        if step != 1:
            raise ArgumentError("a loss mask is sliced without a step")
        return self._sliced(self._masks, start, stop, np.uint8)

    def _sliced(self, of_shards: Any, start: int, stop: int, kind: Any) -> npt.NDArray[np.integer]:
        """A slice of an array that is spread over all shards."""
        pieces = []
        number = bisect_right(self._starts, start) - 1
        while start < stop:
            first, last = self._starts[number], self._starts[number + 1]
            if start < last:
                pieces.append(of_shards[number][start - first : min(stop, last) - first])
            start, number = max(start, last), number + 1
        if len(pieces) == 1:
            piece: npt.NDArray[np.integer] = pieces[0]
            return piece
        return np.concatenate(pieces) if pieces else np.empty(0, kind)

    @cached_property
    def documents(self) -> Documents:
        """The documents of the set; takes 8 bytes of memory per document.

        Raises:
            ArgumentError: The files do not keep the ends of documents, and there is no
                `end_of_text`.
            FormatError: The ends are damaged.
        """
        ends = ends_of_shards(self.shards)
        if ends is None:
            token = self._arguments["end_of_text"]
            if token is None:
                raise ArgumentError(
                    f"{self.path}: its layout does not keep the ends of documents; open it with "
                    "end_of_text=, the id of the token between them"
                )
            ends = ends_by_token(self.shards, token, self._arguments["end_of_text_place"])
        return Documents(np.concatenate(([0], ends)), self.__getitem__)

    def decode(self, window: slice | npt.ArrayLike, *, errors: str = "replace") -> str:
        """The text of a slice of the set, or of ids from it.

        Raises:
            ArgumentError: The set was opened without a tokenizer, and none was saved with it.
            DecodeError: A character is split, with `errors="strict"`.
        """
        if self._tokenizer is None:
            self._tokenizer = self._facts.tokenizer()
        ids: Any = self[window] if isinstance(window, slice) else window
        return self._tokenizer.decode(ids, errors=errors)

    def get_batch(
        self,
        batch_size: int,
        block_size: int,
        *,
        generator: object = None,
        device: object = None,
    ) -> Batch:
        """Windows from random places, all equally likely, including the last.

        Args:
            batch_size: The number of windows.
            block_size: The number of tokens of each.
            generator: A `numpy.random.Generator` or a `torch.Generator`, for a repeatable choice.
                By default numpy's, seeded by the system; for tensors torch's global one.
            device: By default the result is numpy arrays; with `"cpu"`, `"cuda"`, … it is tensors
                on that device. To a GPU they are copied from pinned memory, without waiting.

        Returns:
            `x` and `y`, int64 of shape (batch_size, block_size); `y` is `x` shifted by one token,
            and -100 outside the loss mask, if the set has one.

        Raises:
            ArgumentError: The set is too short for a single window.
        """
        batch_size = checked_int("batch_size", batch_size, 1)
        places = self._places(checked_int("block_size", block_size, 1))
        on = None if device is None else checked_device(device)
        starts = self._draw(places, batch_size, generator, on is not None)
        batch = self.windows_at(starts, block_size)
        if on is None:
            return batch
        return Batch(on_device(batch.x, on), on_device(batch.y, on))

    def windows(self, block_size: int) -> Windows:
        """The adjacent windows of the set, by index: see `jeton.data.Windows`.

        Raises:
            ArgumentError: The set is too short for a single window.
        """
        block_size = checked_int("block_size", block_size, 1)
        self._places(block_size)
        return Windows(self, block_size)

    def windows_at(self, starts: npt.NDArray[np.int64], block_size: int) -> Batch:
        """The windows that begin at `starts`, as numpy arrays."""
        block_size = checked_int("block_size", block_size, 1)
        starts = checked_numbers("starts", starts, self._places(block_size))
        x = np.empty((len(starts), block_size), np.int64)
        y = np.empty_like(x)
        for row, start in enumerate(starts.tolist()):
            window = self._slice(start, start + block_size + 1)
            x[row] = window[:-1]
            y[row] = window[1:]
            if self.mask is not None:
                y[row, ~self.mask[start + 1 : start + block_size + 1]] = IGNORED
        return Batch(x, y)

    def loader(
        self,
        batch_size: int,
        block_size: int,
        *,
        seed: int = 0,
        shuffle: bool = True,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
        workers: int = 0,
        device: object = None,
    ) -> Loader[Batch]:
        """Batches of adjacent windows, each exactly once per epoch: see `jeton.data.Loader`.

        Window `i` has the tokens from `i * block_size` on. At the end of the set fewer than
        `block_size` tokens are left out.

        Args:
            batch_size: The number of windows of a batch on each rank.
            block_size: The number of tokens of a window.
            seed: Determines the order, together with the epoch.
            shuffle: Whether to shuffle; otherwise windows come in the order of the set.
            rank: The number of this process in a distributed run, from 0.
            world_size: The number of processes; they share each epoch without overlap.
            drop_last: Whether to leave out windows that do not fill a batch on every rank;
                otherwise they are distributed evenly, and a rank may have one batch fewer.
            workers: The number of processes that read, for tensors.
            device: As for `get_batch`.

        Raises:
            ArgumentError: The set is too short, or a value is not valid.
        """
        return self.windows(block_size).loader(
            batch_size,
            seed=seed,
            shuffle=shuffle,
            rank=rank,
            world_size=world_size,
            drop_last=drop_last,
            workers=workers,
            device=device,
        )

    def _places(self, block_size: int) -> int:
        """The number of places where a window can begin."""
        places = len(self) - block_size
        if places < 1:
            raise ArgumentError(
                f"{self.path}: has {len(self):,} tokens, {1 - places:,} too few for "
                f"block_size={block_size:,}, which needs one more for the last label"
            )
        return places

    def _draw(
        self, places: int, number: int, generator: object, tensors: bool
    ) -> npt.NDArray[np.int64]:
        if isinstance(generator, np.random.Generator):
            return generator.integers(0, places, number)
        if generator is None and not tensors:
            return self._random.integers(0, places, number)
        torch = checked_torch_generator(generator)
        starts: npt.NDArray[np.int64] = torch.randint(
            places, (number,), generator=generator
        ).numpy()
        return starts

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng()

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapped files are reopened, not copied.
        return _opened, (self._arguments,)

    def __repr__(self) -> str:
        shards = len(self.shards)
        return f"TokenDataset({shown(self.location)!r}, {len(self):,} tokens, {shards:,} shards)"


class Windows(Examples[Batch]):
    """The adjacent windows of a token set: window `i` has the tokens from `i * block_size` on.

    `windows[i]` is a `Batch` whose arrays have one axis. At the end of the set fewer than
    `block_size` tokens are left out.
    """

    def __init__(self, tokens: TokenDataset, block_size: int) -> None:
        self._tokens, self._block_size = tokens, block_size

    def __len__(self) -> int:
        # The last token of the last window needs a token after it too.
        return (len(self._tokens) - 1) // self._block_size

    def settings(self) -> dict[str, Any]:
        """The settings that determine the number of each window."""
        return {"tokens": len(self._tokens), "block_size": self._block_size}

    def gather(self, numbers: npt.NDArray[np.int64]) -> Batch:
        """The batch of windows with these numbers."""
        numbers = checked_numbers("numbers", numbers, len(self))
        return self._tokens.windows_at(numbers * self._block_size, self._block_size)

    def record(self, number: int) -> dict[str, npt.NDArray[np.int64]]:
        """A window for `transformers.Trainer`."""
        [number] = checked_numbers("number", [number], len(self)).tolist()
        place = slice(number * self._block_size, (number + 1) * self._block_size)
        ids = self._tokens[place].astype(np.int64)
        labels = ids.copy()
        if self._tokens.mask is not None:
            labels = np.where(self._tokens.mask[place], ids, IGNORED)
        # Models have nothing to predict it from, and the `Trainer` divides the loss by the number
        # of labels that are not ignored.
        labels[0] = IGNORED
        return {"input_ids": ids, "labels": labels}

    def __repr__(self) -> str:
        return f"Windows({len(self):,} of {self._block_size:,} tokens)"


def checked_torch_generator(generator: object) -> Any:
    """The torch module, if `generator` is one of torch or `None`."""
    try:
        import torch

        if generator is None or isinstance(generator, torch.Generator):
            return torch
    except ImportError:
        pass
    raise ArgumentTypeError(
        "generator must be a numpy.random.Generator or a torch.Generator, not "
        f"{type(generator).__name__}"
    )


def _opened(arguments: dict[str, Any]) -> TokenDataset:
    return TokenDataset(**arguments)
