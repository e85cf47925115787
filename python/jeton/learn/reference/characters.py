"""Characters as tokens: the smallest vocabulary there is.

Each distinct character of the training text is a token, and its id is its place in the order of
code points. A closed vocabulary knows these characters and no other; an open one has the id 0 for
every other.

    >>> vocab = train("hello world")
    >>> vocab
    {' ': 0, 'd': 1, 'e': 2, 'h': 3, 'l': 4, 'o': 5, 'r': 6, 'w': 7}
    >>> encode("hold", vocab)
    [3, 5, 4, 1]
    >>> decode([3, 5, 4, 1], vocab)
    'hold'

The known result: Tiny Shakespeare has 65 characters, so each of its 1,115,394 is one of 65 tokens.
"""

from __future__ import annotations


def train(text: str, unk_token: str | None = None) -> dict[str, int]:
    """The vocabulary of a text: the token for unknown characters, if there is one, then the text's.

    >>> train("abba", unk_token="<UNK>")
    {'<UNK>': 0, 'a': 1, 'b': 2}
    """
    first = [] if unk_token is None else [unk_token]
    return {token: id for id, token in enumerate(first + sorted(set(text)))}


def encode(text: str, vocab: dict[str, int], unk_id: int | None = None) -> list[int]:
    """The id of each character.

    >>> encode("cab", train("abba", "<UNK>"), unk_id=0)
    [0, 1, 2]
    >>> encode("cab", train("abba"))
    Traceback (most recent call last):
    ...
    ValueError: the character 'c' at position 0 is not in the vocabulary
    """
    ids = []
    for position, character in enumerate(text):
        id = vocab.get(character, unk_id)
        if id is None:
            raise ValueError(
                f"the character {character!r} at position {position} is not in the vocabulary"
            )
        ids.append(id)
    return ids


def decode(ids: list[int], vocab: dict[str, int]) -> str:
    """The characters of ids, one after another."""
    characters = {id: character for character, id in vocab.items()}
    return "".join(characters[id] for id in ids)
