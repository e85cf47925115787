"""The tokenizers of the textbooks, under the names that courses give them.

Look here if your course asks for `CharTokenizer`, `BPETokenizer` and `create_tokenizer`. They are
written to be read; `jeton.CharTrainer` and `jeton.BPETrainer` do the same a thousand times faster.

    >>> tokenizer = create_tokenizer("bpe", 30, ["low low low lower newest newest"])
    >>> tokenizer.decode(tokenizer.encode("low newest"))
    'low newest'
    >>> tokenize_dataset(["low lower", ""], tokenizer, max_length=2)
    [[18, 17], []]
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections import Counter
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

from jeton.learn.reference.words_bpe import merge

Pair = tuple[str, str]


class Tokenizer:
    """What every tokenizer does: text to numbers, and back."""

    TOK_UNKNOWN = "<UNK>"
    """The token of a character that was not seen; its id is 0."""
    TOK_EOW = "</w>"
    """What ends a word."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        raise NotImplementedError

    def decode(self, tokens: list[int]) -> str:
        """The text of ids."""
        raise NotImplementedError


UNKNOWN, END = Tokenizer.TOK_UNKNOWN, Tokenizer.TOK_EOW


class CharTokenizer(Tokenizer):
    """One token per character; the id 0 is that of any character that was not seen.

    Args:
        vocab: The characters, if they are known, or the `vocab` of another `CharTokenizer`;
            otherwise call `build_vocab`.

    >>> tokenizer = CharTokenizer(["a", "b"])
    >>> tokenizer.encode("abc"), tokenizer.decode([1, 2, 0])
    ([1, 2, 0], 'ab<UNK>')
    """

    unk_id = 0

    def __init__(self, vocab: Iterable[str] | None = None) -> None:
        if vocab is not None and not isinstance(vocab, Iterable):
            raise ValueError(f"vocab must be characters, not {type(vocab).__name__}")
        characters = [] if vocab is None else list(vocab)
        if characters[:1] == [UNKNOWN]:
            characters = characters[1:]
        for character in characters:
            if not isinstance(character, str) or len(character) != 1:
                raise ValueError(f"vocab must hold single characters, not {character!r}")
        self._set(list(dict.fromkeys(characters)))

    def _set(self, characters: list[str]) -> None:
        self.vocab = [UNKNOWN, *characters]
        self.vocab_size = len(self.vocab)
        self.char_to_id = {character: id for id, character in enumerate(self.vocab)}
        self.id_to_char = dict(enumerate(self.vocab))

    def build_vocab(self, corpus: Iterable[str]) -> None:
        """Takes the characters of a corpus, in the order of code points."""
        self._set(sorted({character for text in _texts(corpus) for character in text}))

    def encode(self, text: str) -> list[int]:
        """The id of each character."""
        return [self.char_to_id.get(character, self.unk_id) for character in _text(text)]

    def decode(self, tokens: list[int]) -> str:
        """The characters, one after another; an id that does not exist is unknown."""
        return "".join(self.id_to_char.get(id, UNKNOWN) for id in _ids(tokens))


class BPETokenizer(Tokenizer):
    """Byte pair encoding on words, with `</w>` at the end of each.

    The characters `<` and `&` of a text are written `&lt;` and `&amp;` inside, so that a literal
    `</w>` or `<UNK>` in it is never taken for the mark.

    Each character of the corpus is in the vocabulary twice, within a word and at its end, so that
    no word of seen characters has an unknown token.

    Args:
        vocab_size: How many tokens you want; it is kept as `target_vocab_size`. There are
            more if the characters alone are more, and fewer if no pair is left that occurs twice,
            since a pair that occurs once shortens nothing but its own word: `vocab_size` says how
            many.

    >>> tokenizer = BPETokenizer(vocab_size=40)
    >>> tokenizer.train(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3)
    >>> tokenizer.merges[:3]
    [('e', 's'), ('es', 't</w>'), ('l', 'o')]
    """

    def __init__(self, vocab_size: int = 1000) -> None:
        self.target_vocab_size = _size("vocab_size", vocab_size)
        self.vocab: list[str] = []
        self.merges: list[Pair] = []
        self.token_to_id: dict[str, int] = {}
        self.id_to_token: dict[int, str] = {}

    @property
    def vocab_size(self) -> int:
        """How many tokens there are: the rows of an embedding.

        >>> tokenizer = BPETokenizer(1000)
        >>> tokenizer.train(["hello"])
        >>> tokenizer.vocab_size, tokenizer.target_vocab_size
        (9, 1000)
        """
        return len(self.vocab)

    def _get_word_tokens(self, word: str) -> list[str]:
        """The symbols of a word: its characters, the last one with `</w>`.

        >>> BPETokenizer()._get_word_tokens("low")
        ['l', 'o', 'w</w>']
        """
        symbols = [_written(character) for character in word]
        if symbols:
            symbols[-1] += END
        return symbols

    def _get_pairs(self, word_tokens: list[str]) -> set[Pair]:
        """The pairs of neighbours.

        >>> sorted(BPETokenizer()._get_pairs(["l", "o", "w</w>"]))
        [('l', 'o'), ('o', 'w</w>')]
        """
        return set(itertools.pairwise(word_tokens))

    def train(self, corpus: Iterable[str], vocab_size: int | None = None) -> None:
        """Learns merges from a corpus; spaces separate words.

        A corpus without words gives a vocabulary of the unknown token alone; a `vocab_size` below
        twice the number of characters gives no merges.
        """
        if vocab_size is not None:
            self.target_vocab_size = _size("vocab_size", vocab_size)
        words = Counter(word for text in _texts(corpus) for word in text.split())
        rows = {word: self._get_word_tokens(word) for word in words}
        characters = {_written(character) for word in words for character in word}
        self.vocab = [UNKNOWN, *sorted(characters | {it + END for it in characters})]
        self.merges = []
        tokens = set(self.vocab)
        while len(self.vocab) < self.target_vocab_size:
            counts: Counter[Pair] = Counter()
            for word, row in rows.items():
                for pair in itertools.pairwise(row):
                    counts[pair] += words[word]
            best = max(counts, key=lambda pair: counts[pair], default=None)
            if best is None or counts[best] < 2:
                break
            rows = {word: merge(row, best) for word, row in rows.items()}
            self.merges.append(best)
            if "".join(best) not in tokens:
                tokens.add("".join(best))
                self.vocab.append("".join(best))
        self._build_mappings()

    def _build_mappings(self) -> None:
        """Numbers the tokens in the order of the vocabulary."""
        self.token_to_id = {token: id for id, token in enumerate(self.vocab)}
        self.id_to_token = dict(enumerate(self.vocab))

    def _apply_merges(self, tokens: list[str]) -> list[str]:
        """Does all merges in their order."""
        for pair in self.merges:
            tokens = merge(tokens, pair)
        return tokens

    def encode(self, text: str) -> list[int]:
        """The ids of a text, word by word; what was never seen has the id of `<UNK>`."""
        if not self.vocab:
            raise ValueError("this tokenizer is not trained yet: call train(corpus) first")
        ids: list[int] = []
        for word in _text(text).split():
            tokens = self._apply_merges(self._get_word_tokens(word))
            ids.extend(self.token_to_id.get(token, 0) for token in tokens)
        return ids

    def decode(self, tokens: list[int]) -> str:
        """The text of ids, one space between words."""
        text = "".join(self.id_to_token.get(id, UNKNOWN) for id in _ids(tokens))
        words = text.split(END)
        return " ".join(words).rstrip(" ").replace("&lt;", "<").replace("&amp;", "&")


