"""Moves a model to another tokenizer: which old rows the embedding of each new token comes from.

Look here for `transplant`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind, checked_int, checked_path
from jeton.edit.checkpoint import check_tokenizer_of, head_table, input_table
from jeton.edit.edit_result import Edited
from jeton.edit.id_map import IdMap
from jeton.edit.pursuit import sparse_sums
from jeton.edit.tensors import Weights
from jeton.encoding.alignment import plain_tokens
from jeton.errors import ArgumentError, JetonError
from jeton.results.vocabulary import bytes_by_id
from jeton.tokenizer import Tokenizer

_HELD = 512
"""Shared tokens that the quality is measured on."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, repr=False)
class Transplanted(Edited):
    """A model's move to another tokenizer.

    Attributes:
        shared: How many tokens both tokenizers have; their rows are copied.
        by_role: How many have another text and the same role, such as the end of a text.
        by_pursuit: How many are sparse sums of shared tokens.
        by_mean: How many are the mean of the old tokens that spell them.
        without: How many no old token spells: their rows are those of `init`.
        cosine: The mean cosine of the true rows of held-out shared tokens with rows that are made
            in the same way, without the token itself; `None` without a model.
        held: How many were held out.
    """

    shared: int = 0
    by_role: int = 0
    by_pursuit: int = 0
    by_mean: int = 0
    without: int = 0
    cosine: float | None = None
    held: int = 0

    def __repr__(self) -> str:
        quality = ""
        if self.cosine is not None:
            quality = f", cosine {self.cosine:.3f} on {self.held} held out"
        return (
            f"Transplanted({self.shared:,} tokens shared, {self.by_role:,} by role, "
            f"{self.by_pursuit:,} by pursuit, {self.by_mean:,} by mean, {self.without:,} without"
            f"{quality})"
        )


