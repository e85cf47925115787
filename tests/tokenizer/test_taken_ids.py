"""An id that another token has is refused at every door: no text is decoded as another one."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import decoders, models, normalizers
from jeton.encoding.base_tokenizer.stages import Stages
from jeton.errors import ArgumentError, FormatError, JetonError

BYTES = {bytes([byte]): byte for byte in range(256)}
RANKS = jeton.Tokenizer.from_ranks(BYTES, pattern="gpt2", special_tokens={"<|end|>": 300})
CHARACTERS = jeton.CharTrainer(unk_token="?").train("R&D")
WORDS = jeton.Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 3}, "[UNK]"))
SPECIAL = jeton.AddedToken("<s>", 1, special=True)
SPECIAL_LAST = jeton.AddedToken("<y>", 302, special=True)


def stored(added: list[dict[str, Any]]) -> str:
    """A `tokenizer.json` with these added tokens; `b` has the id that comes next."""
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    content = json.loads(WORDS.to_json())
    content["added_tokens"] = [{**flags, **token} for token in added]
    return json.dumps(content)


def load_ranks(folder: Path, special_tokens: dict[str, int]) -> jeton.Tokenizer:
    path = folder / "ranks.tiktoken"
    rows = (base64.b64encode(token).decode() + f" {rank}\n" for token, rank in BYTES.items())
    path.write_text("".join(rows))
    return jeton.load(path, pattern="gpt2", special_tokens=special_tokens)


def load_pair(folder: Path, special_tokens: dict[str, int]) -> jeton.Tokenizer:
    jeton.BPETrainer(260, pattern="gpt2").train(["the the"] * 9).save(folder / "vocab.json")
    return jeton.load(folder / "vocab.json", special_tokens=special_tokens)


def load_folder(folder: Path, added: dict[str, Any]) -> jeton.Tokenizer:
    (folder / "tokenizer.json").write_text(stored([]))
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    return jeton.load(folder)


Row = tuple[Callable[[Path], object], type[JetonError], str]
BOTH = {"x": 300, "y": 300}
ROWS: dict[str, Row] = {
    "with_added_tokens": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken("<s>", id=38, special=True)]),
        ArgumentError,
        r'"<s>" has id 38, which is that of "&"',
    ),
    "with_added_tokens, not special": (
        lambda _: CHARACTERS.with_added_tokens([jeton.AddedToken("<s>", id=1)]),
        ArgumentError,
        r'"<s>" has id 1, which is that of "&"',
    ),
    "with_added_tokens, of another added token": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken("<s>", 300, special=True)]),
        ArgumentError,
        r'"<\|end\|>" and "<s>" have one id, 300',
    ),
    "with_added_tokens, two": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken(name, 301) for name in "xy"]),
        ArgumentError,
        r'"x" and "y" have one id, 301',
    ),
    "with_added_tokens, known by another id": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken("a", 98)]),
        ArgumentError,
        r'"a" has id 98, which is that of "b" \(in the vocabulary it has id 97\)',
    ),
    "with_added_tokens, no id is left": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken("<x>", 2**32 - 1), "<y>"]),
        ArgumentError,
        'no id is left for "<y>"',
    ),
    "Tokenizer": (
        lambda _: jeton.Tokenizer(CHARACTERS.stages.model, added_tokens=[SPECIAL]),
        ArgumentError,
        "has id 1",
    ),
    "replace, added_tokens": (
        lambda _: WORDS.replace(added_tokens=[SPECIAL]),
        ArgumentError,
        'which is that of "a"',
    ),
    "replace, model": (
        lambda _: RANKS.with_added_tokens([jeton.AddedToken("<s>", 400)]).replace(
            model=models.BPE({**BYTES, b"ab": 400}, merges=[])
        ),
        ArgumentError,
        'which is that of "ab"',
    ),
    "from_ranks": (
        lambda _: jeton.Tokenizer.from_ranks(BYTES, pattern="gpt2", special_tokens=BOTH),
        ArgumentError,
        r'"x" and "y" have one id, 300',
    ),
    "from_ranks, a rank": (
        lambda _: jeton.Tokenizer.from_ranks(BYTES, pattern="gpt2", special_tokens={"x": 38}),
        ArgumentError,
        'which is the rank of "&"',
    ),
    "ranks": (lambda folder: load_ranks(folder, BOTH), ArgumentError, "have one id, 300"),
    "ranks, a rank": (lambda folder: load_ranks(folder, {"x": 38}), ArgumentError, "rank of"),
    "GPT-2's pair": (
        lambda folder: load_pair(folder, {"<x>": 300, "<y>": 300}),
        ArgumentError,
        "have one id, 300",
    ),
    "GPT-2's pair, a token": (
        lambda folder: load_pair(folder, {"x": 38}),
        ArgumentError,
        "has id 38, which is",
    ),
    "tokenizer.json": (
        lambda _: jeton.Tokenizer.from_json(stored([{"id": 3, "content": "<s>"}])),
        FormatError,
        r'"<s>" has id 3, which is that of "b"',
    ),
    "a folder": (
        lambda folder: load_folder(folder, {"3": {"content": "<s>", "special": True}}),
        FormatError,
        r'"<s>" has id 3, which is that of "b"',
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_an_id_that_is_taken_is_refused(name: str, tmp_path: Path) -> None:
    make, error, message = ROWS[name]
    with pytest.raises(error, match=message):
        make(tmp_path)


def test_a_token_of_the_vocabulary_may_be_added_by_its_own_id() -> None:
    for token in (jeton.AddedToken("&", 38), jeton.AddedToken("&")):
        tok = RANKS.with_added_tokens([token])
        assert tok.encode("R&D") == RANKS.encode("R&D")
        assert tok.decode(tok.encode("R&D")) == "R&D"
    tok = jeton.Tokenizer(
        models.BPE({**BYTES, b"<s>": 256}, merges=[]),
        decoder=decoders.ByteLevel(),
        added_tokens=[jeton.AddedToken("<s>", special=True)],
    )
    assert tok.special_tokens == {"<s>": 256}


def test_adding_tokens_does_not_read_back_those_that_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There may be hundreds of thousands of them."""
    expected = RANKS.replace(
        added_tokens=[
            *RANKS.stages.added_tokens,
            jeton.AddedToken("<x>", 301, lstrip=True),
            SPECIAL_LAST,
        ]
    )

    def read(_: Stages) -> None:
        raise AssertionError

    monkeypatch.setattr(Stages, "added_tokens", property(read))
    more = RANKS.with_added_tokens([jeton.AddedToken("<x>", lstrip=True), "<y>"])
    lower = more.replace(normalizer=normalizers.Lowercase())
    monkeypatch.undo()
    assert more == expected and more.digest == expected.digest
    assert lower.stages.added_tokens == more.stages.added_tokens == expected.stages.added_tokens


def test_special_tokens_that_were_published_with_one_id() -> None:
    """Two of o200k_harmony's share one, in tiktoken as well."""
    names = {"<|endofprompt|>": 200_018, "<|reserved_200018|>": 200_018}
    tok = jeton.Tokenizer.from_ranks(BYTES, pattern="o200k", special_tokens=names)
    assert tok.encode("<|reserved_200018|>", special="allow") == [200_018]
    assert tok.decode([200_018]) == "<|endofprompt|>"
    with pytest.raises(ArgumentError, match="have one id"):
        names["<|other|>"] = 200_018
        jeton.Tokenizer.from_ranks(BYTES, pattern="o200k", special_tokens=names)
