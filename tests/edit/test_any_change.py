"""What holds after any change of any vocabulary: maps, special tokens, roles, padding, texts."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import jeton
from edit_families import WITH_MORE, check_promises, check_reachable, some_lines
from jeton import edit
from jeton.components import models
from jeton.errors import ArgumentError, UnsupportedError
from jeton.results.vocabulary import bytes_by_id

FOREIGN = [
    "дождь и поезд и дождь идёт",
    "雨と電車と雨が降る",
    "küsis jõelt külma vee ääres",
    "🙂🙃🙂 naïve café",
]
ODD = ["", "  two  spaces ", "<|end|> mid word </s> <unk> <sep>", "aaaaaaaa" * 3, *FOREIGN]

Change = Callable[[jeton.Tokenizer, random.Random], edit.Edited]


def by_counts(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    counts = {id: numbers.randrange(6) for id in bytes_by_id(tok.vocab)}
    return edit.prune(tok, counts=counts, min_count=numbers.randrange(1, 6))


def by_size(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    least = edit.prune(tok, counts={}).tok.vocab_size
    return edit.prune(tok, size=numbers.randint(least, tok.vocab_size), corpus=ODD)


def by_name(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    for _ in range(50):
        try:
            return edit.prune(tok, drop=numbers.sample(sorted(tok.vocab.values()), 2))
        except ArgumentError:  # one of them always stays, or is needed
            continue
    return edit.prune(tok, drop=[])


def by_script(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    return edit.prune(tok, scripts=[numbers.choice(["Latin", "Cyrillic", "Han"])])


def truncated(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    least = edit.prune(tok, counts={}).tok.vocab_size
    return edit.truncate(tok, numbers.randint(least, tok.vocab_size))


def reordered(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    order = list(bytes_by_id(tok.vocab))
    numbers.shuffle(order)
    try:
        return edit.reorder(tok, order)
    except UnsupportedError:  # ids are places, and added tokens come behind
        return edit.reorder(tok, sorted(order))


def extended(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    if isinstance(tok.stages.model, models.WordLevel):
        return edit.merge(tok, tok)
    lines = some_lines(numbers.randrange(99), 5)
    return edit.extend(tok, (FOREIGN + lines) * 5, numbers.randrange(1, 30))


def with_special(tok: jeton.Tokenizer, numbers: random.Random) -> edit.Edited:
    return edit.add_special_tokens(tok, ["<|q|>", "z z"])


CHANGES: dict[str, Change] = {
    "counts": by_counts,
    "size": by_size,
    "names": by_name,
    "scripts": by_script,
    "truncated": truncated,
    "reordered": reordered,
    "extended": extended,
    "special": with_special,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("family", WITH_MORE)
def test_every_change_keeps_the_invariants(family: str, change: Change) -> None:
    numbers = random.Random(f"{family} {change.__name__}")
    tok = WITH_MORE[family](numbers.randrange(3))
    tok = tok.replace(chat_template="{{ messages }}", model_max_length=77)
    if tok.special_tokens:
        tok = tok.replace(roles={"image": next(iter(tok.special_tokens))})
    edited = change(tok, numbers)
    texts = some_lines(numbers.randrange(99), 12) + ODD
    check_map(tok, edited)
    check_what_stands_beside(tok, edited.tok)
    check_texts(tok, edited, texts)
    if not edited.added:
        check_promises(tok, edited, texts)
        check_reachable(tok, edited)


def check_map(old: jeton.Tokenizer, edited: edit.Edited) -> None:
    new, id_map = edited.tok, edited.id_map
    assert (id_map.old_digest, id_map.new_digest) == (old.digest, new.digest)
    assert (id_map.old_size, id_map.new_size) == (old.vocab.max_id + 1, new.vocab.max_id + 1)
    before, after = bytes_by_id(old.vocab), bytes_by_id(new.vocab)
    for id, token in before.items():
        place = id_map.moved[id]
        assert after[place] == token if place != -1 else token in edited.removed
    assert {after[id] for id in id_map.made_of} == set(edited.added)
    if not edited.removed:
        assert sum(place != -1 for place in id_map.moved) == len(before) == old.vocab_size


def check_what_stands_beside(old: jeton.Tokenizer, new: jeton.Tokenizer) -> None:
    there = {token.content: token for token in new.stages.added_tokens}
    for token in old.stages.added_tokens:
        again = there[token.content]
        for name in ("special", "lstrip", "rstrip", "single_word", "normalized"):
            assert getattr(again, name) == getattr(token, name)
    assert new.roles == old.roles
    for name in ("chat_template", "model_max_length"):
        assert getattr(new.settings, name) == getattr(old.settings, name)
    if old.settings.padding is not None:
        assert new.settings.padding is not None
        assert new.vocab.spelling(new.settings.padding["pad_id"]) == old.vocab.spelling(
            old.settings.padding["pad_id"]
        )


def check_texts(old: jeton.Tokenizer, edited: edit.Edited, texts: list[str]) -> None:
    """Special tokens in a text, and those around it, are where they were."""
    unknown = {id for name, id in old.vocab.items() if name in (b"[UNK]", b"<unk>")}
    for text in texts:
        ids = old.encode(text, special="allow", add_special_tokens=True)
        new = edited.tok.encode(text, special="allow", add_special_tokens=True)
        needs = any(edited.id_map.moved[id] == -1 for id in ids) or unknown & set(ids)
        if not needs and edited.id_map.made_of.keys().isdisjoint(new):
            assert new == edited.id_map.apply(ids), text
