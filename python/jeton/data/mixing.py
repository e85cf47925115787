"""`mix`: one stream of training examples from several token sets, in given shares."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from jeton import files, saved_json
from jeton.arguments import check_text, checked_fraction, checked_int, checked_path
from jeton.data.dataset import Batch, TokenDataset
from jeton.data.loader import Loader
from jeton.data.manifest import NAME
from jeton.data.mixed_examples import MixedExamples, MixedRows
from jeton.data.packing import pack
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from jeton.stores.urls import is_url, shown

_FORMAT = 1
MAX_EPOCHS = 4.0


@dataclass(frozen=True)
class MixSource:
    """A source of a mixture with its amount: a weight, tokens or epochs.

    Example:
        >>> from jeton.data import MixSource
        >>> MixSource("tokens/books", epochs=2)
        MixSource(data='tokens/books', weight=None, tokens=None, epochs=2)
    """

    data: TokenDataset | str | os.PathLike[str]
    """A token set, or its path."""
    weight: float | Fraction | None = None
    """Its share of the tokens that the sources with weights have together."""
    tokens: int | None = None
    """The number of its tokens in the mixture."""
    epochs: float | Fraction | None = None
    """How often the mixture repeats the source; 0.5 takes half of it."""

    def __post_init__(self) -> None:
        if not isinstance(self.data, TokenDataset):
            checked_path("data", self.data, "a TokenDataset or a path", urls=True)
        amounts = [self.weight, self.tokens, self.epochs]
        if sum(amount is not None for amount in amounts) != 1:
            raise ArgumentError("a source has either a weight, or tokens, or epochs")
        if self.tokens is not None:
            checked_int("tokens", self.tokens, 1)
        for name, value in (("weight", self.weight), ("epochs", self.epochs)):
            if value is not None:
                checked_fraction(name, value)


@dataclass(frozen=True)
class PlannedSource:
    """What a mixture takes from a source."""

    name: str
    """The name of the source: its key in the mapping."""
    size: int
    """The number of tokens of the set."""
    tokens: int
    """The number of its tokens in the mixture."""

    @property
    def epochs(self) -> float:
        """How many times the whole set is in the mixture."""
        return self.tokens / self.size


class Mixture:
    """Several token sets in given shares; `mix` returns it.

    The sources are read as they are, and nothing is copied. Windows and packed sequences are of one
    source each. The loader is that of a token set: the same order for any number of ranks and
    workers, every example exactly once, and a state that resumes exactly.
    """

    def __init__(
        self,
        sources: Mapping[str, MixSource],
        *,
        tokens: int | None = None,
        seed: int = 0,
        max_epochs: float | None = MAX_EPOCHS,
        split: str | None = None,
    ) -> None:
        """See `mix`; here every source is a `MixSource`."""
        self._given = dict(sources)
        self._tokens = None if tokens is None else checked_int("tokens", tokens, 1)
        self.seed = checked_int("seed", seed, 0)
        """Determines the order."""
        self._max_epochs = (
            None if max_epochs is None else checked_fraction("max_epochs", max_epochs)
        )
        self.sets = {
            name: source.data
            if isinstance(source.data, TokenDataset)
            else TokenDataset(source.data, split=split)
            for name, source in self._given.items()
        }
        """The token sets by name."""
        self._check_tokenizers()
        sizes = [len(tokens) for tokens in self.sets.values()]
        for name, size in zip(self.sets, sizes, strict=True):
            if not size:
                raise ArgumentError(f"{name}: the set is empty")
        amounts = self._amounts(sizes, 1)
        self.sources = tuple(map(PlannedSource, self.sets, sizes, amounts))
        """What is taken from each source."""
        for planned, source in zip(self.sources, self._given.values(), strict=True):
            repeated = Fraction(planned.tokens, planned.size)
            if source.weight and self._max_epochs is not None and repeated > self._max_epochs:
                raise ArgumentError(
                    f"{planned.name}: its {planned.size:,} tokens would come {float(repeated):.3g} "
                    f"times, and max_epochs is {float(self._max_epochs):g} (lower its weight or "
                    "tokens=, or raise max_epochs)"
                )

    def _check_tokenizers(self) -> None:
        digests: dict[str, str] = {}
        for name, tokens in self.sets.items():
            digest = tokens.tokenizer_digest
            if digest is not None:
                digests.setdefault(digest, name)
        if len(digests) > 1:
            first, second, *_ = digests.values()
            raise ArgumentError(
                f"{first} and {second} were prepared with different tokenizers, so their ids do "
                "not mean the same"
            )

    @property
    def tokens(self) -> int:
        """The number of tokens of an epoch of the mixture."""
        return sum(source.tokens for source in self.sources)

    def _amounts(self, sizes: Sequence[int], unit: int) -> list[int]:
        """The number of examples of `unit` tokens from sources with so many of them."""
        given = list(self._given.values())
        amounts = [
            Fraction(source.tokens or 0, unit) + _fraction_or_0(source.epochs) * size
            for source, size in zip(given, sizes, strict=True)
        ]
        weights = [_fraction_or_0(source.weight) for source in given]
        if sum(weights):
            shares = [weight / sum(weights) for weight in weights]
            if self._tokens is None:
                rest = min(size / share for size, share in zip(sizes, shares, strict=True) if share)
            else:
                rest = Fraction(self._tokens, unit) - sum(amounts)
                if rest <= 0:
                    raise ArgumentError(
                        f"tokens={self._tokens:,} leaves nothing for the sources with weights: "
                        f"the others have {math.ceil(sum(amounts) * unit):,}"
                    )
            amounts = [amount + share * rest for amount, share in zip(amounts, shares, strict=True)]
        elif self._tokens is not None:
            raise ArgumentError("tokens is shared by weights, and no source has a weight")
        return _rounded(amounts)

    def _counts(self, sizes: Sequence[int], unit: int) -> list[int]:
        counts = self._amounts(sizes, unit)
        for name, count in zip(self.sets, counts, strict=True):
            if not count:
                raise ArgumentError(
                    f"{name}: its share is less than one example of {unit:,} tokens (more tokens=, "
                    "a larger weight, or leave it out)"
                )
        return counts

    def windows(
        self, block_size: int, *, after: Mapping[str, Any] | None = None
    ) -> MixedExamples[Batch]:
        """The windows of the mixture, by index or in batches.

        Args:
            block_size: The number of tokens of a window.
            after: A state of a loader of another mixture with the same seed. Sources that are in
                both go on where that one stopped: other shares in the middle of training, with
                nothing twice.

        Raises:
            ArgumentError: A set is too short for a window, the share of a source is less than one
                window, or `after` does not fit.
        """
        sources = {name: tokens.windows(block_size) for name, tokens in self.sets.items()}
        counts = self._counts([len(source) for source in sources.values()], block_size)
        return MixedExamples(sources, counts, self.seed, after)

    def pack(
        self,
        length: int,
        method: Literal["concatenate", "best_fit_crop", "bins"] = "concatenate",
        *,
        after: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> MixedRows:
        """The documents of each source packed by `jeton.data.pack`, which has the other options.

        Shares are of sequences, of which padding is a part.
        """
        sources = {
            name: pack(tokens, length, method, **options) for name, tokens in self.sets.items()
        }
        counts = self._counts([len(source) for source in sources.values()], length)
        return MixedRows(sources, counts, self.seed, after)

    def loader(
        self,
        batch_size: int,
        block_size: int,
        *,
        shuffle: bool = True,
        rank: int = 0,
        world_size: int = 1,
        drop_last: bool = False,
        workers: int = 0,
        device: object = None,
        after: Mapping[str, Any] | None = None,
    ) -> Loader[Batch]:
        """Batches of the windows: see `TokenDataset.loader`, and `windows` for `after`.

        With `shuffle=False` the windows of each source come in their order.
        """
        return self.windows(block_size, after=after).loader(
            batch_size,
            shuffle=shuffle,
            rank=rank,
            world_size=world_size,
            drop_last=drop_last,
            workers=workers,
            device=device,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the mixture as JSON, with the counts of each source, for `Mixture.read`.

        Paths in it are relative to the file; URLs stay, with the secrets that they have.
        """
        target = Path(checked_path("path", path))
        entries = []
        for planned, source in zip(self.sources, self._given.values(), strict=True):
            tokens = self.sets[planned.name]
            entries.append(
                {
                    "name": planned.name,
                    "path": tokens.location
                    if is_url(tokens.location)
                    else os.path.relpath(tokens.path.absolute(), target.absolute().parent),
                    "open": tokens.reading,
                    "weight": _number_text(source.weight),
                    "tokens": source.tokens,
                    "epochs": _number_text(source.epochs),
                    "size": planned.size,
                    "manifest": _manifest_digest(tokens.path),
                    "planned": {"tokens": planned.tokens, "epochs": round(planned.epochs, 6)},
                }
            )
        content = {
            "format": _FORMAT,
            "kind": "mixture",
            "tokens": self._tokens,
            "seed": self.seed,
            "max_epochs": _number_text(self._max_epochs),
            "planned_tokens": self.tokens,
            "sources": entries,
        }
        saved_json.write(target, content, indent=1)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mixture:
        """A mixture that `save` or `jeton data mix` wrote.

        Raises:
            MissingFileError: The file or a set does not exist.
            FormatError: The file is not of a mixture, or a set is not the one it was.
        """
        place = Path(checked_path("path", path))
        try:
            content = json.loads(files.read(place))
            if content["kind"] != "mixture" or content["format"] != _FORMAT:
                raise FormatError(f"{place}: is not a mixture of this version of jeton")
            entries = {
                check_text("name", entry["name"]): (
                    entry["path"]
                    if is_url(entry["path"])
                    else os.path.normpath(place.absolute().parent / entry["path"]),
                    dict(entry["open"]),
                    {
                        "weight": _number_of(entry["weight"]),
                        "tokens": entry["tokens"],
                        "epochs": _number_of(entry["epochs"]),
                    },
                    (int(entry["size"]), entry["manifest"]),
                )
                for entry in content["sources"]
            }
            options = {
                "tokens": content["tokens"],
                "seed": content["seed"],
                "max_epochs": _number_of(content["max_epochs"]),
            }
        except FormatError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise FormatError(f"{place}: is not a mixture, or damaged: {error}") from None
        sources = {}
        for name, (at, opening, amounts, (size, manifest)) in entries.items():
            try:
                tokens = TokenDataset(at, **opening)
                sources[name] = MixSource(tokens, **amounts)
            except (ArgumentError, ArgumentTypeError, TypeError) as error:
                raise FormatError(f"{place}: {name}: {error}") from None
            if len(tokens) != size or _manifest_digest(tokens.path) != manifest:
                raise FormatError(
                    f"{place}: {tokens.path} is not the set that was mixed: it has {len(tokens):,} "
                    f"tokens, and had {size:,}, or its manifest has changed (mix again)"
                )
        return cls(sources, **options)

    def __str__(self) -> str:
        lines = [
            f"{source.name}: {source.tokens:,} tokens ({source.tokens / self.tokens:.1%}), "
            f"{source.epochs:.3g} epochs of {source.size:,}"
            for source in self.sources
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{source.name} {source.tokens / self.tokens:.1%}" for source in self.sources
        )
        return f"Mixture({self.tokens:,} tokens: {shares})"


