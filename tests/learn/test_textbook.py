"""The textbooks' classes: what courses test, bad parameters, literal marks in text."""

from __future__ import annotations

from typing import Any

import pytest

from jeton.learn.reference import byte_level, textbook
from jeton.learn.reference.textbook import (
    BPETokenizer,
    CharTokenizer,
    Tokenizer,
    analyze_tokenization,
    create_tokenizer,
    tokenize_dataset,
)


def test_the_interface_is_abstract() -> None:
    with pytest.raises(NotImplementedError):
        Tokenizer().encode("a")
    with pytest.raises(NotImplementedError):
        Tokenizer().decode([0])


def test_characters() -> None:
    tokenizer = CharTokenizer(["h", "e", "l", "o"])
    assert tokenizer.vocab == ["<UNK>", "h", "e", "l", "o"]
    assert (tokenizer.vocab_size, tokenizer.unk_id) == (5, 0)
    assert tokenizer.encode("hello") == [1, 2, 3, 3, 4]
    assert tokenizer.decode([1, 2, 3, 3, 4]) == "hello"
    assert tokenizer.encode("hex") == [1, 2, 0]
    tokenizer.build_vocab(["hello world", "test"])
    assert tokenizer.vocab[1:] == sorted(set("hello worldtest"))
    assert tokenizer.id_to_char[tokenizer.char_to_id["w"]] == "w"


def test_a_vocabulary_is_taken_over() -> None:
    first = create_tokenizer("char", corpus=["hello <UNK>"])
    assert CharTokenizer(first.vocab).char_to_id == first.char_to_id  # type: ignore[union-attr]


def test_numbers_of_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    tokenizer = BPETokenizer(numpy.int64(40))
    tokenizer.train(["low lower"])
    assert tokenizer.decode(numpy.array(tokenizer.encode("low"))) == "low"


def test_byte_pairs() -> None:
    tokenizer = BPETokenizer(vocab_size=50)
    assert tokenizer._get_word_tokens("hello") == ["h", "e", "l", "l", "o</w>"]
    pairs = tokenizer._get_pairs(["h", "e", "l", "l", "o</w>"])
    assert pairs == {("h", "e"), ("e", "l"), ("l", "l"), ("l", "o</w>")}
    tokenizer.train(["hello", "hello", "help"])
    assert tokenizer.merges[0] == ("h", "e")
    assert tokenizer.id_to_token[tokenizer.token_to_id["he"]] == "he"
    assert tokenizer.decode(tokenizer.encode("help hello")) == "help hello"
    assert 0 in tokenizer.encode("x")


@pytest.mark.parametrize("text", ["a</w>b", "<UNK>", "</w>", "&lt;/w>", "a&b <c", "</w></w> </w>"])
def test_marks_in_text_survive(text: str) -> None:
    tokenizer = BPETokenizer(200)
    tokenizer.train([text, "a b c", text])
    assert tokenizer.decode(tokenizer.encode(text)) == text
    characters = create_tokenizer("char", corpus=[text])
    assert characters.decode(characters.encode(text)) == text


@pytest.mark.parametrize("corpus", [[], [""], ["   "]])
@pytest.mark.parametrize("strategy", ["char", "bpe"])
def test_an_empty_corpus(strategy: str, corpus: list[str]) -> None:
    tokenizer = create_tokenizer(strategy, corpus=corpus)
    assert tokenizer.vocab[0] == "<UNK>"
    assert analyze_tokenization(corpus, tokenizer)["max_sequence_length"] in (0, 3)


def test_a_size_below_the_alphabet_trains_no_merges() -> None:
    tokenizer = BPETokenizer(2)
    tokenizer.train(["hello"])
    assert tokenizer.merges == [] and tokenizer.vocab_size == len(tokenizer.vocab) == 9
    assert tokenizer.target_vocab_size == 2


def test_the_size_is_that_of_the_vocabulary() -> None:
    """As TinyTorch has it, so that an embedding has a row for each id and no more."""
    tokenizer = BPETokenizer(1000)
    assert (tokenizer.vocab_size, tokenizer.target_vocab_size) == (0, 1000)
    tokenizer.train(["hello"])
    # <UNK>; h e l o, within a word and at its end
    assert tokenizer.vocab_size == len(tokenizer.vocab) == 1 + 2 * 4
    assert tokenizer.target_vocab_size == 1000
    assert analyze_tokenization(["hello"], tokenizer)["vocab_size"] == 9
    # and he hel hell hello</w>, which occur twice here
    tokenizer.train(["hello hello"])
    assert tokenizer.vocab_size == len(tokenizer.vocab) == 9 + 4
    tokenizer.train(["hello hello"], vocab_size=10)
    assert (tokenizer.vocab_size, tokenizer.target_vocab_size) == (10, 10)


