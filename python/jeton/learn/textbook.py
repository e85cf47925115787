r"""The worked examples of the textbooks, each in one short call of the trainers of jeton.

Look here to set an exercise or to check one by hand: `bpe`, `byte_bpe`, `wordpiece` and `unigram`
train on a few words as books do, and four functions have the names of well-known examples. The
result is an ordinary `Tokenizer`; `merges` and `tokens` show it in plain strings.

Sennrich, Haddow and Birch (2016): word counts, `</w>` at the end of a word, the first pair wins a
tie.

    >>> from jeton.learn import textbook
    >>> tok = textbook.low_lower_newest_widest()
    >>> textbook.merges(tok)
    [('e', 's'), ('es', 't'), ('est', '</w>'), ('l', 'o'), ('lo', 'w')]
    >>> tok.tokens("lowest")
    ['low', 'est</w>']

The words of Hugging Face's course, by each of its three algorithms:

    >>> tok = textbook.hug_pug_pun_bun_hugs()
    >>> textbook.merges(tok), tok.tokens("thug")
    ([('u', 'g'), ('u', 'n'), ('h', 'ug')], ['<unk>', 'hug'])
    >>> textbook.hug_pug_pun_bun_hugs("wordpiece").tokens("bugs")
    ['b', '##u', '##gs']
    >>> textbook.hug_pug_pun_bun_hugs("unigram").tokens("unhug")
    ['un', 'hug']

Gage's compression, on bytes, with the ids that minbpe gives:

    >>> textbook.aaabdaaabac().encode("aaabdaaabac")
    [258, 100, 258, 97, 99]

And a sentence of small words:

    >>> textbook.merges(textbook.a_refrain_from_rain_in_a_train())
    [('i', 'n'), ('r', 'a'), ('ra', 'in')]

The words can be any others:

    >>> textbook.merges(textbook.bpe("hello hello help", merges=1, end=None))
    [('h', 'e')]
    >>> textbook.merges(textbook.bpe("cake", merges=1, end=None, tie_break="alphabetic"))
    [('a', 'k')]

`jeton learn` shows every step of the same.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from jeton.arguments import check_text, checked_int, checked_iterable
from jeton.components import decoders, models, normalizers, pre_tokenizers
from jeton.corpora.word_counts import WordCounts
from jeton.errors import (
    ArgumentError,
    TrainingError,
    TrainingWarning,
    UnsupportedError,
)
from jeton.tokenizer import Tokenizer
from jeton.training import BPETrainer, UnigramTrainer, WordPieceTrainer

__all__ = [
    "HUG_COUNTS",
    "LOW_COUNTS",
    "Words",
    "a_refrain_from_rain_in_a_train",
    "aaabdaaabac",
    "bpe",
    "byte_bpe",
    "hug_pug_pun_bun_hugs",
    "low_lower_newest_widest",
    "merges",
    "substrings",
    "unigram",
    "word_counts",
    "wordpiece",
]

Words: TypeAlias = str | Iterable[str] | Mapping[str, int]
"""A text, several texts, or words with their counts. White space separates the words of a text."""

TieBreak: TypeAlias = Literal["first", "alphabetic", "lexicographic"]

LOW_COUNTS: Mapping[str, int] = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
"""The words of Sennrich, Haddow and Birch."""

HUG_COUNTS: Mapping[str, int] = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
"""The words of Hugging Face's course."""


def low_lower_newest_widest(merges: int = 5) -> Tokenizer:
    """BPE of `low` ×5, `lower` ×2, `newest` ×6 and `widest` ×3, `</w>` at the end of each.

    Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword
    Units", 2016.

    Args:
        merges: How many.

    Example:
        >>> from jeton.learn import textbook
        >>> tok = textbook.low_lower_newest_widest(merges=10)
        >>> ["".join(pair) for pair in textbook.merges(tok)][5:]
        ['ne', 'new', 'newest</w>', 'low</w>', 'wi']
    """
    return bpe(LOW_COUNTS, merges)


