"""Arguments of trainers and word counts that make no sense: which error, and what it says."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import normalizers
from jeton.errors import ArgumentError, ArgumentTypeError, MissingFileError, UnknownTokenError

J: Any = jeton

BIG = 1 << 70
HUGE = 1 << 40_000

#: What is asked for, and what is said; each is an error of jeton.
ROWS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "size past 64 bits": (
        lambda: J.BPETrainer(BIG),
        ArgumentError,
        r"vocab_size must be less than",
    ),
    "size of many digits": (lambda: J.BPETrainer(HUGE), ArgumentError, "one of so many digits"),
    "a size in a list": (lambda: J.BPETrainer([300, -1]), ArgumentError, "each of vocab_size must"),
    "a size that is true": (lambda: J.BPETrainer(True), ArgumentTypeError, "an int.*not bool"),
    "WordPiece past 64 bits": (
        lambda: J.WordPieceTrainer(BIG),
        ArgumentError,
        "vocab_size must be",
    ),
    "WordPiece negative": (
        lambda: J.WordPieceTrainer(-3),
        ArgumentError,
        "vocab_size must be at least 0, not -3",
    ),
    "Unigram negative": (
        lambda: J.UnigramTrainer(-3),
        ArgumentError,
        "vocab_size must be at least 0, not -3",
    ),
    "Unigram true": (lambda: J.UnigramTrainer(True), ArgumentTypeError, "an int, not bool"),
    "frequency negative": (
        lambda: J.BPETrainer(300, min_frequency=-1),
        ArgumentError,
        "min_frequency must be at least 0, not -1",
    ),
    "frequency past 64 bits": (
        lambda: J.BPETrainer(300, min_frequency=BIG),
        ArgumentError,
        r"min_frequency must be less than 2\*\*64, not 1180591620717411303424",
    ),
    "frequency true": (
        lambda: J.BPETrainer(300, min_frequency=True),
        ArgumentTypeError,
        "min_frequency must be an int, not bool",
    ),
    "length a text": (
        lambda: J.BPETrainer(300, max_token_length="9"),
        ArgumentTypeError,
        "max_token_length must be an int or None, not str",
    ),
    "coverage true": (
        lambda: J.UnigramTrainer(300, character_coverage=True),
        ArgumentTypeError,
        "character_coverage must be a float, not bool",
    ),
    "rare past 64 bits": (
        lambda: J.BPETrainer(300, min_word_count=BIG),
        ArgumentError,
        r"min_word_count must be less than 2\*\*63",
    ),
    "an alphabet that is a number": (
        lambda: J.BPETrainer(300, alphabet="characters", initial_alphabet=5),
        ArgumentTypeError,
        "initial_alphabet must be a str or an iterable of characters, not int",
    ),
    "an alphabet of words": (
        lambda: J.BPETrainer(300, alphabet="characters", initial_alphabet=["ab"]),
        ArgumentError,
        "each of initial_alphabet must be a single character, not 'ab'",
    ),
    "an alphabet of half a character": (
        lambda: J.WordPieceTrainer(300, initial_alphabet=["\ud800"]),
        ArgumentError,
        "each of initial_alphabet is not valid Unicode",
    ),
    "half a character as special token": (
        lambda: J.BPETrainer(300, special_tokens=["<\udfff>"]),
        ArgumentError,
        "each of special_tokens is not valid Unicode",
    ),
    "half a character as unknown token": (
        lambda: J.BPETrainer(300, alphabet="characters", unk_token="\ud800"),
        ArgumentError,
        "unk_token is not valid Unicode",
    ),
    "half a character as unknown token of characters": (
        lambda: J.CharTrainer(unk_token="\ud800"),
        ArgumentError,
        "unk_token is not valid Unicode",
    ),
    "half a character in a merge": (
        lambda: J.BPETrainer(300, start_from=[("a", "\ud800")]),
        ArgumentError,
        r"start_from\[0\] is not valid Unicode",
    ),
    "a pattern that is no expression": (
        lambda: J.BPETrainer(300, pattern="(a"),
        ArgumentError,
        "pattern: ",
    ),
    "a pattern that is half a character": (
        lambda: J.BPETrainer(300, pattern="\ud800"),
        ArgumentError,
        "pattern is not valid Unicode",
    ),
    "a keyword of a trainer": (
        lambda: J.BPETrainer(vocab_sise=300),
        ArgumentTypeError,
        "BPETrainer has no parameter 'vocab_sise' .did you mean 'vocab_size'",
    ),
    "a keyword of Unigram": (
        lambda: J.UnigramTrainer(max_pice_length=3),
        ArgumentTypeError,
        "did you mean 'max_piece_length'",
    ),
    "a keyword of WordPiece": (
        lambda: J.WordPieceTrainer(xyzzy=3),
        ArgumentTypeError,
        "has no parameter 'xyzzy' .it has vocab_size, rule",
    ),
    "a keyword of characters": (
        lambda: J.CharTrainer(unk="<u>"),
        ArgumentTypeError,
        "CharTrainer has no parameter 'unk'",
    ),
    "a keyword of training": (
        lambda: J.BPETrainer(300).train(["a"], feild="x"),
        ArgumentTypeError,
        "BPETrainer.train has no parameter 'feild' .did you mean 'field'",
    ),
    "a vocabulary size that is a class": (
        lambda: J.BPETrainer(int),
        ArgumentTypeError,
        "vocab_size must be an int or a list of int, not type",
    ),
    "a vocabulary size that is an array": (
        lambda: J.BPETrainer(pytest.importorskip("numpy").array([300, 400])),
        ArgumentTypeError,
        "vocab_size must be an int or a list of int, not ndarray",
    ),
    "an unknown token of SentencePiece's alphabet that is a list": (
        lambda: J.BPETrainer(300, alphabet="sentencepiece", unk_token=["<unk>"]),
        ArgumentTypeError,
        "unk_token must be a str, not list",
    ),
    "a rule of SentencePiece's for another alphabet": (
        lambda: J.BPETrainer(300, normalizer="nfkc"),
        ArgumentTypeError,
        "normalizer must be one of jeton.components.normalizers, not 'nfkc'",
    ),
    "a component that no SentencePiece model holds": (
        lambda: J.BPETrainer(300, alphabet="sentencepiece", normalizer=normalizers.Lowercase()),
        ArgumentError,
        "a SentencePiece model cannot hold the normalizer Lowercase",
    ),
    "what is for SentencePiece's alphabet": (
        lambda: J.BPETrainer(300, alphabet="characters", split_digits=True),
        ArgumentError,
        "split_digits is for alphabet='sentencepiece'",
    ),
    "what is not for SentencePiece's alphabet": (
        lambda: J.BPETrainer(300, alphabet="sentencepiece", max_word_length=9),
        ArgumentError,
        "max_word_length is not for alphabet='sentencepiece'",
    ),
    "a rule of SentencePiece's that is none": (
        lambda: J.BPETrainer(300, alphabet="sentencepiece", normalizer="nfc"),
        ArgumentError,
        'normalizer cannot be "nfc"',
    ),
    "no unknown token of WordPiece": (
        lambda: J.WordPieceTrainer(300, unk_token=None),
        ArgumentTypeError,
        "unk_token must be a str, not NoneType",
    ),
    "no prefix of WordPiece": (
        lambda: J.WordPieceTrainer(300, continuing_subword_prefix=None),
        ArgumentTypeError,
        "continuing_subword_prefix must be a str, not NoneType",
    ),
    "half a character as a rule": (
        lambda: J.WordPieceTrainer(300, rule="\ud800"),
        ArgumentError,
        r"rule must be one of 'released', 'published', not '\\ud800'",
    ),
    "half a character as a normalizer": (
        lambda: J.UnigramTrainer(300, normalizer="\ud800"),
        ArgumentError,
        "normalizer is not valid Unicode",
    ),
    "half a character as what becomes of errors": (
        lambda: J.BPETrainer(300).train(["a"], errors="\ud800"),
        ArgumentError,
        r"errors cannot be '\\ud800' .it is strict, replace or ignore",
    ),
    "half a character as a keyword": (
        lambda: J.BPETrainer(300, **{"\ud800": 1}),
        ArgumentTypeError,
        r"BPETrainer has no parameter '\\ud800'",
    ),
    "words with counts as texts": (
        lambda: J.BPETrainer(300).train({"low": 5, "lower": 2}),
        ArgumentError,
        r"data maps words to counts, .*: pass WordCounts\(data\)",
    ),
    "counts to count": (
        lambda: J.WordCounts.count(J.WordCounts([("low", 5)])),
        ArgumentError,
        "data is word counts already",
    ),
    "a keyword of counting by a trainer": (
        lambda: J.UnigramTrainer(300).count(["a"], memroy="1GB"),
        ArgumentTypeError,
        "UnigramTrainer.count has no parameter 'memroy' .did you mean 'memory'",
    ),
    "a keyword of counting": (
        lambda: J.WordCounts.count(["a"], patern="gpt2"),
        ArgumentTypeError,
        "WordCounts.count has no parameter 'patern' .did you mean 'pattern'",
    ),
    "no errors": (
        lambda: J.BPETrainer(300).train(["a"], errors=None),
        ArgumentTypeError,
        "errors must be 'strict', 'replace' or 'ignore', not NoneType",
    ),
    "errors with counts": (
        lambda: J.BPETrainer(300).train(jeton.WordCounts(), errors="strickt"),
        ArgumentError,
        "did you mean 'strict'",
    ),
    "a folder that is a number": (
        lambda: J.BPETrainer(300).train(["a"], temp_dir=5),
        ArgumentTypeError,
        "temp_dir must be a path, not int",
    ),
    "a folder of half a character": (
        lambda: J.BPETrainer(300).train(["a"], temp_dir="\ud800"),
        ArgumentError,
        r"temp_dir cannot be '\\ud800'",
    ),
    "a path of half a character": (
        lambda: J.BPETrainer(300).train(Path("\ud800")),
        ArgumentError,
        r"data cannot be '\\ud800': it has a lone surrogate",
    ),
    "a path of a list": (
        lambda: J.BPETrainer(300).train([Path("a\0b")]),
        ArgumentError,
        "item 0 of data cannot be 'a.x00b': a path cannot",
    ),
    "a path of bytes": (
        lambda: J.BPETrainer(300).train(b"a.txt"),
        ArgumentTypeError,
        "data must be",
    ),
    "saving to half a character": (
        lambda: jeton.WordCounts().save("\ud800"),
        ArgumentError,
        "path cannot be",
    ),
    "loading a number": (lambda: J.WordCounts.load(3), ArgumentTypeError, "path must be a path"),
    "a text of half a character": (
        lambda: J.BPETrainer(300).train(["a", "b\ud800"]),
        ArgumentError,
        "text 1 of data is not valid Unicode",
    ),
    "counts of nothing": (
        lambda: J.WordCounts(None),
        ArgumentTypeError,
        "words must be pairs of a word and its count, not NoneType",
    ),
    "counts of a text": (lambda: J.WordCounts("ab"), ArgumentTypeError, "words must be pairs"),
    "counts of words alone": (
        lambda: J.WordCounts(["ab"]),
        ArgumentTypeError,
        r"words\[0\] must be a pair of a word and its count, not str",
    ),
    "a negative count": (
        lambda: J.WordCounts([("a", -1)]),
        ArgumentError,
        'the count of "a" must be at least 0, not -1',
    ),
    "a count past 64 bits": (
        lambda: J.WordCounts([("a", BIG)]),
        ArgumentError,
        r"the count of \"a\" must be less than 2\*\*64",
    ),
    "a count that is true": (
        lambda: J.WordCounts([("a", True)]),
        ArgumentTypeError,
        'the count of "a" must be an int, not bool',
    ),
    "a word that is bytes": (
        lambda: J.WordCounts([(b"a", 1)]),
        ArgumentTypeError,
        r"the word of words\[0\] must be a str, not bytes",
    ),
    "half a character as a word": (
        lambda: J.WordCounts([("\ud800", 1)]),
        ArgumentError,
        r"the word of words\[0\] is not valid Unicode",
    ),
    "merged with a text": (
        lambda: J.WordCounts().merged("x"),
        ArgumentTypeError,
        "other must be WordCounts, not str",
    ),
    "at least a negative count": (
        lambda: jeton.WordCounts().at_least(-1),
        ArgumentError,
        "count must be at least 0, not -1",
    ),
    "at least a text": (
        lambda: J.WordCounts().at_least("2"),
        ArgumentTypeError,
        "count must be an int, not str",
    ),
    "a word that is not there": (
        lambda: jeton.WordCounts([("a", 1)])["b"],
        UnknownTokenError,
        "'b' is not among the 1 words",
    ),
    "no pattern": (lambda: J.BPETrainer(300, pattern=""), ArgumentError, "pattern is empty"),
    "a share past floats": (
        lambda: J.BPETrainer(300, alphabet="characters", character_coverage=HUGE),
        ArgumentError,
        "character_coverage must be at most 1, not one of so many digits",
    ),
    "a field of texts": (
        lambda: J.BPETrainer(300).train(["a"], field="text"),
        ArgumentError,
        "field is for files of JSON lines, tables and records",
    ),
    "Unigram larger than the largest id": (
        lambda: J.UnigramTrainer(2**31),
        ArgumentError,
        "vocab_size 2147483648 is larger than the largest id",
    ),
    "special tokens of characters twice": (
        lambda: J.CharTrainer(special_tokens=["<a>", "<a>"]),
        ArgumentError,
        "'<a>' is there twice",
    ),
    "characters of other words": (
        lambda: jeton.CharTrainer().train(jeton.WordCounts.count(["ab"], pattern="whitespace")),
        ArgumentError,
        'WhitespaceSplit.*has {"type":"FixedLength","length":1}',
    ),
    "no such file of characters": (
        lambda: jeton.CharTrainer().train([Path("nothing.txt")]),
        MissingFileError,
        "'nothing.txt': there is no such file$",
    ),
}


@pytest.mark.parametrize(("ask", "error", "told"), ROWS.values(), ids=list(ROWS))
def test_contradicting_arguments_are_refused(
    ask: Callable[[], object], error: type[Exception], told: str
) -> None:
    with pytest.raises(jeton.JetonError, match=told) as raised:
        ask()
    assert isinstance(raised.value, error)


def test_numbers_of_other_types_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert jeton.BPETrainer(numpy.int64(300)).vocab_sizes == (300,)
    assert J.BPETrainer(300, min_frequency=numpy.uint8(2)).parameters["min_frequency"] == 2

    class Number:
        def __index__(self) -> int:
            return 17

    assert J.WordPieceTrainer(Number()).train(["hug pug pun bun hugs"]).vocab_size == 17
    texts = ["low lower lowest", "new newer newest"] * 9
    assert J.UnigramTrainer(Number()).train(texts).vocab_size == 17
    with pytest.warns(jeton.errors.TrainingWarning, match="below min_word_count=17"):
        J.BPETrainer(256, min_word_count=Number()).train(["low"] * 17 + ["high"])


def test_surrogates_that_stand_alone_follow_the_policy() -> None:
    texts = ["a\ud800b", "\udfff\ud83d\ude00", "�"]

    def words(errors: Any) -> list[str]:
        return list(jeton.WordCounts.count(texts, pattern="none", errors=errors))

    assert words("replace") == ["a�b", "�😀", "�"]
    assert words("ignore") == ["ab", "😀", "�"]


def test_word_counts_are_a_mapping_to_read() -> None:
    pairs = [("to", 2), ("be", 1), ("ö", 3)]
    counts = jeton.WordCounts(pairs)
    assert list(counts) == ["to", "be", "ö"]
    assert [counts[word] for word in counts] == [2, 1, 3]
    assert "be" in counts and "b" not in counts and 3 not in counts and "\ud800" not in counts
    assert counts == jeton.WordCounts(dict(pairs)) == jeton.WordCounts(Counter(dict(pairs)))
    assert counts != jeton.WordCounts(pairs[::-1]) and counts != pairs
    many = jeton.WordCounts((f"w{n}", n + 1) for n in range(10_000))
    assert dict(many.items()) == {word: many[word] for word in many}
    with pytest.raises(TypeError):
        hash(counts)


def test_word_counts_are_pickled_with_what_they_were_counted_by() -> None:
    counts = jeton.WordCounts.count(["To be"], normalizer=normalizers.Lowercase())
    again = pickle.loads(pickle.dumps(counts))
    assert again == counts
    with pytest.raises(ArgumentError, match="normalizer"):
        jeton.BPETrainer(300).train(again)


@pytest.mark.parametrize(
    "tie_break", ["first", "lexicographic", "alphabetic", "sentencepiece", "huggingface"]
)
@pytest.mark.parametrize("longest", [1, 2, 3, 4])
def test_the_longest_token_has_the_length_that_was_asked_for(tie_break: Any, longest: int) -> None:
    tok = J.BPETrainer(
        60, alphabet="characters", pattern="none", tie_break=tie_break, max_token_length=longest
    ).train(["abc", "abcd"] * 3)
    assert max(map(len, tok.vocab)) == longest


UNKNOWN: dict[str, Callable[..., Any]] = {
    "BPE": lambda **given: J.BPETrainer(30, alphabet="characters", unk_token="<unk>", **given),
    "SentencePiece's BPE": lambda **given: J.BPETrainer(30, alphabet="sentencepiece", **given),
    "Unigram": lambda **given: J.UnigramTrainer(23, **given),
    "tokenizers' Unigram": lambda **given: J.UnigramTrainer(23, style="huggingface", **given),
    "WordPiece": lambda **given: J.WordPieceTrainer(60, unk_token="<unk>", **given),
    "words": lambda **given: J.WordLevelTrainer(60, unk_token="<unk>", **given),
}


@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
@pytest.mark.parametrize("kind", UNKNOWN)
def test_the_unknown_token_is_there_once_whether_or_not_it_is_named(kind: str) -> None:
    def trained(*named: str) -> J.Tokenizer:
        return UNKNOWN[kind](special_tokens=named).train(["to be or not to be, that it is"] * 9)

    assert trained("<unk>") == trained()
    for tok in (trained("<unk>", "<x>"), trained("<x>")):
        assert tok.encode("Ω")[-1] == 0
        assert tok.vocab[b"<unk>"] == 0
        assert "<x>" in tok.special_tokens


@pytest.mark.parametrize("trainer", [J.UnigramTrainer, J.BPETrainer])
def test_symbols_of_the_user_are_found_with_their_spaces(trainer: Any, tmp_path: Path) -> None:
    options = {"alphabet": "sentencepiece"} if trainer is J.BPETrainer else {}
    symbols = ["<IS MAN>", "<sep>"]
    tok = trainer(30, user_defined_symbols=symbols, hard_vocab_limit=False, **options).train(
        ["this <IS MAN> that<sep> it is"] * 9
    )
    ids = [tok.vocab["<IS▁MAN>".encode()], tok.vocab[b"<sep>"]]
    assert [id for id in tok.encode("that <IS MAN> is<sep>") if id in ids] == ids
    assert tok.decode(tok.encode("that <IS MAN> is<sep>")) == "that <IS MAN> is<sep>"
    # What they are spelled with is no text to learn from.
    assert b"<" not in tok.vocab
    tok.save(tmp_path / "x.model")
    judge = pytest.importorskip("sentencepiece").SentencePieceProcessor(
        model_file=str(tmp_path / "x.model")
    )
    for text in ("that <IS MAN> is<sep>", "<IS MAN><IS MAN>", "<IS  MAN>", "<IS MA"):
        assert tok.encode(text) == judge.encode(text)