@pytest.mark.parametrize("size", [1, 20, 1000])
def test_seen_characters_are_never_unknown(size: int) -> None:
    tokenizer = BPETokenizer(size)
    tokenizer.train(["ab", "<c&"])
    for text in ["ba", "a", "b", "abba", "ba ab", "  ba\t ab  ", "c<", "&a", "<"]:
        ids = tokenizer.encode(text)
        assert 0 not in ids and tokenizer.decode(ids) == " ".join(text.split())
    assert tokenizer.encode("x") == [0]


def test_names_of_the_marks() -> None:
    assert Tokenizer.TOK_UNKNOWN == CharTokenizer().vocab[0] == "<UNK>"
    tokenizer = BPETokenizer()
    tokenizer.train(["ab"])
    assert tokenizer.vocab[0] == Tokenizer.TOK_UNKNOWN
    assert tokenizer._get_word_tokens("ab")[-1] == f"b{Tokenizer.TOK_EOW}"


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_sizes_are_positive_integers(size: Any) -> None:
    with pytest.raises(ValueError, match="vocab_size must be a positive integer, not "):
        BPETokenizer(size)
    with pytest.raises(ValueError, match="vocab_size must be a positive integer, not "):
        BPETokenizer(10).train(["abc"], vocab_size=size)


def test_data_sets_and_measures() -> None:
    tokenizer = create_tokenizer("bpe", 60, ["low lower lowest"] * 3)
    rows = tokenize_dataset(["low lower", "", "low"], tokenizer, max_length=1)
    assert [len(row) for row in rows] == [1, 0, 1]
    assert tokenize_dataset(["low lower", ""], tokenizer, max_length=0) == [[], []]
    found = analyze_tokenization(["low lower", "low"], tokenizer)
    assert found["total_tokens"] == 3 and found["unique_tokens"] == 2
    assert found["compression_ratio"] == 4.0
    assert found["avg_sequence_length"] == 1.5


BAD: dict[str, Any] = {
    "size": lambda: BPETokenizer(0),
    "size type": lambda: BPETokenizer("many"),  # type: ignore[arg-type]
    "train size": lambda: BPETokenizer().train(["a"], vocab_size=-1),
    "one str": lambda: BPETokenizer().train("text"),
    "numbers": lambda: BPETokenizer().train([1, 2]),  # type: ignore[list-item]
    "untrained": lambda: BPETokenizer().encode("a"),
    "a number": lambda: CharTokenizer().encode(5),  # type: ignore[arg-type]
    "long characters": lambda: CharTokenizer(["ab"]),
    "strategy": lambda: create_tokenizer("word"),
    "length": lambda: tokenize_dataset(["a"], CharTokenizer(["a"]), max_length=-1),
    "a number of characters": lambda: CharTokenizer(5),  # type: ignore[arg-type]
    "ids of a number": lambda: CharTokenizer(["a"]).decode(5),  # type: ignore[arg-type]
    "ids of text": lambda: CharTokenizer(["a"]).decode("ab"),  # type: ignore[arg-type]
    "ids of lists": lambda: BPETokenizer().decode([[1]]),  # type: ignore[list-item]
    "ids of fractions": lambda: BPETokenizer().decode([1.5]),  # type: ignore[list-item]
    "ids of none": lambda: BPETokenizer().decode(None),  # type: ignore[arg-type]
    "size of characters": lambda: create_tokenizer("char", 0),
    "no tokenizer": lambda: tokenize_dataset(["a"], None),  # type: ignore[arg-type]
    "a name": lambda: analyze_tokenization(["a"], "char"),  # type: ignore[arg-type]
    "none": lambda: tokenize_dataset(None, CharTokenizer(["a"])),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("call", BAD.values(), ids=BAD.keys())
def test_bad_parameters(call: Any) -> None:
    with pytest.raises(ValueError, match=r"\w+ .*\w"):
        call()


def test_gpt2_bytes_are_one_to_one() -> None:
    table = byte_level.bytes_to_unicode()
    assert len(table) == len(set(table.values())) == 256
    assert all(table[byte] == chr(byte) for byte in range(33, 127))


def test_pages_import_the_standard_library_and_merge() -> None:
    import ast
    import sys
    from pathlib import Path

    for page in Path(textbook.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(page.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
                if names == ["jeton.learn.reference.words_bpe"]:
                    assert [alias.name for alias in node.names] == ["merge"], page
                    continue
            else:
                continue
            assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), page
