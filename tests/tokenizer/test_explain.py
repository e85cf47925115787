"""`Tokenizer.explain`: its steps lead to the ids of `encode`, for every family and every stage."""

from __future__ import annotations

import dataclasses
import gc
import io
import itertools
import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import jeton
from jeton import textbook
from jeton.components import models, normalizers, post_processors, pre_tokenizers
from jeton.encoding import explaining
from jeton.encoding.explaining import pieces
from jeton.encoding.explaining.steps import (
    Added,
    Lattice,
    LongestMatch,
    LookUp,
    Merging,
    Piece,
    PostStep,
    TextStep,
)
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, SpecialTokenError
from kinds import KINDS

CHARACTERS = "the weather, theory ab\n 12é東🙂x \u0301\t<|end|>[CLS]▁##"
SPECIALS = ("<|end|>", "[CLS]", "<|endoftext|>", "<unk>", "[UNK]", "<0x41>", "[SEP]")


def some_text(numbers: random.Random) -> str:
    parts = [numbers.choice(CHARACTERS) for _ in range(numbers.randint(0, 30))]
    if numbers.random() < 0.5:
        parts.insert(numbers.randint(0, len(parts)), numbers.choice(SPECIALS))
    return "".join(parts)


def word_level() -> jeton.Tokenizer:
    return jeton.WordLevelTrainer(20).train(["the weather the theory"])


def bpe_of_characters() -> jeton.Tokenizer:
    """Everything that a BPE of characters may be told."""
    tokens = ["<unk>", "t", "h", "e", "##h", "##e", "th", "the", "the!", "##e!", *bytes_as_tokens()]
    return jeton.Tokenizer(
        models.BPE(
            {token: id for id, token in enumerate(tokens)},
            [("t", "##h"), ("th", "##e"), ("th", "##e!")],
            alphabet="characters",
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
            continuing_subword_prefix="##",
            end_of_word_suffix="!",
            dropout=0.5,
        ),
        normalizer=normalizers.Sequence(
            [
                normalizers.NFKD(),
                normalizers.Sequence([normalizers.StripAccents(), normalizers.Lowercase()]),
            ]
        ),
        pre_tokenizer=pre_tokenizers.Sequence(
            [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)]
        ),
        post_processor=post_processors.TemplateProcessing("<unk> $A", special_tokens={"<unk>": 0}),
        added_tokens=[
            jeton.AddedToken("[CLS]", special=True, lstrip=True),
            jeton.AddedToken("Theory"),
            jeton.AddedToken("<0x41>"),
            jeton.AddedToken("x", single_word=True, rstrip=True, normalized=False),
        ],
    )


def bytes_as_tokens() -> list[str]:
    return [f"<0x{byte:02X}>" for byte in range(0, 256)]


def fused() -> jeton.Tokenizer:
    model = models.BPE(
        {"<unk>": 0, "a": 1, "b": 2, "ab": 3}, [("a", "b")], "characters", "<unk>", fuse_unk=True
    )
    return jeton.Tokenizer(model)


def dropping() -> jeton.Tokenizer:
    return jeton.Tokenizer(models.BPE({"a": 0, "b": 1}, [], alphabet="characters"))


def whole_words() -> jeton.Tokenizer:
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"th", b" the"]
    vocab = {token: id for id, token in enumerate(tokens)}
    return jeton.Tokenizer(
        models.BPE(vocab, [(b"t", b"h")], ignore_merges=True),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
    )


def unigram_of_bytes() -> jeton.Tokenizer:
    pieces = [("<unk>", 0.0), ("the", -2.0), ("th", -1.0), ("e", -1.0), ("<unk", -3.0)]
    pieces += [(token, -9.0) for token in bytes_as_tokens()]
    return jeton.Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=True))


def no_stages() -> jeton.Tokenizer:
    return jeton.Tokenizer(
        models.Unigram([("<unk>", 0.0), ("th", -1.0), ("e", -1.0)], unk_id=0),
        added_tokens=[jeton.AddedToken("<|end|>", special=True), jeton.AddedToken(" 12")],
    )


def listed_twice() -> jeton.Tokenizer:
    pieces = [("[UNK]", 0.0), ("th", -1.0), ("e", -1.0), ("[UNK]", -2.0), ("th", -0.5)]
    return jeton.Tokenizer(
        models.Unigram(pieces, unk_id=0),
        added_tokens=[jeton.AddedToken("[UNK]", 3, special=True)],
    )


def sentencepiece(style: Any = "sentencepiece") -> jeton.Tokenizer:
    trainer = jeton.UnigramTrainer(
        30, style=style, hard_vocab_limit=False, user_defined_symbols=["wea"]
    )
    return trainer.train(["the weather there", "then the theory"] * 5)