def _written(character: str) -> str:
    return {"<": "&lt;", "&": "&amp;"}.get(character, character)


def create_tokenizer(
    strategy: str = "char", vocab_size: int = 1000, corpus: Iterable[str] | None = None
) -> CharTokenizer | BPETokenizer:
    """A tokenizer by name, `"char"` or `"bpe"`, trained if there is a corpus.

    >>> create_tokenizer("char", corpus=["hello"]).vocab_size
    5
    >>> create_tokenizer("magic")
    Traceback (most recent call last):
    ...
    ValueError: strategy must be 'char' or 'bpe', not 'magic'
    """
    vocab_size = _size("vocab_size", vocab_size)
    if strategy == "char":
        characters = CharTokenizer()
        if corpus is not None:
            characters.build_vocab(corpus)
        return characters
    if strategy == "bpe":
        pairs = BPETokenizer(vocab_size)
        if corpus is not None:
            pairs.train(corpus)
        return pairs
    raise ValueError(f"strategy must be 'char' or 'bpe', not {strategy!r}")


def tokenize_dataset(
    texts: Iterable[str], tokenizer: Tokenizer, max_length: int | None = None
) -> list[list[int]]:
    """The ids of each text, at most `max_length` of them; 0 leaves none."""
    if max_length is not None:
        max_length = _size("max_length", max_length, smallest=0)
    return [ids[:max_length] for ids in _encoded(_texts(texts), tokenizer)]


def analyze_tokenization(texts: Iterable[str], tokenizer: Tokenizer) -> dict[str, float]:
    """How long texts become: counts of tokens, and characters per token.

    >>> characters = create_tokenizer("char", corpus=["hello"])
    >>> analyze_tokenization(["hello", "hell"], characters)["compression_ratio"]
    1.0
    """
    listed = _texts(texts)
    encoded = _encoded(listed, tokenizer)
    lengths = [len(ids) for ids in encoded]
    total = sum(lengths)
    return {
        "vocab_size": getattr(tokenizer, "vocab_size", 0),
        "avg_sequence_length": total / len(lengths) if lengths else 0.0,
        "max_sequence_length": max(lengths, default=0),
        "total_tokens": total,
        "compression_ratio": sum(map(len, listed)) / total if total else 0.0,
        "unique_tokens": len({id for ids in encoded for id in ids}),
    }


def _encoded(texts: list[str], tokenizer: Tokenizer) -> list[list[int]]:
    if isinstance(tokenizer, str) or not hasattr(tokenizer, "encode"):
        raise ValueError(f"tokenizer must have encode(text), not be a {type(tokenizer).__name__}")
    return [tokenizer.encode(text) for text in texts]


def _texts(corpus: Iterable[str]) -> list[str]:
    if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
        raise ValueError(f"give a list of texts, not {type(corpus).__name__}")
    return [_text(text) for text in corpus]


def _text(text: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"a text must be a str, not {type(text).__name__}")
    return text


def _ids(tokens: Iterable[int]) -> list[int]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise ValueError(f"give a list of ids, not {type(tokens).__name__}")
    return [_whole(id) for id in tokens]


def _whole(id: object) -> int:
    """An id as an int. Those in a tensor of a course are often floats."""
    if isinstance(id, SupportsIndex):
        with contextlib.suppress(TypeError):
            return operator.index(id)
    if isinstance(id, SupportsFloat) and float(id).is_integer():
        return int(float(id))
    raise ValueError(f"an id must be a whole number, not {id!r}")


def _size(name: str, value: int, smallest: int = 1) -> int:
    try:
        size = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        size = -1
    if size < smallest:
        expectation = "a positive integer" if smallest else "0 or a positive integer"
        raise ValueError(f"{name} must be {expectation}, not {value!r}")
    return size
