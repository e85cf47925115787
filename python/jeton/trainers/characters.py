"""Trains tokenizers with one token a character."""

from __future__ import annotations

import os
from collections.abc import Iterable

from jeton.components import AddedToken, decoders, models
from jeton.corpus import texts_or_text
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError
from jeton.tokenizer import Tokenizer
from jeton.trainers._base import checked_special_tokens

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

    def __init__(self, *, unk_token: str | None = None, special_tokens: Iterable[str] = ()) -> None:
        if unk_token is not None and not isinstance(unk_token, str):
            raise ArgumentTypeError(
                f"unk_token must be a str or None, not {type(unk_token).__name__}"
            )
        self.unk_token = unk_token
        self.special_tokens = checked_special_tokens(special_tokens)
        if unk_token == "" or "" in self.special_tokens:
            raise ArgumentError("a token must not be empty")

    def train(self, data: str | os.PathLike[str] | Iterable[str]) -> Tokenizer:
        """The tokenizer of the characters of a text.

        Args:
            data: The text itself, or an iterable of texts; or the path of a file of UTF-8, as a
                `pathlib.Path`.

        Raises:
            ArgumentError: A `str` that is the path of a file: say which you mean.
            MissingFileError: There is no such file.
            TrainingError: No characters at all, and no `unk_token`.
        """
        characters: set[str] = set()
        for text in texts_or_text(data):
            characters.update(text)
        if not characters and self.unk_token is None:
            raise TrainingError("the text has no characters, and a closed alphabet needs one")
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