def transplant(
    tok: Tokenizer,
    other: Tokenizer,
    *,
    model: str | os.PathLike[str] | None = None,
    donor: str | os.PathLike[str] | None = None,
    terms: int = 16,
) -> Transplanted:
    """Moves a model from its tokenizer to another one.

    The rows of tokens that both have are copied. Those of the others are the mean of the old
    tokens that spell them; or, with the model of the other tokenizer as `donor`, sums of shared
    tokens that approximate them in the donor's table, with the same coefficients in the model's.
    An output head of its own has coefficients of its own, from the donor's head.
    `rewrite_checkpoint` writes the model. It has to be trained further before it is of use; the
    better its first rows, the sooner.

    Args:
        tok: The model's tokenizer.
        other: The tokenizer to move to.
        model: The model's folder, of which the quality is measured.
        donor: The folder of a model of `other`, for orthogonal matching pursuit.
        terms: How many shared tokens a sum may have.

    Raises:
        ArgumentError: The tokenizers share no token; a model has fewer rows than its tokenizer
            ids, or a tokenizer with other tokens in its folder.
        MissingFileError, FormatError, UnsupportedError: A folder holds no model that can be read.

    Source: Goddard and Fernandes Neto, "Training-Free Tokenizer Transplantation via
        Orthogonal Matching Pursuit", 2025.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> old = jeton.BPETrainer(260).train(["low lower lowest"])
        >>> new = jeton.BPETrainer(260).train(["lower newer wider"])
        >>> edit.transplant(old, new)
        Transplanted(256 tokens shared, 0 by role, 0 by pursuit, 4 by mean, 0 without)
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    check_kind("other", other, Tokenizer, "a Tokenizer")
    terms = checked_int("terms", terms, 1)
    old, new = plain_tokens(tok), plain_tokens(other)
    shared = _shared(old, new)
    if not shared:
        raise ArgumentError("the tokenizers have no token in common")
    by_role = _by_role(tok, other, shared)
    known = {**shared, **by_role}
    spelling = _Spelling(tok, old)
    rest = [id for id in new if id not in known]
    made_of = {id: spelling.parts(*new[id]) for id in rest}
    weights: Weights = {}
    head_weights: Weights | None = None
    table = None
    if model is not None:
        check_tokenizer_of(checked_path("model", model), tok)
        table = input_table(model, tok.vocab.max_id + 1)
    cosine, held_ids, held = None, _held(shared), 0
    if donor is None:
        if table is not None:
            rows = [(shared[id], spelling.shorter(old[shared[id]][0])) for id in held_ids]
            pairs = [(table[of], table[list(parts)].mean(0)) for of, parts in rows if parts]
            cosine, held = _cosine(pairs), len(pairs)
    else:
        check_tokenizer_of(checked_path("donor", donor), other)
        donor_table = input_table(donor, other.vocab.max_id + 1)
        ids = np.array(sorted(shared))
        old_ids = np.array([shared[id] for id in ids.tolist()])
        plain = [id for id in rest if new[id][1] != "special"]
        weights = _pursued(donor_table, plain, ids, old_ids, terms)
        donor_head = head_table(donor, other.vocab.max_id + 1)
        if donor_head is not None and not np.array_equal(donor_head, donor_table):
            head_weights = _pursued(donor_head, plain, ids, old_ids, terms)
        if table is not None:
            is_held = np.isin(ids, held_ids)
            chosen, values = sparse_sums(
                donor_table[ids[is_held]], donor_table[ids[~is_held]], terms
            )
            basis = table[old_ids[~is_held]]
            made_rows = [values[row] @ basis[chosen[row]] for row in range(len(chosen))]
            cosine = _cosine(list(zip(table[old_ids[is_held]], made_rows, strict=True)))
            held = len(made_rows)
    moved = [-1] * (tok.vocab.max_id + 1)
    for new_id, old_id in known.items():
        moved[old_id] = new_id
    id_map = IdMap(tuple(moved), other.vocab.max_id + 1, made_of, tok.digest, other.digest)
    old_tokens, new_tokens = bytes_by_id(tok.vocab), bytes_by_id(other.vocab)
    return Transplanted(
        other,
        id_map,
        removed=tuple(token for id, token in sorted(old_tokens.items()) if moved[id] == -1),
        added=tuple(new_tokens[id] for id in sorted(rest)),
        renamed=tuple((old_tokens[before], new_tokens[id]) for id, before in by_role.items()),
        weights=weights,
        head_weights=head_weights,
        replaces_settings=True,
        shared=len(shared),
        by_role=len(by_role),
        by_pursuit=len(weights),
        by_mean=sum(bool(parts) for id, parts in made_of.items() if id not in weights),
        without=sum(not parts for id, parts in made_of.items() if id not in weights),
        cosine=cosine,
        held=held,
    )


def _shared(
    old: Mapping[int, tuple[bytes, str]], new: Mapping[int, tuple[bytes, str]]
) -> dict[int, int]:
    """The old ids of the tokens that both have, by the new ids; each old id once."""
    # Of two with the same bytes, the later is a piece and the earlier the token of a byte.
    ids = {token: id for id, token in old.items() if token[0]}
    new_ids = {token: id for id, token in new.items()}
    return {id: ids[token] for token, id in new_ids.items() if token in ids}


def _by_role(tok: Tokenizer, other: Tokenizer, shared: Mapping[int, int]) -> dict[int, int]:
    """The old ids of tokens with the same role, by the new ids."""
    taken, ids = set(shared.values()), dict[int, int]()
    roles = tok.roles
    for role, token in other.roles.items():
        new_id = other.vocab[token]
        old_id = tok.vocab[roles[role]] if role in roles else None
        if new_id is None or old_id is None or new_id in shared or new_id in ids:
            continue
        if old_id not in taken:
            ids[new_id] = old_id
            taken.add(old_id)
    return ids


class _Spelling:
    """How old tokens spell the bytes of a new one."""

    def __init__(self, tok: Tokenizer, plain: Mapping[int, tuple[bytes, str]]) -> None:
        self._tok, self._plain = tok, plain
        self._ids: dict[bytes, int] = {}
        for id, (token, kind) in plain.items():
            if token and kind != "special":
                self._ids.setdefault(token, id)
        self._longest = max(map(len, self._ids), default=0)

    def parts(self, token: bytes, kind: str) -> tuple[int, ...]:
        """The old ids: those of encoding if they spell it, or the longest matches from the left."""
        if kind == "special" or not token:
            return ()
        try:
            text = token.decode()
            ids = self._tok.encode(text)
            if b"".join(self._plain.get(id, (b"", ""))[0] for id in ids) == token:
                return tuple(ids)
        except (UnicodeDecodeError, JetonError):
            pass
        return self._from_left(token, self._longest)

    def shorter(self, token: bytes) -> tuple[int, ...]:
        """The old ids of shorter tokens that spell one."""
        return self._from_left(token, len(token) - 1)

    def _from_left(self, token: bytes, longest: int) -> tuple[int, ...]:
        ids: list[int] = []
        at = 0
        while at < len(token):
            for end in range(min(len(token), at + longest), at, -1):
                if (id := self._ids.get(token[at:end])) is not None:
                    ids.append(id)
                    at = end
                    break
            else:
                return ()
        return tuple(ids)


def _pursued(
    donor_table: Floats,
    plain: Sequence[int],
    ids: npt.NDArray[np.int64],
    old_ids: npt.NDArray[np.int64],
    terms: int,
) -> Weights:
    """The plain new tokens as sums of the shared tokens, whose new and old ids are given."""
    chosen, values = sparse_sums(donor_table[plain], donor_table[ids], terms)
    weights = {}
    for row, id in enumerate(plain):
        used = values[row] != 0
        if used.any():
            made = tuple(old_ids[chosen[row][used]].tolist())
            weights[id] = (made, tuple(values[row][used].tolist()))
    return weights


def _held(shared: Mapping[int, int]) -> list[int]:
    """New ids of shared tokens, spread over all."""
    ids = sorted(shared)
    step = max(2, len(ids) // _HELD)
    return ids[step // 2 :: step][:_HELD]


def _cosine(pairs: list[tuple[Floats, Floats]]) -> float | None:
    values = []
    for true, made in pairs:
        lengths = float(np.linalg.norm(true) * np.linalg.norm(made))
        values.append(float(true @ made) / lengths if lengths else 0.0)
    return float(np.mean(values)) if values else None
