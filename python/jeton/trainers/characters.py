"""Trains tokenizers with one token a character."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

from jeton import _core
from jeton.arguments import check_text, checked_texts, names_checked
from jeton.components import AddedToken, decoders, models, pre_tokenizers
from jeton.corpus import Progress, text_or_data
from jeton.counting import COUNTS_NEED, Counting, Reading, first_stages
from jeton.errors import ArgumentError, TrainingError
from jeton.tokenizer import Tokenizer
from jeton.trainers.trainer import Trainer
from jeton.word_counts import Corpus, WordCounts

__all__ = ["CharTrainer"]


class CharTrainer(Trainer):
    """Trains a tokenizer with one token a character.

    The alphabet is the distinct characters of the training text, in the order of code points. It
    is closed: a character that was not seen is an error that names it and its place. With
    `unk_token` it is open: that token has id 0, and stands for every character that was not seen.

    Args:
        unk_token: What stands for unseen characters; `None` for a closed alphabet.
        special_tokens: Special tokens; their ids come after the characters'.

    Raises:
        ArgumentError: A parameter that makes no sense, by name.

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

    @names_checked
    def __init__(self, *, unk_token: str | None = None, special_tokens: Iterable[str] = ()) -> None:
        self.unk_token = None if unk_token is None else check_text("unk_token", unk_token)
        self.special_tokens = checked_texts("special_tokens", special_tokens)
        for name, tokens in {
            "unk_token": [unk_token],
            "special_tokens": self.special_tokens,
        }.items():
            if "" in tokens:
                raise ArgumentError(f"{name}: a token must not be empty")
        for at, token in enumerate(self.special_tokens):
            if token in self.special_tokens[:at]:
                raise ArgumentError(f"special_tokens holds {token!r} twice; name each once")

    @names_checked
    def train(
        self,
        data: Corpus,
        *,
        field: str | None = None,
        errors: Literal["strict", "replace", "ignore"] = "strict",
        memory: int | str | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> Tokenizer:
        """The tokenizer of the characters of a text, or of a corpus.

        Args:
            data: The text itself; or as for `BPETrainer.train`, but that a path or a pattern of
                paths is given as a `pathlib.Path`.
            field: As for `BPETrainer.train`.
            errors: As for `BPETrainer.train`.
            memory: As for `BPETrainer.train`.
            temp_dir: As for `BPETrainer.train`.
            watch: As for `BPETrainer.train`.

        Raises:
            ArgumentError: A `str` that is the path of a file: say which you mean. `WordCounts` of
                something else than characters.
            MissingFileError: There is no such file.
            FormatError: A file that is not UTF-8, or lacks the field.
            TrainingError: No characters at all, and no `unk_token`.

        Example:
            >>> import jeton
            >>> jeton.CharTrainer().train(["to be", "or not"]).encode("robot")
            [5, 4, 1, 4, 6]
        """
        reading = Reading(field=field, errors=errors, memory=memory, temp_dir=temp_dir, watch=watch)
        counts = WordCounts.of_core(self._counts(data, reading))
        characters = {character for word in counts for character in word}
        if not characters and self.unk_token is None:
            raise TrainingError("the text has no characters, and a closed alphabet needs one")
        unseen = () if self.unk_token is None else (self.unk_token,)
        alphabet = [*unseen, *sorted(characters.difference(unseen))]
        model = models.Characters(
            {token: id for id, token in enumerate(alphabet)},
            unk_id=None if self.unk_token is None else 0,
        )
        return Tokenizer(
            model,
            decoder=decoders.Fuse(),
            added_tokens=[AddedToken(token, special=True) for token in self.special_tokens],
        )

    def _counts(self, data: Corpus, reading: Reading) -> _core.WordCounts:
        return super()._counts(text_or_data(data), reading)

    def _counting(self) -> Counting:
        return Counting(first_stages(None, pre_tokenizers.FixedLength(1), ()), COUNTS_NEED)

    def _essentials(self) -> dict[str, Any]:
        return {"unk_token": self.unk_token, "special_tokens": list(self.special_tokens)}