def hug_pug_pun_bun_hugs(
    kind: Literal["bpe", "wordpiece", "unigram"] = "bpe", merges: int = 3
) -> Tokenizer:
    """The tokenizer of `hug` ×10, `pug` ×5, `pun` ×12, `bun` ×4 and `hugs` ×5.

    As in chapter 6 of Hugging Face's course: BPE without a mark at the end of words; WordPiece by
    the published rule; Unigram with all substrings as pieces, their shares as probabilities.

    Args:
        kind: Which of the three.
        merges: How many, of BPE and WordPiece.

    Example:
        >>> import math
        >>> from jeton.learn import textbook
        >>> tok = textbook.hug_pug_pun_bun_hugs("unigram")
        >>> for word in ("hug", "pug", "pun", "bun", "hugs"):
        ...     [(_, score)] = tok.nbest(word, 1, scores=True)
        ...     print(word, tok.tokens(word), f"{math.exp(score):.6f}")
        hug ['hug'] 0.071429
        pug ['p', 'ug'] 0.007710
        pun ['p', 'un'] 0.006168
        bun ['b', 'un'] 0.001451
        hugs ['h', 'ugs'] 0.001701
    """
    if kind == "bpe":
        return bpe(HUG_COUNTS, merges, end=None, unk_token="<unk>")
    if kind == "wordpiece":
        return wordpiece(HUG_COUNTS, merges, rule="published")
    if kind == "unigram":
        return substrings(HUG_COUNTS)
    raise ArgumentError(f"kind must be 'bpe', 'wordpiece' or 'unigram', not {kind!r}")


def aaabdaaabac(merges: int = 3) -> Tokenizer:
    """BPE of the bytes of `aaabdaaabac`; bytes have the ids 0 to 255, and merges those after.

    Source: Gage, "A New Algorithm for Data Compression", 1994, in the form of Wikipedia's example.

    Args:
        merges: How many.

    Example:
        >>> from jeton.learn import textbook
        >>> textbook.merges(textbook.aaabdaaabac())
        [('a', 'a'), ('aa', 'a'), ('aaa', 'b')]
    """
    return byte_bpe("aaabdaaabac", merges)


def a_refrain_from_rain_in_a_train(merges: int = 3) -> Tokenizer:
    """BPE of the words of `a refrain from rain in a train`, without a mark at their ends.

    Args:
        merges: How many.

    Example:
        >>> from jeton.learn import textbook
        >>> textbook.a_refrain_from_rain_in_a_train().tokens("train")
        ['t', 'rain']
    """
    return bpe("a refrain from rain in a train", merges, end=None)


def bpe(
    words: Words,
    merges: int = 10,
    *,
    end: str | None = "</w>",
    tie_break: TieBreak = "first",
    unk_token: str | None = None,
) -> Tokenizer:
    """Byte pair encoding on the characters of words.

    Args:
        words: A text, several texts, or words with their counts.
        merges: How many, or fewer if every word has become one token.
        end: A separate symbol after the last character of each word; `None` for none.
        tie_break: Of equally frequent pairs, the `"first"` to occur, or the smallest
            (`"alphabetic"`) or greatest (`"lexicographic"`) pair.
        unk_token: The token of a character that no word has; without it such a character is
            left out.

    Raises:
        TrainingError: No words.

    Example:
        >>> from jeton.learn import textbook
        >>> tok = textbook.bpe({"low": 5, "lowest": 2}, merges=3)
        >>> tok.tokens("low lowest")
        ['low</w>', 'low', 'e', 's', 't', '</w>']
    """
    counts = word_counts(words)
    if end is not None and not check_text("end", end):
        raise ArgumentError("end is empty; pass a text such as '</w>', or None for no mark")
    symbols = {character for word in counts for character in word}
    symbols |= {symbol for symbol in (end, unk_token) if symbol is not None}

    def trained(size: int) -> Tokenizer:
        return BPETrainer(
            size,
            pattern="whitespace",
            alphabet="characters",
            tie_break=tie_break,
            end_of_word_suffix=end,
            separate_suffix=end is not None,
            special_tokens=[] if unk_token is None else [unk_token],
            unk_token=unk_token,
            max_word_length=None,
        ).train(WordCounts(counts))

    return _with_merges(trained, len(symbols), checked_int("merges", merges, 0))


