"""Trainers: from text to a tokenizer. Parameters go to the constructor, data to `train`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from jeton.components import AddedToken, decoders, models
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, MissingFileError
from jeton.tokenizer import Tokenizer

__all__ = ["CharTrainer"]


class CharTrainer:
    """Trains a tokenizer with one token a character.

    The alphabet is the distinct characters of the training text, in the order of code points. It
    is closed: a character that was not seen is an error that names it and its place. With
    `unk_token` it is open: that token has id 0, and stands for every character that was not seen.

    Args:
        unk_token: What stands for unseen characters; `None` for a closed alphabet.
        special_tokens: Special tokens; their ids come after the characters'.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("hello world")
        >>> tok.encode("hold")
        [3, 5, 4, 1]
        >>> tok.encode("help!")
        Traceback (most recent call last):
        ...
        jeton.errors.EncodeError: ...
        >>> tok = jeton.CharTrainer(unk_token="<UNK>").train("hello world")
        >>> tok.encode("help!")
        [4, 3, 5, 0, 0]
    """

    def __init__(
        self, *, unk_token: str | None = None, special_tokens: Iterable[str] = ()
    ) -> None:
        if unk_token is not None and not isinstance(unk_token, str):
            raise ArgumentTypeError(
                f"unk_token must be a str or None, not {type(unk_token).__name__}"
            )
        if isinstance(special_tokens, str):
            raise ArgumentTypeError("special_tokens must be an iterable of str, not one str")
        self.unk_token = unk_token
        self.special_tokens = tuple(special_tokens)
        for token in self.special_tokens:
            if not isinstance(token, str):
                raise ArgumentTypeError(
                    f"each of special_tokens must be a str, not {type(token).__name__}"
                )
        if unk_token == "" or "" in self.special_tokens:
            raise ArgumentError("a token must not be empty")

    def train(self, data: str | os.PathLike[str] | Iterable[str]) -> Tokenizer:
        """The tokenizer of the characters of a text.

        Args:
            data: The text itself, or texts one after another; or the path of a file of UTF-8, as
                a `pathlib.Path` (a `str` is always a text).

        Raises:
            MissingFileError: There is no such file.
            TrainingError: No characters at all, and no `unk_token`.
        """
        characters: set[str] = set()
        for text in _texts(data):
            characters.update(text)
        unseen = () if self.unk_token is None else (self.unk_token,)
        alphabet = [*unseen, *sorted(characters)]
        model = models.Characters(
            {token: id for id, token in enumerate(alphabet)},
            unk_id=None if self.unk_token is None else 0,
        )
        return Tokenizer(
            model,
            decoder=decoders.Fuse(),
            added_tokens=[AddedToken(token, special=True) for token in self.special_tokens],
        )

    def __repr__(self) -> str:
        return f"CharTrainer(unk_token={self.unk_token!r}, special_tokens={self.special_tokens!r})"


def _texts(data: str | os.PathLike[str] | Iterable[str]) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, os.PathLike):
        try:
            with open(data, encoding="utf-8") as file:
                yield from file
        except FileNotFoundError:
            raise MissingFileError(f"there is no file {os.fspath(data)!r}") from None
        except UnicodeDecodeError as error:
            raise EncodeError(f"{os.fspath(data)!r} is not UTF-8: {error}") from None
    elif isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise ArgumentTypeError(
            f"data must be a text, an iterable of texts or a path, not {type(data).__name__}"
        )
    else:
        for number, text in enumerate(data):
            if not isinstance(text, str):
                raise ArgumentTypeError(
                    f"text {number} of data must be a str, not {type(text).__name__}"
                )
            yield text
