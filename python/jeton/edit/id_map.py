"""The map from old ids to new ids after a change of a vocabulary.

Look here for `IdMap`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from jeton.arguments import check_kind, checked_int, checked_iterable
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    UnknownTokenError,
)
from jeton.results.encoding import TokenBatch
from jeton.saved_json import Saved

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MAX_IDS = 1 << 24
"""The maximum number of ids of a tokenizer."""


@dataclass(frozen=True, repr=False)
class IdMap(Saved):
    """A map from the ids of a tokenizer to those of an edited one.

    Args:
        moved: The new id of each old id; -1 if its token was removed (or never existed).
        new_size: The largest new id plus one.
        made_of: For new tokens, the old ids that spelled them.
        old_digest: `Tokenizer.digest` of the old tokenizer.
        new_digest: `Tokenizer.digest` of the new tokenizer.

    Example:
        >>> from jeton.edit import IdMap
        >>> id_map = IdMap((0, -1, 1), new_size=3, made_of={2: (0, 2)})
        >>> id_map.apply([2, 0, 2])
        [1, 0, 1]
        >>> id_map.inverse.apply([1])
        [2]
    """

    _NOUN: ClassVar[str] = "id map"
    _INDENT: ClassVar[int | None] = None

    moved: tuple[int, ...]
    new_size: int
    made_of: Mapping[int, tuple[int, ...]]
    old_digest: str = ""
    new_digest: str = ""

    def __post_init__(self) -> None:
        checked_iterable("moved", self.moved, "ids")
        object.__setattr__(self, "moved", tuple(self.moved))
        object.__setattr__(self, "made_of", _checked_parts(self.made_of))
        if checked_int("new_size", self.new_size, 0) > _MAX_IDS:
            raise ArgumentError(
                f"id map: new_size is more than {_MAX_IDS:,}, the maximum number of ids"
            )
        for name in ("old_digest", "new_digest"):
            check_kind(name, getattr(self, name), str, "a str")
        new_ids = [new for new in self.moved if not (isinstance(new, int) and new == -1)]
        for new in (*new_ids, *self.made_of):
            if isinstance(new, bool) or not isinstance(new, int) or not 0 <= new < self.new_size:
                where = "moved" if new in self.moved else "made_of"
                raise ArgumentError(
                    f"id map: {where} holds {new!r:.40}, which is not a new id: there are "
                    f"{self.new_size}, from 0 on"
                )
        if len(set(new_ids)) != len(new_ids) or not set(new_ids).isdisjoint(self.made_of):
            raise ArgumentError("id map: two tokens have the same new id")
        for new, parts in self.made_of.items():
            for old in parts:
                if not 0 <= old < self.old_size:
                    raise ArgumentError(
                        f"id map: the new id {new} is made of the old id {old}; the largest is "
                        f"{self.old_size - 1}"
                    )

    @property
    def old_size(self) -> int:
        """The largest old id plus one."""
        return len(self.moved)

    @property
    def inverse(self) -> IdMap:
        """The map from the new ids back to the old ones; it maps new tokens to nothing."""
        back = [-1] * self.new_size
        for old, new in enumerate(self.moved):
            if new != -1:
                back[new] = old
        return IdMap(tuple(back), self.old_size, {}, self.new_digest, self.old_digest)

    def then(self, later: IdMap) -> IdMap:
        """This change and a later one as one map.

        Raises:
            ArgumentError: The later map starts from another tokenizer.
        """
        check_kind("later", later, IdMap, "an IdMap")
        if self.new_digest != later.old_digest or self.new_size != later.old_size:
            raise ArgumentError(
                f"these maps do not follow each other: the first leads to {self._side(False)}, the "
                f"second starts from {later._side(True)}"
            )
        moved = tuple(-1 if new == -1 else later.moved[new] for new in self.moved)
        back = self.inverse.moved
        made_of = {
            later.moved[new]: old for new, old in self.made_of.items() if later.moved[new] != -1
        }
        for new, parts in later.made_of.items():
            older: list[int] = []
            for id in parts:
                older.extend(self.made_of.get(id, (back[id],) if back[id] != -1 else ()))
            made_of[new] = tuple(older)
        return IdMap(moved, later.new_size, made_of, self.old_digest, later.new_digest)

    def _side(self, old: bool) -> str:
        size, digest = (self.old_size, self.old_digest) if old else (self.new_size, self.new_digest)
        return f"a tokenizer of {size} ids" + (f" ({digest[:12]})" if digest else "")

    def apply(self, ids: object, *, missing: Literal["raise", "drop"] | int = "raise") -> Any:
        """The new ids of old ids.

        Args:
            ids: A list of ints, a numpy array of integers (any shape), or a `TokenBatch`.
            missing: What to do with the ids of removed tokens: raise an error, drop them (in lists,
                batches and arrays with one axis), or replace them by this new id. (It is better to
                encode such text again.)

        Returns:
            The type of `ids`: a list, an array of the same dtype, or a batch.

        Raises:
            ArgumentTypeError: `ids` are not integers.
            ArgumentError: `missing="drop"` for an array with several axes.
            UnknownTokenError: The id of a token that was removed, or never existed.
        """
        import numpy as np

        if not isinstance(missing, str) or missing not in ("raise", "drop"):
            missing = checked_int("missing", missing, 0)
            if missing >= self.new_size:
                raise ArgumentError(f"missing={missing} is not a new id: there are {self.new_size}")
        if isinstance(ids, TokenBatch):
            rows = [self.apply(row, missing=missing) for row in ids]
            return TokenBatch.from_rows(rows)
        if isinstance(ids, np.ndarray):
            if ids.dtype.kind not in "iu":
                raise ArgumentTypeError(f"ids must be integers, not {ids.dtype}")
            if missing == "drop" and ids.ndim != 1:
                raise ArgumentError(
                    f"missing='drop' removes ids, but ids of shape {ids.shape} must keep it"
                )
            return self._new_ids(ids, missing)
        ids = checked_iterable("ids", ids, "integers")
        old_ids = [checked_int("each of ids", id, 0) for id in ids]
        new_ids: list[int] = self._new_ids(np.asarray(old_ids, np.int64), missing).tolist()
        return new_ids

    def _new_ids(self, ids: npt.NDArray[np.integer], missing: str | int) -> npt.NDArray[np.integer]:
        import numpy as np

        if ids.size and (int(ids.min()) < 0 or int(ids.max()) >= self.old_size):
            bad = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
            raise UnknownTokenError(
                f"id {bad} is not an id of the old tokenizer ({self._side(True)})"
            )
        table = np.asarray(self.moved, np.int64)
        if table.size == 0:
            return ids.copy()
        new = table[ids.astype(np.int64, copy=False)]
        is_removed = new == -1
        if is_removed.any():
            if missing == "raise":
                raise UnknownTokenError(
                    f"the token of id {int(ids[is_removed].flat[0])} was removed; encode the text "
                    "again, or give missing="
                )
            if missing == "drop":
                new = new[~is_removed]
            else:
                new[is_removed] = missing
        if new.size and int(new.max()) > np.iinfo(ids.dtype).max:
            raise ArgumentError(f"the new id {int(new.max())} does not fit {ids.dtype}")
        return cast("npt.NDArray[np.int64]", new.astype(ids.dtype))

    def to_dict(self) -> dict[str, Any]:
        """The whole map as values for JSON."""
        return {
            **self._head(),
            "old": {"size": self.old_size, "digest": self.old_digest},
            "new": {"size": self.new_size, "digest": self.new_digest},
            "moved": list(self.moved),
            "made_of": {str(new): list(old) for new, old in self.made_of.items()},
        }

    @classmethod
    def _of_record(cls, record: Any) -> IdMap:
        id_map = cls(
            tuple(record["moved"]),
            record["new"]["size"],
            {int(new): tuple(old) for new, old in record["made_of"].items()},
            record["old"]["digest"],
            record["new"]["digest"],
        )
        if id_map.old_size != record["old"]["size"]:
            raise ValueError(f"it maps {id_map.old_size} ids")
        return id_map

    def __hash__(self) -> int:
        return hash((self.moved, self.new_size, self.old_digest, self.new_digest))

    def __repr__(self) -> str:
        count = sum(new != -1 for new in self.moved)
        return (
            f"IdMap({self.old_size} ids to {self.new_size}: {count} kept, {len(self.made_of)} new)"
        )


def _checked_parts(made_of: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """New ids with the old ones that spelled them, in order."""
    check_kind("made_of", made_of, Mapping, "a mapping of new ids to old ones")
    parts = {}
    for new, old in made_of.items():
        ids = checked_iterable(f"made_of[{new!r}]", old, "ids")
        number = checked_int("each id of made_of", new, 0)
        parts[number] = tuple(checked_int(f"each of made_of[{new}]", id, 0) for id in ids)
    return dict(sorted(parts.items()))