def byte_bpe(text: str, merges: int = 10, *, tie_break: TieBreak = "first") -> Tokenizer:
    """Byte pair encoding on the bytes of a text that is not split into words.

    Bytes have the ids 0 to 255, merges those from 256 on.

    Args:
        text: The text.
        merges: How many, or fewer if the text has become one token.
        tie_break: As for `bpe`.

    Raises:
        TrainingError: An empty text.

    Example:
        >>> from jeton.learn import textbook
        >>> textbook.byte_bpe("banana", merges=2).encode("banana")
        [257, 256, 97]
    """
    check_text("text", text)

    def trained(size: int) -> Tokenizer:
        return BPETrainer(
            size, pattern="none", tie_break=tie_break, byte_order="value", max_word_length=None
        ).train([text])

    return _with_merges(trained, 256, checked_int("merges", merges, 0))


def wordpiece(
    words: Words,
    merges: int = 10,
    *,
    rule: Literal["published", "released"] = "published",
    tie_break: TieBreak = "first",
) -> Tokenizer:
    """WordPiece on the characters of words, those inside a word marked `##`.

    Args:
        words: As for `bpe`.
        merges: How many tokens there are besides `[UNK]` and the characters.
        rule: The pair with the greatest freq(ab) / (freq(a)·freq(b)) is merged (`"published"`), or
            the most frequent one (`"released"`).
        tie_break: As for `bpe`.

    Raises:
        TrainingError: No words.

    Example:
        >>> from jeton.learn import textbook
        >>> tok = textbook.wordpiece(textbook.HUG_COUNTS, merges=2)
        >>> tok.tokens("hugs bugs bum")
        ['hu', '##gs', 'b', '##u', '##gs', '[UNK]']
    """
    counts = word_counts(words)
    symbols = {"[UNK]"} | {character for word in counts for character in word}
    symbols |= {"##" + character for word in counts for character in word[1:]}

    def trained(size: int) -> Tokenizer:
        return WordPieceTrainer(
            size,
            rule=rule,
            tie_break=tie_break,
            special_tokens=["[UNK]"],
            normalizer=normalizers.Sequence([]),
            pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
            max_word_length=None,
        ).train(WordCounts(counts))

    return _quietly(trained, len(symbols) + checked_int("merges", merges, 0))


def unigram(words: Words, size: int) -> Tokenizer:
    """Unigram on words, by expectation and maximization; a word begins with `▁`.

    Args:
        words: As for `bpe`.
        size: How many pieces there are, `<unk>` not counted; fewer if the words do not ask for so
            many.

    Raises:
        TrainingError: No words.

    Example:
        >>> from jeton.learn import textbook
        >>> tok = textbook.unigram(textbook.HUG_COUNTS, 11)
        >>> tok.tokens("pun hugs")
        ['▁pun', '▁hug', 's']
    """
    counts = word_counts(words)
    trainer = UnigramTrainer(
        checked_int("size", size, 1) + 1,
        style="huggingface",
        normalizer="identity",
        bos_id=None,
        eos_id=None,
        character_coverage=1.0,
        hard_vocab_limit=False,
    )
    spaced = {"▁" + word: count for word, count in counts.items()}
    return _quietly(lambda _: trainer.train(WordCounts(spaced)), size)