def mix(
    sources: Mapping[Any, float | Fraction | MixSource] | str | Iterable[str],
    *,
    tokens: int | None = None,
    seed: int = 0,
    max_epochs: float | None = MAX_EPOCHS,
    split: str | None = None,
) -> Mixture:
    """Mixes token sets in given shares, without copying them.

    The sources alternate evenly, without a pattern: after any number of examples each source has
    given its share of them to within a few. Each comes once in full before it repeats.

    Args:
        sources: A mapping of paths of token sets to weights. With a `MixSource` as the value the
            key is any name, and a source may have a number of tokens or of epochs instead of a
            weight. Or a blend of Megatron: `"0.7 web_text_document 0.3 code_text_document"`, or
            these parts in a list; without weights each set comes once.
        tokens: The number of tokens of the mixture; those of sources with `tokens` or `epochs` are
            a part of it, and weights share the rest. By default as many as the sources with weights
            have without repeating one.
        seed: Determines the order.
        max_epochs: How many times a source with a weight may come: more is an error. `None` for no
            limit. (Up to four epochs are nearly as good as new text: Muennighoff et al., 2023.)
        split: The split of each set: see `TokenDataset`.

    Returns:
        The mixture, with its `windows`, `pack` and `loader`.

    Raises:
        ArgumentError: A weight is not positive, a source would come too often, or the sets are of
            different tokenizers.
        MissingFileError: A set does not exist.

    Example:
        >>> import numpy as np, tempfile
        >>> from jeton import data
        >>> web, code = tempfile.mkdtemp(), tempfile.mkdtemp()
        >>> for folder, first in ((web, 0), (code, 5000)):
        ...     with data.layouts.create("jeton", folder, dtype="uint16") as writer:
        ...         writer.append(np.arange(first, first + 801), np.array([801]))
        ...         _ = writer.finish()
        >>> mixture = data.mix({web: 0.75, code: 0.25}, seed=1)
        >>> [(source.tokens, round(source.epochs, 2)) for source in mixture.sources]
        [(801, 1.0), (267, 0.33)]
        >>> loader = mixture.loader(batch_size=8, block_size=8)
        >>> (next(iter(loader)).x[:, 0] >= 5000).tolist()
        [False, False, True, False, False, False, True, False]
        >>> some = data.MixSource(code, epochs=2)
        >>> data.mix({web: data.MixSource(web, weight=1), "code": some}, tokens=3000).tokens
        3000
    """
    if isinstance(sources, Mapping):
        pairs: list[tuple[str, MixSource]] = []
        for key, value in sources.items():
            path = checked_path("each key of sources", key, urls=True)
            if not isinstance(value, MixSource):
                value = MixSource(path, weight=value)
            pairs.append((path, value))
    elif isinstance(sources, (str, Iterable)) and not isinstance(sources, bytes):
        pairs = _blend(sources)
    else:
        raise ArgumentTypeError(
            "sources must map paths to weights, or be a blend of Megatron, not "
            f"{type(sources).__name__}"
        )
    named: dict[str, MixSource] = {}
    for path, source in pairs:
        name = _name_of(path)
        if name in named:
            raise ArgumentError(f"{name} is twice among the sources")
        named[name] = source
    if not named:
        raise ArgumentError("there are no sources to mix")
    return Mixture(named, tokens=tokens, seed=seed, max_epochs=max_epochs, split=split)


