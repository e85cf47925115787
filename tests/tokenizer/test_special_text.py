"""Text never becomes a special token: by no call, in no family, whatever is glued to its spelling.

Look here for the doors of Python: methods, the command line, tiktoken's interface, files and
conversions. `crates/core/tests/fast/special_text.rs` holds the segmentation equal to that of a
model without the tokens.
"""

from __future__ import annotations

import functools
import json
import pickle
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

import jeton
from command_line import Run, here, run
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from jeton.errors import (
    ArgumentError,
    EncodeError,
    FormatWarning,
    SpecialTokenError,
    UnsupportedError,
)
from kinds import LLAMA

__all__ = ["here", "run"]

LINES = [
    "the weather <s> over </s> there, the <mask_1>theory",
    "THE END <|end|> of [CLS] the [SEP] <unk> weather",
    "Ｔｈｅ ﬁne ｔｈｅｏｒｙ ▁the ##ing <mask_1><s>",
] * 9
SPECIALS = ["<s>", "</s>", "<|end|>", "<mask_1>", "[CLS]"]
SPLIT = pre_tokenizers.WhitespaceSplit()


def ranks() -> jeton.Tokenizer:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"<s", b"<s>", b"</", b"</s", b"</s>", b"th", b"the", b" the", b"there"]
    tok = jeton.Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate(tokens)},
        pattern="gpt2",
        special_tokens={"<|end|>": 300, "<mask_1>": 301},
    )
    return tok.with_added_tokens(["<s>", "</s>", "the"])


def byte_level() -> jeton.Tokenizer:
    tok = jeton.BPETrainer(320, pattern="whitespace", special_tokens=["<|end|>"]).train(LINES)
    learnt = ["<s>", "</s>", "weather"]
    assert all(token in tok.vocab for token in map(str.encode, learnt))
    return tok.with_added_tokens(learnt)


def ignoring_merges() -> jeton.Tokenizer:
    stored = json.loads(byte_level().to_json())
    stored["model"]["ignore_merges"] = True
    return jeton.Tokenizer.from_json(json.dumps(stored))


def bpe_of_characters() -> jeton.Tokenizer:
    trainer = jeton.BPETrainer(
        160, alphabet="characters", special_tokens=["<unk>", "<|end|>"], unk_token="<unk>"
    )
    return trainer.train(LINES).with_added_tokens(["<s>", "the"])


def word_level() -> jeton.Tokenizer:
    words = ["<unk>", *SPECIALS, *sorted({word for line in LINES for word in line.split()})]
    return jeton.Tokenizer(
        models.WordLevel({word: id for id, word in enumerate(dict.fromkeys(words))}, "<unk>"),
        pre_tokenizer=SPLIT,
        added_tokens=[jeton.AddedToken(word, special=True) for word in ["<unk>", *SPECIALS]],
    )


def word_piece(normalizer: normalizers.Normalizer | None = None) -> jeton.Tokenizer:
    trainer = jeton.WordPieceTrainer(
        90,
        special_tokens=["[UNK]", "[SEP]", *SPECIALS],
        pre_tokenizer=SPLIT,
        normalizer=normalizer,
        post_processor=post_processors.BertProcessing(("[SEP]", 1), ("[CLS]", 6)),
    )
    return trainer.train(LINES)


def unigram(normalizer: str | normalizers.Normalizer = "identity") -> jeton.Tokenizer:
    trainer = jeton.UnigramTrainer(
        52, style="huggingface", special_tokens=["<|end|>", "<mask_1>"], normalizer=normalizer
    )
    return trainer.train(LINES)


MADE: dict[str, Callable[[], jeton.Tokenizer]] = {
    "BPE by ranks": ranks,
    "BPE by merges": byte_level,
    "BPE that ignores merges": ignoring_merges,
    "BPE of characters": bpe_of_characters,
    "WordLevel": word_level,
    "WordPiece": word_piece,
    "WordPiece, NFKC": lambda: word_piece(normalizers.NFKC()),
    "Unigram": unigram,
    "Unigram, NFKC": lambda: unigram("nmt_nfkc"),
    "Unigram, lower case": lambda: unigram(normalizers.Lowercase()),
    "SentencePiece's Unigram": lambda: (
        jeton.UnigramTrainer(55, special_tokens=["<mask_1>"], user_defined_symbols=["<|end|>"])
        .train(LINES)
        .with_added_tokens(["<|end|>"])
    ),
    "SentencePiece's BPE": lambda: jeton.BPETrainer(330, **LLAMA).train(LINES),
    "characters": lambda: jeton.CharTrainer(unk_token="?", special_tokens=SPECIALS).train(LINES),
    "characters, one of them special": lambda: (
        jeton.CharTrainer(unk_token="?").train(LINES).with_added_tokens(["e"])
    ),
}
each_made = pytest.mark.parametrize("name", MADE)


@functools.cache
def made(name: str) -> jeton.Tokenizer:
    return MADE[name]()


def wide(text: str) -> str:
    """Its full-width look-alike, which NFKC makes it."""
    return "".join(chr(ord(it) + 0xFEE0) if "!" <= it <= "~" else it for it in text)