def substrings(words: Words) -> Tokenizer:
    """The Unigram that Hugging Face's course begins with: all substrings, by their shares.

    A substring of one character, or of more that two words have, is a piece; its probability is
    the share of its occurrences in those of all pieces.

    Args:
        words: As for `bpe`.

    Example:
        >>> from jeton.learn import textbook
        >>> tok = textbook.substrings(textbook.HUG_COUNTS)
        >>> tok.vocab_size - 1, tok.tokens("unhug")
        (15, ['un', 'hug'])
    """
    counts = word_counts(words)
    if not counts:
        raise TrainingError("there are no words to learn from")
    uses: dict[str, int] = {}
    for word, count in counts.items():
        for start in range(len(word)):
            for end in range(start + 1, len(word) + 1):
                uses[word[start:end]] = uses.get(word[start:end], 0) + count
    whole = {word for word in counts if sum(word in other for other in counts) == 1}
    vocabulary = {piece: uses[piece] for piece in uses if len(piece) == 1 or piece not in whole}
    total = sum(vocabulary.values())
    pieces = [(piece, math.log(number / total)) for piece, number in vocabulary.items()]
    return Tokenizer(
        models.Unigram([("<unk>", 0.0), *pieces], unk_id=0),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoders.Fuse(),
    )


def merges(tok: Tokenizer) -> list[tuple[str, str]]:
    """The merges of a BPE as pairs of strings, first to last.

    Raises:
        UnsupportedError: Another model. A WordPiece keeps its tokens, not the merges that made
            them: `jeton.learn.watch_wordpiece` gives those.

    Example:
        >>> from jeton.learn import textbook
        >>> textbook.merges(textbook.bpe("to be or not to be", merges=1))
        [('t', 'o')]
    """
    if not isinstance(tok.stages.model, models.BPE):
        kind = type(tok.stages.model).__name__
        text = "only a BPE keeps them"
        if isinstance(tok.stages.model, models.WordPiece):
            text = (
                "it keeps its tokens, and cuts a word by the longest match; how they were made, "
                "jeton.learn.watch_wordpiece(words, merges) tells"
            )
        raise UnsupportedError(f"a {kind} has no merges: {text}")
    return [(a.decode(errors="replace"), b.decode(errors="replace")) for a, b in tok.vocab.merges]


def word_counts(words: Words) -> dict[str, int]:
    """Words with their counts, in the order in which they first occur.

    Raises:
        ArgumentTypeError: The argument is not a text, texts, or words with counts.
        ArgumentError: A count below 1; a word that holds white space.

    Example:
        >>> from jeton.learn import textbook
        >>> textbook.word_counts("to be or not to be")
        {'to': 2, 'be': 2, 'or': 1, 'not': 1}
    """
    if isinstance(words, Mapping):
        counts = {}
        for word, count in words.items():
            if check_text("each of words", word).split() != [word]:
                raise ArgumentError(f"{word!r} is not a word: it is empty or holds white space")
            counts[word] = checked_int(f"the count of {word!r}", count, 1)
        return counts
    words = checked_iterable(
        "words",
        words,
        "a text, an iterable of texts, or a mapping from words to counts",
        but=(bytes,),
    )
    firsts: dict[str, int] = {}
    for text in [words] if isinstance(words, str) else words:
        for word in check_text("each of words", text).split():
            firsts[word] = firsts.get(word, 0) + 1
    return firsts


def _with_merges(trained: Callable[[int], Tokenizer], alphabet: int, vocab_size: int) -> Tokenizer:
    """The tokenizer with that many merges: two that make one token count once in a vocabulary."""
    for size in range(alphabet + vocab_size, alphabet, -1):
        tok = _quietly(trained, size)
        if len(tok.vocab.merges) <= vocab_size:
            return tok
    return _quietly(trained, alphabet)


def _quietly(trained: Callable[[int], Tokenizer], size: int) -> Tokenizer:
    """Trains without the warning that there are no more pairs to merge, which is allowed here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        return trained(size)