def _blend(blend: str | Iterable[str]) -> list[tuple[str, MixSource]]:
    """The sources of Megatron's `--data-path`: weights and paths in turn, or only paths."""
    try:
        parts = shlex.split(blend) if isinstance(blend, str) else [*blend]
    except ValueError as error:
        raise ArgumentError(f"the blend {blend!r} cannot be split: {error}") from None
    parts = [
        part if isinstance(part, str) else checked_path("each path of sources", part, urls=True)
        for part in parts
    ]
    weighted = bool(parts) and _is_number(parts[0])
    if weighted and (len(parts) % 2 or not all(map(_is_number, parts[::2]))):
        raise ArgumentError(
            "a blend is weights and paths in turn, as 0.7 web 0.3 code, or paths without weights"
        )
    if weighted:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return [(path, MixSource(path, weight=Fraction(weight))) for weight, path in pairs]
    return [(path, MixSource(path, epochs=1)) for path in parts]


def _name_of(path: str) -> str:
    """What a source is called, without the secrets of a URL."""
    return shown(path) if is_url(path) else path


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _fraction_or_0(value: float | Fraction | None) -> Fraction:
    return Fraction(0) if value is None else checked_fraction("an amount", value)


def _rounded(amounts: Sequence[Fraction]) -> list[int]:
    """Whole numbers of the same sum, rounded down: the largest remainders are rounded up."""
    counts = [math.floor(amount) for amount in amounts]
    missing = math.floor(sum(amounts)) - sum(counts)
    by_rest = sorted(range(len(counts)), key=lambda at: (counts[at] - amounts[at], at))
    for at in by_rest[:missing]:
        counts[at] += 1
    return counts


def _number_text(value: float | Fraction | None) -> str | None:
    return None if value is None else str(checked_fraction("an amount", value))


def _number_of(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _manifest_digest(path: Path) -> str | None:
    """The SHA-256 of the manifest of a set, if it has one."""
    manifest = path / NAME
    return hashlib.sha256(files.read(manifest)).hexdigest() if manifest.exists() else None