FAMILIES: dict[str, Callable[[], jeton.Tokenizer]] = {
    **KINDS,
    "words": word_level,
    "BPE of characters, all options": bpe_of_characters,
    "BPE, unknown ones fused": fused,
    "BPE, unknown ones dropped": dropping,
    "BPE, whole words at once": whole_words,
    "Unigram with bytes": unigram_of_bytes,
    "no stage but the model": no_stages,
    "Unigram with pieces listed twice": listed_twice,
    "SentencePiece's Unigram": sentencepiece,
    "Unigram in Hugging Face's style": lambda: sentencepiece("huggingface"),
    "textbook BPE": textbook.low_lower_newest_widest,
    "textbook bytes": textbook.aaabdaaabac,
    "textbook WordPiece": lambda: textbook.hug_pug_pun_bun_hugs("wordpiece"),
}


@pytest.mark.large
@pytest.mark.parametrize("name", FAMILIES)
def test_the_last_step_has_the_ids_of_encode(name: str) -> None:
    tok = FAMILIES[name]()
    policies: list[Any] = ["ignore", "allow", [], [*tok.special_tokens], [*tok.special_tokens][:1]]
    for seed in range(50):
        numbers = random.Random(seed)
        text = some_text(numbers)
        options: Any = {
            "special": numbers.choice(policies),
            "add_special_tokens": numbers.random() < 0.5,
        }
        try:
            expected = tok.encode(text, **options)
        except EncodeError:
            with pytest.raises(EncodeError):
                tok.explain(text, **options)
            continue
        told = tok.explain(text, **options)
        assert told.ids == expected, (seed, text)
        check_steps(told, tok)


def check_steps(told: explaining.Explanation, tok: jeton.Tokenizer) -> None:
    """Each step begins where the one before it ended, and each piece's steps lead to its tokens."""
    texts = [step for step in told.steps if isinstance(step, TextStep)]
    for before, after in itertools.pairwise(texts):
        assert before.after == after.before
    if texts:
        assert [it.text for it in texts[-1].after if it.id is None] == [
            it.text for it in told.model.pieces if not isinstance(it, Added)
        ]
    for piece in told.model.pieces:
        assert [token.token for token in piece.tokens] == [
            tok.vocab.spelling(it.id) for it in piece.tokens
        ]
        check_piece(piece)


def check_piece(piece: Piece) -> None:
    match piece:
        case Merging():
            rows = list(piece.rows())
            assert len(rows) == len(piece.merges) + 1
            assert len(rows[0]) - len(rows[-1]) == len(piece.merges)
        case LongestMatch():
            assert piece.too_long or not piece.matches or piece.matches[0].start == 0
        case Lattice():
            path = piece.path
            assert "".join(edge.text for edge in path) == piece.text
            assert sum(edge.score for edge in path) == pytest.approx(piece.score, abs=1e-3)
        case LookUp():
            assert sum((unit.tokens for unit in piece.units), ()) == piece.tokens


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("fallback", [False, True], ids=["unknown", "bytes"])
def test_models_of_sentencepiece(kind: str, fallback: bool) -> None:
    library = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    library.SentencePieceTrainer.train(
        sentence_iterator=iter(["the weather there", "then the theory x xy"] * 20),
        model_writer=model,
        vocab_size=300 if fallback else 45,
        model_type=kind,
        hard_vocab_limit=False,
        byte_fallback=fallback,
        user_defined_symbols=["wea", "th"],
        minloglevel=2,
    )
    tok = jeton.Tokenizer(models.SentencePiece(model.getvalue()))
    for seed in range(50):
        text = some_text(random.Random(seed))
        assert tok.explain(text, special="allow").ids == tok.encode(text, special="allow"), text


def test_a_sentencepiece_model_behind_other_stages() -> None:
    model = sentencepiece().stages.model
    for stages in (
        {"pre_tokenizer": pre_tokenizers.Digits(True)},
        {"normalizer": normalizers.NFC()},
    ):
        tok = jeton.Tokenizer(model, **stages)
        assert tok.explain("the weather 12").ids == tok.encode("the weather 12")


def test_each_stage_is_explained() -> None:
    tok = bpe_of_characters()
    told = tok.explain("Thé [CLS] Theory9", special="allow", add_special_tokens=True)
    assert [step.stage for step in told.steps] == [
        "added tokens",
        *["normalizer"] * 3,
        "added tokens",
        *["pre-tokenizer"] * 2,
        "model",
        "post-processor",
    ]
    assert [step.name for step in told.steps][1:4] == ["NFKD", "StripAccents", "Lowercase"]
    lower = told.steps[3]
    assert isinstance(lower, TextStep)
    assert [(it.text, it.span) for it in lower.after] == [
        ("the", (0, 3)),
        ("[CLS]", (3, 9)),
        (" theory9", (9, 17)),
    ]
    last = told.steps[-1]
    assert isinstance(last, PostStep) and last.added[0] and not any(last.added[1:])


