"""What is in a tokenizer: its tokens as a mapping, one token by its bytes, its name or its text."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton.cli.tokenizer_summary import tokenizer_summary
from jeton.components import decoders, models, normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError, UnsupportedError
from kinds import LLAMA, byte_level, each_kind, ranks, unigram, word_piece
from shared_data import VOCABULARIES, needed


@each_kind
def test_the_vocabulary_is_a_mapping_made_once(tok: jeton.Tokenizer) -> None:
    vocab = tok.vocab
    assert vocab is tok.vocab
    as_dict = dict(vocab)
    assert vocab == as_dict and as_dict == vocab
    assert vocab != {**as_dict, b"\0new": 1} and vocab != [*as_dict]
    assert list(vocab) == list(vocab.keys()) == list(as_dict)
    assert list(vocab.items()) == list(as_dict.items())
    copied = pickle.loads(pickle.dumps(vocab))
    assert copied == vocab and copy.deepcopy(vocab) is vocab
    assert (copied.merges, copied.scores, copied.max_id) == (
        vocab.merges,
        vocab.scores,
        vocab.max_id,
    )
    assert len(repr(vocab)) < 200
    with pytest.raises(TypeError):
        vocab[b"x"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        del vocab[b"x"]  # type: ignore[attr-defined]
    assert vocab | {b"\0": -1} == {**as_dict, b"\0": -1}
    assert {b"\0new": -1} | vocab == {**as_dict, b"\0new": -1}
    for token, id in as_dict.items():
        assert vocab[token] == vocab.get(token) == id
        assert token in vocab and token in tok


def test_a_token_that_is_not_there() -> None:
    tok = jeton.CharTrainer().train("hello")
    assert tok.vocab["h"] == tok.vocab[b"h"] == 1
    assert (
        tok.vocab.get("x") is None and tok.vocab.get(b"x", -1) == -1 and tok.vocab.get("", 7) == 7
    )
    assert "h" in tok and "x" not in tok and b"h" in tok and "" not in tok
    assert "h" in tok.vocab  # type: ignore[comparison-overlap]
    assert b"h" in tok.vocab and b"x" not in tok.vocab and tok.vocab.get(b"x") is None
    with pytest.raises(UnknownTokenError, match="b'x' is not a token"):
        tok.vocab[b"x"]
    with pytest.raises(KeyError, match="'x' is not a token"):
        tok.vocab["x"]
    for wrong in (1, None, 1.5, ["h"]):
        with pytest.raises(ArgumentTypeError, match="token must be bytes or a str"):
            tok.vocab[wrong]  # type: ignore[index]
        with pytest.raises(ArgumentTypeError, match="token must be bytes or a str"):
            tok.vocab.get(wrong)  # type: ignore[call-overload]
        with pytest.raises(ArgumentTypeError, match="token must be bytes or a str"):
            wrong in tok.vocab  # type: ignore[comparison-overlap]  # noqa: B015
        with pytest.raises(ArgumentTypeError, match="token must be bytes or a str"):
            wrong in tok  # type: ignore[operator]  # noqa: B015


@each_kind
def test_the_roles_have_tokens_and_ids(tok: jeton.Tokenizer) -> None:
    tok = tok.with_added_tokens(["<|last|>"]).replace(roles={"eos": "<|last|>"})
    roles = tok.roles
    assert roles["eos"] == "<|last|>" and list(roles) == list(roles.ids)
    assert roles.ids == {role: tok.vocab[token] for role, token in roles.items()}
    copied = pickle.loads(pickle.dumps(roles))
    assert copied == roles and copied.ids == roles.ids


@each_kind
def test_the_stages_are_values_made_once(tok: jeton.Tokenizer) -> None:
    stages = tok.stages
    assert stages is tok.stages and stages.decoder is stages.decoder
    names = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
    parts = {name: getattr(stages, name) for name in names}
    assert jeton.Tokenizer(**parts, added_tokens=stages.added_tokens).encode("the") == tok.encode(
        "the"
    )
    assert [f"{name}=" in repr(stages) for name in ("added_tokens", *names)] == [True] * 6


# What a token is in text


def sentence_piece() -> jeton.Tokenizer:
    texts = ["New York, new work; 東京 and the rest of the world"] * 4
    return jeton.BPETrainer(330, **LLAMA).train(texts)


IN_TEXT = {
    "byte-level": (byte_level(), {b"t": b"t", b" the": b" the", b"\xe6": b"\xe6"}),
    "ranks": (ranks(), {b" the": b" the", b"<|pad|>": b"<|pad|>"}),
    "WordPiece": (word_piece(), {b"weather": b" weather", b"##s": b"s", b"[CLS]": b" [CLS]"}),
    "Unigram": (unigram(), {"▁the".encode(): b" the", "▁".encode(): b" ", b"t": b"t"}),
    "SentencePiece": (sentence_piece(), {b"<0xE6>": b"\xe6", "▁".encode(): b" ", b"w": b"w"}),
    "no decoder": (
        jeton.Tokenizer(models.WordLevel({b"a": 0}, unk_token="a")),
        {b"a": b" a"},
    ),
    "suffix": (
        jeton.Tokenizer(
            models.BPE({"a</w>": 0, "a": 1}, merges=[], alphabet="characters"),
            decoder=decoders.BPEDecoder(),
        ),
        {b"a</w>": b"a ", b"a": b"a"},
    ),
    "CTC": (
        jeton.Tokenizer(
            models.WordLevel({"<pad>": 0, "|": 1, "a": 2}, unk_token="a"), decoder=decoders.CTC()
        ),
        {b"<pad>": b"", b"|": b" ", b"a": b"a"},
    ),
}


@pytest.mark.parametrize(("tok", "expected"), IN_TEXT.values(), ids=list(IN_TEXT))
def test_the_bytes_of_a_token_in_text(tok: jeton.Tokenizer, expected: dict[bytes, bytes]) -> None:
    for token, data in expected.items():
        assert tok.vocab.token_bytes(tok.vocab[token]) == data
    for id in (tok.vocab.max_id + 1, 2**32 - 1):
        with pytest.raises(UnknownTokenError, match=f"id {id} has no token"):
            tok.vocab.token_bytes(id)
    for wrong in (-1, "1", None, 1.0):
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            tok.vocab.token_bytes(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("tok", [tok for tok, _ in IN_TEXT.values()], ids=list(IN_TEXT))
@given(data=st.data())
@settings(max_examples=40)
def test_token_bytes_join_to_the_decoded_text(tok: jeton.Tokenizer, data: st.DataObject) -> None:
    known = [id for id in tok.vocab.values() if tok.vocab.token_bytes(id)]
    ids = data.draw(st.lists(st.sampled_from(known), min_size=3, max_size=12))
    # CTC makes equal neighbours one.
    ids = [id for at, id in enumerate(ids) if at == 0 or id != ids[at - 1]]
    if len(ids) < 3:
        return
    joined = b"".join(tok.vocab.token_bytes(id) for id in ids[1:-1])
    assert joined in tok.decode_bytes(ids)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama2_sentencepiece_bpe.model", {1: b"<s>", 243: b"\xf0", 278: b" the", 29871: b" "}),
        ("t5_style_unigram.model", {}),
        ("bert_uncased_vocab.txt", {1996: b" the", 2015: b"s"}),
    ],
)
def test_real_vocabularies(name: str, expected: dict[int, bytes]) -> None:
    path = needed(VOCABULARIES / name)
    tok = jeton.load(path)
    for id, data in expected.items():
        assert tok.vocab.token_bytes(id) == data
    text = "the 東京 weather 🙂 there, <unused>"
    ids = tok.encode(f"a {text}")
    decoded = tok.decode_bytes(ids)
    assert decoded.endswith(b"".join(tok.vocab.token_bytes(id) for id in ids[1:]))


# Scores, and the best segmentations

PIECES = [("<unk>", 0.0), ("▁", -2.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0), ("▁a", -2.25)]


def test_scores() -> None:
    tok = jeton.Tokenizer(models.Unigram(PIECES, unk_id=0))
    assert tok.vocab.scores == [score for _, score in PIECES]
    assert len(tok.vocab.scores) == tok.vocab_size
    assert byte_level().vocab.scores == word_piece().vocab.scores == []
    model = jeton.UnigramTrainer(16).train(["low lower lowest", "new newer newest"] * 9)
    assert len(model.vocab.scores) == model.vocab_size
    assert model.vocab.scores[:3] == [0.0, 0.0, 0.0] and max(model.vocab.scores[3:]) < 0


def segmentations(text: str) -> dict[tuple[str, ...], float]:
    """All ways to cut a text into pieces, with the sum of their scores."""
    scores = dict(PIECES)
    if not text:
        return {(): 0.0}
    return {
        (text[:end], *rest): scores[text[:end]] + score
        for end in range(1, len(text) + 1)
        if text[:end] in scores
        for rest, score in segmentations(text[end:]).items()
    }


@given(text=st.text(st.sampled_from("ab "), max_size=9), n=st.integers(1, 40))
@settings(max_examples=150)
def test_nbest_of_a_tokenizer_json(text: str, n: int) -> None:
    tok = jeton.Tokenizer(
        models.Unigram(PIECES, unk_id=0), normalizer=normalizers.Replace(" ", "▁")
    )
    again = jeton.Tokenizer.from_json(tok.to_json())
    best = again.nbest(text, n, scores=True)
    every = sorted(segmentations(text.replace(" ", "▁")).values(), reverse=True)
    assert [score for _, score in best] == pytest.approx(every[:n])
    assert best[0][0] == again.encode(text)
    assert again.nbest(text, n) == [ids for ids, _ in best]
    assert len({tuple(ids) for ids, _ in best}) == len(best)
    for ids, score in best:
        assert sum(tok.vocab.scores[id] for id in ids) == pytest.approx(score)


def test_nbest_of_words_and_added_tokens() -> None:
    tok = jeton.Tokenizer(
        models.Unigram(PIECES, unk_id=0),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="never"),
        added_tokens=[jeton.AddedToken("<x>", 9), jeton.AddedToken("<s>", 10, special=True)],
    )
    best = tok.nbest("ab<x>ab", 9)
    assert best[0] == [4, 9, 4] and best[-1] == [2, 3, 9, 2, 3]
    assert sorted(best[1:-1]) == [[2, 3, 9, 4], [4, 9, 2, 3]]
    assert 10 not in tok.nbest("<s>ab", 1)[0]
    [(ids, score)] = tok.nbest("aéb", 2, scores=True)
    assert ids == [2, 0, 3] and score == pytest.approx(-1.0 - 12.25 - 1.5)


def test_nbest_refuses() -> None:
    for tok in (byte_level(), word_piece()):
        with pytest.raises(UnsupportedError, match="n-best needs"):
            tok.nbest("x", 2)
    tok = jeton.Tokenizer(models.Unigram(PIECES, unk_id=0))
    for wrong in (0, 513):
        with pytest.raises(ArgumentError, match="n must lie between"):
            tok.nbest("ab", wrong)
    with pytest.raises(ArgumentTypeError, match="scores must be a bool"):
        tok.nbest("ab", 1, scores=1)  # type: ignore[call-overload]


# Whether a text has more than this many tokens

TEXTS = [
    "",
    "the weather",
    "père 東京 🙂🙂 " * 40,
    "the theory of the weather, " * 900,
    "a" * 9_000,
]


@each_kind
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("special", ["ignore", "allow"])
def test_exceeds_is_count(tok: jeton.Tokenizer, add: bool, special: str) -> None:
    for text in [*TEXTS, "<|end|>" * 500 + TEXTS[3]]:
        ways = {"special": special, "add_special_tokens": add}
        count = tok.count(text, **ways)  # type: ignore[arg-type]
        for n in {0, 1, 5, count // 2, max(0, count - 1), count, count + 1, 2**70}:
            assert tok.exceeds(text, n, **ways) is (count > n), (text[:20], n)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_exceeds_of_sentencepiece(kind: str) -> None:
    texts = [TEXTS[3], "New York, new work and the rest of the world\n"] * 3
    tok = (
        jeton.UnigramTrainer(60, hard_vocab_limit=False).train(texts)
        if kind == "unigram"
        else jeton.BPETrainer(330, **LLAMA).train(texts)
    )
    for text in [*TEXTS, "New York and the weather; " * 2_000]:
        count = tok.count(text)
        for n in {0, 7, count // 3, max(0, count - 1), count, count + 1}:
            assert tok.exceeds(text, n) is (count > n), (text[:20], n)


def test_exceeds_reads_no_further_than_it_must() -> None:
    tok = jeton.Tokenizer(
        models.WordLevel({"hello": 0}, unk_token="?"),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
    )
    assert tok.exceeds("hello " * 9_000 + "world", 100)
    with pytest.raises(jeton.errors.EncodeError):
        tok.exceeds("hello world", 100)
    with pytest.raises(jeton.errors.SpecialTokenError):
        ranks().exceeds("<|pad|>", 100, special="raise")
    for wrong, kind in ((-1, ArgumentError), ("1", ArgumentTypeError), (True, ArgumentTypeError)):
        with pytest.raises(kind):
            tok.exceeds("hello", wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError):
        tok.exceeds(b"hello", 3)  # type: ignore[arg-type]


# What is there already


def test_a_token_that_is_there_already() -> None:
    tok = jeton.BPETrainer(258, special_tokens=["<|endoftext|>"]).train(["x"])
    for token in ("<|endoftext|>", jeton.AddedToken("<|endoftext|>")):
        with pytest.raises(
            ArgumentError, match=r'"<\|endoftext\|>" is an added token already, with id 0'
        ):
            tok.with_added_tokens([token])
    tok = tok.with_added_tokens(["<b>"])
    every: list[str | jeton.AddedToken] = ["<|endoftext|>", "<c>", jeton.AddedToken("<b>")]
    named = r'"<\|endoftext\|>" with id 0, "<b>" with id 257 are added tokens already'
    with pytest.raises(ArgumentError, match=named):
        tok.with_added_tokens(every)
    kept = tok.with_added_tokens(every, existing="keep")
    assert kept.special_tokens == {"<|endoftext|>": 0, "<b>": 257, "<c>": 258}
    with pytest.raises(ArgumentError, match=r"with id 257 .leave the id 300 out"):
        tok.with_added_tokens([jeton.AddedToken("<b>", 300)], existing="keep")
    with pytest.raises(ArgumentError, match="existing must be one of"):
        tok.with_added_tokens([], existing="skip")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r'"<a>" is there twice, each time with id 257'):
        tok.replace(added_tokens=[jeton.AddedToken("<a>", 257)] * 2)
    for again in ("<a>", jeton.AddedToken("<a>", 300)):
        with pytest.raises(ArgumentError, match=r'"<a>" is given twice \(give it once\)'):
            tok.with_added_tokens(["<a>", again])


def test_inspect_shows_true_bytes() -> None:
    tok = sentence_piece()
    shown = "\n".join(tokenizer_summary(tok, "x"))
    assert "all 256 are tokens, so no text is unknown" in shown and "<0x" not in shown
    assert "weather" in "\n".join(tokenizer_summary(word_piece(), "x"))


def test_a_tokenizer_has_a_length_and_is_true() -> None:
    empty = jeton.Tokenizer(models.WordLevel({}))
    assert len(jeton.CharTrainer().train("hello")) == 4
    assert len(empty) == 0 and empty


def test_tokens_are_the_pieces_as_text() -> None:
    tok = jeton.load("jeton-4k")
    text = "How is strawberry split?"
    assert "".join(tok.tokens(text)) == text
    assert tok.tokens("\U0001fae0") == [
        tok.vocab.spelling(id).decode("utf-8", "backslashreplace")
        for id in tok.encode("\U0001fae0")
    ]
    assert all("\ufffd" not in token for token in tok.tokens("\U0001fae0"))
    wordpiece = jeton.WordPieceTrainer(17).train(["hug pug pun bun hugs"] * 5)
    assert wordpiece.tokens("hugs") == ["h", "##ug", "##s"]
    end = next(iter(tok.special_tokens))
    assert tok.tokens(end, special="allow") == [end] and len(tok.tokens(end)) > 1
