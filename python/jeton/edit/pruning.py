"""Removes tokens: by how often they occur, by size, by script, or by name.

Look here for `prune`.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from jeton.arguments import check_kind, checked_int, checked_iterable
from jeton.corpora.corpus import TextsOrFiles
from jeton.edit.edit_result import Edited
from jeton.edit.learning import check_corpus
from jeton.edit.vocabulary import EditableVocabulary, id_map_of, rebuild
from jeton.encoding.unicode import letter_scripts
from jeton.errors import ArgumentError, UnknownTokenError
from jeton.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def prune(
    tok: Tokenizer,
    *,
    size: int | None = None,
    corpus: TextsOrFiles | None = None,
    counts: Mapping[int, int] | Sequence[int] | npt.NDArray[np.integer] | None = None,
    min_count: int | None = None,
    leaves: int | None = None,
    scripts: Iterable[str] | None = None,
    drop: Iterable[bytes | str | int] | None = None,
    keep: Iterable[bytes | str | int] = (),
) -> Edited:
    """The tokenizer without some of its tokens.

    In a byte pair encoding, a token can only be removed if no kept merge needs it, so tokens are
    removed from the leaves down. Single bytes (or characters, without byte fallback), special and
    added tokens, and the unknown token are always kept. The ids are renumbered without gaps, in the
    old order.

    The result guarantees: kept tokens keep their bytes; a text whose tokens are all kept is encoded
    as before (for WordPiece: unless it had unknown words); no token becomes unreachable; text that
    survived encoding and decoding still does, except with a vocabulary of whole words.

    Args:
        tok: The tokenizer.
        size: How many tokens to keep. The rarest are removed first, among equals those learned
            last; without `corpus` and `counts`, those learned last.
        corpus: Texts whose tokens are counted, or files as for a trainer (a path, a pattern, an
            iterable of `pathlib.Path`).
        counts: How often each id occurs, instead of a corpus.
        min_count: Removes tokens that occur less often, unless a kept token needs them. With only a
            corpus or counts it is 1: unused tokens are removed.
        leaves: Removes only leaves, that is, tokens that no merge needs, and in this many rounds:
            after each, the corpus is encoded and counted again, since what a token was in text is
            now other tokens, and its parts may be leaves. It needs `corpus`, and `min_count` is 1
            by default. With `None`, tokens are counted once, and removed down to the root.
        scripts: Names of scripts, such as `{"Latin", "Cyrillic"}`; tokens with letters of other
            scripts are removed.
        drop: Tokens to remove: bytes, texts or ids.
        keep: Tokens to keep in any case, together with the tokens that they are merged from.

    Raises:
        ArgumentError: Nothing says what to remove; a token to drop must be kept, or a kept one
            needs it; the size cannot be reached.
        UnknownTokenError: A token to drop or keep does not exist.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.BPETrainer(270, pattern="gpt4").train(["low lower lowest newest"] * 9)
        >>> edited = edit.prune(tok, corpus=["low newest"])
        >>> edited.tok.encode("low newest") == edited.id_map.apply(tok.encode("low newest"))
        True
        >>> edited.tok.vocab_size < tok.vocab_size
        True
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    vocabulary = EditableVocabulary.of(tok)
    protected = set(vocabulary.fixed)
    protected.update(_ids("keep", keep, vocabulary))
    if leaves is not None:
        _check_leaves(leaves, corpus, size)
    occurs = _counts(tok, corpus, counts)
    if (
        occurs is not None
        and size is None
        and min_count is None
        and drop is None
        and scripts is None
    ):
        min_count = 1
    if min_count is not None and occurs is None:
        raise ArgumentError(
            "min_count needs counts", hint="give corpus= or counts=", parameter="corpus"
        )
    if size is None and min_count is None and drop is None and scripts is None:
        raise ArgumentError(
            "say what to remove: size, corpus (leaves needs it), counts (or min_count with one of "
            "them), scripts or drop; keep alone removes nothing"
        )
    tree = _Tree(vocabulary, protected)
    if drop is not None:
        tree.drop_all(_ids("drop", drop, vocabulary))
    if scripts is not None:
        scripts = checked_iterable("scripts", scripts, "an iterable of names")
        allowed = _checked_scripts(scripts)
        # A token that is not valid UTF-8 has the letters of its valid parts.
        foreign = [
            id
            for id, token in vocabulary.tokens.items()
            if id not in vocabulary.fixed
            and letter_scripts(token.decode("utf-8", "ignore")) - allowed
        ]
        tree.drop_leaves(foreign, dict.fromkeys(foreign, 0), None)
    if leaves is not None and corpus is not None and occurs is not None:
        _drop_rare_leaves(tok, tree, corpus, occurs, min_count or 1, leaves)
    elif size is not None or min_count is not None:
        frequency = occurs or {}
        candidates = [
            id for id in vocabulary.tokens if min_count is None or frequency.get(id, 0) < min_count
        ]
        least = None if size is None else checked_int("size", size, 1)
        tree.drop_leaves(candidates, frequency, least)
        if least is not None and len(tree.ids) > least:
            raise ArgumentError(
                f"size={size} cannot be reached: {len(tree.ids)} of the {len(vocabulary.tokens)} "
                "tokens must be kept (bytes or characters, special tokens, those in keep)"
                + ("" if min_count is None else f", or occur {min_count} times or more")
            )
    order = sorted(tree.ids)
    new = rebuild(tok, order)
    tokens = tuple(vocabulary.tokens[id] for id in sorted(vocabulary.tokens.keys() - tree.ids))
    return Edited(new, id_map_of(tok, new, order), removed=tokens)