def test_every_merge_with_its_rank() -> None:
    [piece] = textbook.low_lower_newest_widest().explain("lowest").model.pieces
    assert isinstance(piece, Merging)
    assert [(it.rank, it.left, it.right) for it in piece.merges] == [
        (0, b"e", b"s"),
        (1, b"es", b"t"),
        (2, b"est", b"</w>"),
        (3, b"l", b"o"),
        (4, b"lo", b"w"),
    ]
    assert list(piece.rows())[3] == [b"l", b"o", b"w", b"est</w>"]


def test_the_longest_matches_that_were_tried() -> None:
    [piece] = textbook.hug_pug_pun_bun_hugs("wordpiece", 1).explain("bugs").model.pieces
    assert isinstance(piece, LongestMatch)
    assert [match.tried for match in piece.matches] == [
        ("bugs", "bug", "bu", "b"),
        ("##ugs", "##ug", "##u"),
        ("##gs",),
    ]


def test_the_lattice_and_its_best_path() -> None:
    [piece] = textbook.hug_pug_pun_bun_hugs("unigram").explain("unhug").model.pieces
    assert isinstance(piece, Lattice)
    assert [edge.text for edge in piece.path] == ["un", "hug"]
    assert len(piece.edges) == 9


@pytest.mark.large
def test_a_long_piece_takes_no_quadratic_time() -> None:
    tok = textbook.aaabdaaabac()
    assert tok.explain("a" * 50_000).ids == tok.encode("a" * 50_000)
    tok = jeton.Tokenizer(
        models.WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, max_input_chars_per_word=10**6)
    )
    assert tok.explain("a" * 20_000).ids == tok.encode("a" * 20_000)


def test_an_explanation_prints_and_shows_in_a_notebook() -> None:
    for make in FAMILIES.values():
        tok = make()
        told = tok.explain("theb")
        assert str(told).endswith(str(told.tokens[-1].token.decode()))
        assert told._repr_html_().count("<section") == str(told).count(f"/{len(told_frames(told))}")
        assert repr(told) == f"<Explanation of 4 characters: {len(told.steps)} steps>"


def told_frames(told: explaining.Explanation) -> list[Any]:
    from jeton.encoding.explaining.view_frames import frames_of_encoding

    return list(frames_of_encoding(told.text, told.steps))


def test_markup_in_text_stays_text() -> None:
    tok = textbook.byte_bpe("<script>alert(1)</script>", 3)
    shown = tok.explain("<script>&amp;")._repr_html_()
    assert "<script" not in shown and "&amp;amp;" in shown


def test_the_empty_text() -> None:
    for make in FAMILIES.values():
        told = make().explain("")
        assert told.ids == [] and told.tokens == ()
        assert "nothing" in str(told)


def test_surrogates_are_read_as_encode_reads_them() -> None:
    tok = textbook.byte_bpe("abc", 0)
    for text in ("\ud83d\ude42", "a\ud800b"):
        told = tok.explain(text)
        assert told.ids == tok.encode(text)
        str(told).encode()


def test_an_explained_tokenizer_is_freed() -> None:
    tok = textbook.byte_bpe("abc", 0)
    tok.explain("abc")
    gone = weakref.ref(tok)
    del tok
    gc.collect()
    assert gone() is None


def test_bad_input() -> None:
    tok = KINDS["byte-level"]()
    with pytest.raises(ArgumentTypeError, match="must be a str"):
        tok.explain(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="is not a special token"):
        tok.explain("x", special=["<|ent|>"])
    with pytest.raises(SpecialTokenError):
        tok.explain("<|end|>", special="raise")
    with pytest.raises(EncodeError, match="is not one of the"):
        jeton.CharTrainer().train("ab").explain("abc")


def test_steps_that_lead_to_other_ids_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = jeton.CharTrainer().train("ab")
    told = dataclasses.replace(tok.explain("ab").model.pieces[0], tokens=())
    monkeypatch.setattr(pieces.ExplainedModel, "explain", lambda *_: told)
    with pytest.raises(jeton.JetonError, match="a bug in jeton"):
        tok.explain("ab")


def test_a_unigram_that_lists_a_piece_twice_gives_its_model() -> None:
    tok = listed_twice()
    model = tok.stages.model
    assert isinstance(model, models.Unigram)
    assert [token for token, _ in model.pieces] == [b"[UNK]", b"th", b"e", b"[UNK]", b"th"]
    assert jeton.Tokenizer(model, added_tokens=tok.stages.added_tokens) == tok