def controls(tok: jeton.Tokenizer) -> set[int]:
    """The ids that text never becomes."""
    return {id for token, id in tok.special_tokens.items() if token not in ("<unk>", "[UNK]")}


def texts(tok: jeton.Tokenizer) -> list[str]:
    """Each special token alone, glued, split, in other forms; and many at random."""
    numbers = random.Random(7)
    names = list(tok.special_tokens)
    found = []
    for name in names:
        for form in (name, wide(name), name.upper(), name[:1] + "\u200b" + name[1:]):
            found += [form, f"a{form}b", f" {form} ", f"▁{form}▁", f"the {form}the", form * 3]
    parts = [*names, *map(wide, names), " ", "▁", "the", "a", "ﬁ", "é", "\n", "##", ","]
    for _ in range(60):
        found.append("".join(numbers.choices(parts, k=numbers.randint(1, 9))))
    return found


def ways(tok: jeton.Tokenizer, text: str) -> Iterator[list[int]]:
    """The ids of a text by every call that gives those of `encode`."""
    nothing: tuple[jeton.SpecialPolicy, ...] = ("ignore", frozenset(), [])
    for special in nothing:
        yield tok.encode(text, special=special)
    yield tok.encode_array(text).tolist()
    yield tok.encode_with_spans(text).ids
    yield tok.encode_with_spans("", text).ids
    both = tok.encode_with_spans(text, text).ids
    yield both[: len(both) // 2]
    yield from tok.encode_batch([text, text]).tolist()


def checked(tok: jeton.Tokenizer) -> None:
    """Holds all calls on all texts to the ids that are left."""
    never = controls(tok)
    assert never
    hold = texts(tok)
    for text in hold:
        expected = tok.encode(text)
        assert not never.intersection(expected), text
        assert all(ids == expected for ids in ways(tok, text)), text
        assert tok.count(text) == len(expected)
        spans = tok.encode_with_spans(text).spans
        assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert tok.encode_batch(hold).tolist() == [tok.encode(text) for text in hold]
    assert tok.count_batch(hold) == [len(tok.encode(text)) for text in hold]


@each_made
def test_no_call_gives_a_special_token(name: str) -> None:
    checked(made(name))


@each_made
def test_drawing_gives_none(name: str) -> None:
    tok = made(name)
    never = controls(tok)
    for text in texts(tok)[::5]:
        for drawing in ({"dropout": 0.5}, {"alpha": 0.2}, {"alpha": 0.2, "nbest_size": 9}):
            try:
                ids = tok.encode(text, seed=3, **drawing)  # type: ignore[arg-type]
                rows = tok.encode_batch([text], seed=3, **drawing).tolist()  # type: ignore[arg-type]
            except (UnsupportedError, ArgumentError):
                continue
            assert not never.intersection(ids + rows[0]), text
        try:
            rows = tok.nbest(text, 9)
        except UnsupportedError:
            continue
        assert not never.intersection(*rows), text


@each_made
def test_policies_follow_the_same_definition(name: str) -> None:
    tok = made(name)
    special = tok.special_tokens
    for text in texts(tok):
        allowed = tok.encode(text, special="allow")
        cut = sum(text.count(token) for token in special)
        assert cut or not controls(tok).intersection(allowed), text
        try:
            assert tok.encode(text, special="raise") == allowed
        except SpecialTokenError:
            assert cut
        for token, id in special.items():
            ids = tok.encode(text, special={token})
            assert not (controls(tok) - {id}).intersection(ids), text
            assert token not in text or id in ids, text


@each_made
def test_files_and_copies_keep_it(name: str, tmp_path: Path) -> None:
    tok = made(name)
    copies = [pickle.loads(pickle.dumps(tok)), tok.replace(), tok.replace(model=tok.stages.model)]
    for file in ("a.json", "b.model", "folder", "vocab.json", "vocab.txt"):
        # Ranks do not say which tokens are special.
        if file == "b.model" and name.startswith("BPE") and name != "BPE of characters":
            continue
        try:
            tok.save(tmp_path / file, lossy=True)
        except UnsupportedError:
            continue
        copies.append(jeton.load(tmp_path / file))
    same = len(copies)
    for format in ("tokenizer.json", ".model"):
        try:
            copies.append(tok.approximation(format))
        except UnsupportedError:
            continue
    for copy in copies:
        # The unknown token is special to who loads a folder.
        assert controls(tok) <= controls(copy)
        for text in texts(tok):
            assert not controls(tok).intersection(copy.encode(text)), text
    expected = [tok.encode(text) for text in texts(tok)]
    for copy in copies[:same]:
        assert [copy.encode(text) for text in texts(tok)] == expected


@pytest.mark.parametrize("name", ["BPE by ranks", "BPE by merges", "BPE that ignores merges"])
def test_the_interface_of_tiktoken_gives_none(name: str) -> None:
    tok = made(name)
    enc, never = tok.as_tiktoken(), controls(tok)
    for text in texts(tok):
        plain = tok.encode(text)
        assert enc.encode_ordinary(text) == enc._encode_only_native_bpe(text) == plain
        assert enc.encode(text, disallowed_special=()) == plain
        assert enc.encode_to_numpy(text, disallowed_special=()).tolist() == plain
        assert enc.encode_ordinary_batch([text]) == [plain]
        assert enc.encode_batch([text], disallowed_special=()) == [plain]
        assert not never.intersection(enc._encode_single_piece(text))
        assert not never.intersection(enc._encode_bytes(text.encode() + b"\xff"))
        stable, completions = enc.encode_with_unstable(text, disallowed_special=())
        assert not never.intersection(stable, *completions)


@pytest.mark.parametrize("name", ["WordLevel", "WordPiece, NFKC", "Unigram", "BPE by merges"])
def test_the_command_line_gives_none(name: str, run: Run, here: Path) -> None:
    tok = made(name)
    tok.save(here / "made.json")
    plain = [text.replace("\n", " ") for text in texts(tok)]
    (here / "texts.txt").write_text("".join(text + "\n" for text in plain), encoding="utf-8")
    encoded = run("encode", "made.json", "texts.txt", "--lines", "--format", "jsonl").stdout
    rows = [json.loads(line) for line in encoded.splitlines()]
    ids = [row if isinstance(row, list) else row["ids"] for row in rows]
    assert ids == [tok.encode(text) for text in plain]
    assert not controls(tok).intersection(*ids)


def test_a_token_that_is_not_cut_out_is_text() -> None:
    """Where a flag keeps a special token from being found, under any policy."""
    pieces = ["<unk>", "<s>", "▁", *"<s>abc▁the/"]
    tok = jeton.Tokenizer(
        models.Unigram([(piece, -float(at)) for at, piece in enumerate(dict.fromkeys(pieces))], 0),
        normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
        added_tokens=[jeton.AddedToken("<s>", 1, special=True, single_word=True)],
    )
    for text in ("a<s>b", "＜s＞", "<S>", "a<s>"):
        for special in ("ignore", "allow", "raise", {"<s>"}):
            assert 1 not in tok.encode(text, special=special), text
    assert 1 in tok.encode("a <s> b", special="allow")


def test_many_specials_in_the_vocabulary() -> None:
    """As Pegasus': `</s>` and a hundred reserved names are pieces of its Unigram."""
    names = ["<pad>", "</s>", "<mask_1>", "<mask_2>", *(f"<unk_{n}>" for n in range(2, 103))]
    pieces = [*names, "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz<>/_0123456789", "▁a", "▁b"]
    tok = jeton.Tokenizer(
        models.Unigram([(piece, 0.0 if piece in names else -2.0) for piece in pieces], len(names)),
        pre_tokenizer=pre_tokenizers.Sequence([SPLIT, pre_tokenizers.Metaspace()]),
        decoder=decoders.Metaspace(),
        added_tokens=[jeton.AddedToken(name, special=True) for name in [*names, "<unk>"]],
    )
    checked(tok)
    assert tok.decode(tok.encode("a </s> b")) == "a </s> b"
    assert tok.encode("a </s> b", special="allow")[1] == 1


BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.mark.parametrize(
    "tok",
    [
        jeton.Tokenizer.from_ranks(BYTES, pattern="gpt2"),
        jeton.Tokenizer(
            models.BPE(BYTES | {b"ha": 256}, merges=[(b"h", b"a")]), decoder=decoders.ByteLevel()
        ),
        jeton.CharTrainer().train("what"),
    ],
    ids=["ranks", "merges", "closed alphabet"],
)
def test_a_character_that_only_a_special_token_spells_is_an_error(tok: jeton.Tokenizer) -> None:
    """Not another token, and not left out."""
    special = tok.with_added_tokens(["a"])
    assert special.encode("wht") == tok.encode("wht")
    for call in (special.encode, special.count, special.encode_with_spans, special.encode_array):
        with pytest.raises(EncodeError, match=r'only token for "a" is a special token'):
            call("what")
    assert special.encode("what", special="allow")[2] == special.special_tokens["a"]


@pytest.mark.parametrize("byte_order", ["printable", "value"])
def test_special_white_space_leaves_text_as_it_is(
    byte_order: Literal["printable", "value"], tmp_path: Path
) -> None:
    """A special token that tokenizer.json spells otherwise than the bytes of its text."""
    specials = ["\n", " the", "é"]
    trainer = jeton.BPETrainer(300, special_tokens=specials, byte_order=byte_order)
    tok = trainer.train(["the weather\nis the énd"] * 9)
    text = "is the\nthe énd\n"
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert not controls(tok).intersection(ids)
    assert list(tok.special_tokens) == specials and len(set(tok.special_tokens.values())) == 3
    assert tok.encode("a\nb", special="allow")[1] == tok.special_tokens["\n"]
    file = tmp_path / "x.tiktoken"
    with pytest.warns(FormatWarning):
        tok.save(file)
    again = jeton.load(file, pattern="cl100k", special_tokens=tok.special_tokens)
    assert again.encode(text) == ids