def _check_leaves(leaves: object, corpus: object, size: object) -> None:
    checked_int("leaves", leaves, 1)
    if corpus is None:
        raise ArgumentError("leaves needs a corpus, which is counted again in each round")
    if size is not None:
        raise ArgumentError("leaves removes by min_count, not down to a size; leave out one")
    if isinstance(corpus, Iterator):
        raise ArgumentError(
            "leaves counts the corpus again in each round, and an iterator can be read once; give "
            "a list of texts, or files"
        )


def _drop_rare_leaves(
    tok: Tokenizer,
    tree: _Tree,
    corpus: TextsOrFiles,
    counts: Mapping[int, int],
    min_count: int,
    rounds: int,
) -> None:
    """Removes the leaves that occur too rarely, then counts anew, as often as there are rounds."""
    for number in range(rounds):
        if number:
            order = sorted(tree.ids)
            usage = rebuild(tok, order).usage(corpus)
            counts = {order[id]: count for id, count in usage.most_common(len(usage.ids))}
        rare = [id for id in sorted(tree.ids) if tree.is_leaf(id) and counts.get(id, 0) < min_count]
        if not rare:
            break
        for id in rare:
            tree.remove(id)


class _Tree:
    """The tokens that remain, and how many of them need each token."""

    def __init__(self, vocabulary: EditableVocabulary, protected: set[int]) -> None:
        self.vocabulary = vocabulary
        self.protected = protected
        self.ids = set(vocabulary.tokens)
        self.users: dict[int, int] = {}
        for pairs in vocabulary.needs.values():
            for part in {part for pair in pairs for part in pair}:
                self.users[part] = self.users.get(part, 0) + 1

    def is_leaf(self, id: int) -> bool:
        return id in self.ids and id not in self.protected and not self.users.get(id, 0)

    def remove(self, id: int) -> list[int]:
        """Removes a leaf; returns the tokens that become leaves."""
        self.ids.remove(id)
        new_leaves = []
        for part in {part for pair in self.vocabulary.needs.get(id, ()) for part in pair}:
            self.users[part] -= 1
            if self.is_leaf(part):
                new_leaves.append(part)
        return new_leaves

    def drop_leaves(
        self, candidates: Iterable[int], counts: Mapping[int, int], size: int | None
    ) -> None:
        """Removes candidates as they become leaves, the rarest first, down to a size."""
        among = set(candidates)
        place = {id: number for number, id in enumerate(self.vocabulary.learned)}

        def entry(id: int) -> tuple[int, int, int]:
            return counts.get(id, 0), -place.get(id, 0), id

        heap = [entry(id) for id in among if self.is_leaf(id)]
        heapq.heapify(heap)
        while heap and (size is None or len(self.ids) > size):
            _, _, id = heapq.heappop(heap)
            for leaf in self.remove(id):
                if leaf in among:
                    heapq.heappush(heap, entry(leaf))

    def drop_all(self, ids: Sequence[int]) -> None:
        """Removes exactly these tokens."""
        fixed = next((id for id in ids if id in self.protected), None)
        if fixed is not None:
            raise ArgumentError(
                f"drop: the token {self._name(fixed)} cannot be removed: it is special or added, a "
                "byte or character, the unknown token, sets the cost of the unknown token, or is "
                "in keep"
            )
        self.drop_leaves(ids, {}, None)
        stuck = sorted(set(ids) & self.ids)
        if stuck:
            user = next(
                user
                for user, pairs in self.vocabulary.needs.items()
                if user in self.ids and any(stuck[0] in pair for pair in pairs)
            )
            raise ArgumentError(
                f"drop: the token {self._name(stuck[0])} cannot be removed: {self._name(user)} is "
                "merged from it; drop that too"
            )

    def _name(self, id: int) -> str:
        return f"{self.vocabulary.tokens[id]!r} (id {id})"


def _ids(
    name: str, tokens: Iterable[bytes | str | int], vocabulary: EditableVocabulary
) -> list[int]:
    tokens = checked_iterable(name, tokens, "an iterable of tokens")
    ids: dict[bytes, list[int]] = {}
    for id, token in vocabulary.tokens.items():
        ids.setdefault(token, []).append(id)
    result = []
    for entry in tokens:
        if isinstance(entry, (str, bytes)):
            data = entry.encode() if isinstance(entry, str) else entry
            if data not in ids:
                raise UnknownTokenError(f"{name}: {entry!r} is not a token of this tokenizer")
            result.extend(ids[data])
        else:
            id = checked_int(f"each of {name}", entry, 0)
            if id not in vocabulary.tokens:
                raise UnknownTokenError(f"{name}: id {id} has no token")
            result.append(id)
    return result


def _counts(
    tok: Tokenizer,
    corpus: TextsOrFiles | None,
    counts: Mapping[int, int] | Sequence[int] | npt.NDArray[np.integer] | None,
) -> Mapping[int, int] | None:
    if corpus is not None and counts is not None:
        raise ArgumentError("give corpus or counts, not both")
    if corpus is not None:
        check_corpus(corpus)
        usage = tok.usage(corpus)
        return dict(usage.most_common(len(usage.ids)))
    if counts is None:
        return None
    numbers = checked_iterable("counts", counts, "a mapping of ids or one number per id")
    pairs = numbers.items() if isinstance(numbers, Mapping) else enumerate(numbers)
    frequency = {
        checked_int("each id of counts", id, 0): checked_int("each of counts", number, 0)
        for id, number in pairs
    }
    beyond = [id for id in frequency if id > tok.vocab.max_id and frequency[id]]
    if beyond:
        raise ArgumentError(
            f"counts has id {beyond[0]}, but the tokenizer's largest is {tok.vocab.max_id}: it "
            "belongs to another tokenizer"
        )
    return frequency


@functools.cache
def _scripts() -> Mapping[str, str]:
    """The names of Unicode's scripts, by their folded spelling."""
    return {
        name.casefold(): name
        for start in range(0, 0x110000, 0x10000)
        for name in letter_scripts(
            "".join(chr(c) for c in range(start, start + 0x10000) if not 0xD800 <= c < 0xE000)
        )
    }


def _checked_scripts(names: Iterable[str]) -> set[str]:
    by_name = _scripts()
    scripts = set()
    for name in names:
        check_kind("each of scripts", name, str, "a str")
        if name.casefold() not in by_name:
            raise ArgumentError(f"scripts: Unicode has no script {name!r} (it has Latin, Han, …)")
        scripts.add(by_name[name.casefold()])
    return scripts
