"""Trains tokenizers with one token per character."""

from __future__ import annotations

import jeton._core as _core
from jeton.arguments import check_text, names_checked
from jeton.components import decoders, models, pre_tokenizers
from jeton.corpora.corpus import text_or_data
from jeton.corpora.counting import COUNTS_NEED, Counting, Reading, first_stages
from jeton.corpora.word_counts import Corpus, WordCounts
from jeton.errors import ArgumentError, TrainingError
from jeton.tokenizer import Tokenizer
from jeton.training.known_tokens import SpecialTokens, checked_tokens, shown
from jeton.training.trainer import CoreWatch, Trainer


class CharTrainer(Trainer):
    """Trains a tokenizer with one token per character.

    `train` takes a text itself, or a corpus; give the path of a file as a `pathlib.Path`.

    The alphabet is the distinct characters of the training text, in the order of code points. It
    is closed: an unseen character is an error that names it and its position. With `unk_token` it
    is open: that token has id 0, and every unseen character is encoded to it.

    Args:
        unk_token: The token for unseen characters; `None` for a closed alphabet.
        special_tokens: As for `BPETrainer`; their ids come after those of the characters.
        user_defined_symbols: As for `BPETrainer`.

    Raises:
        ArgumentError: A parameter has an invalid value; the message names it.

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
    def __init__(
        self,
        *,
        unk_token: str | None = None,
        special_tokens: SpecialTokens = (),
        user_defined_symbols: SpecialTokens = (),
    ) -> None:
        self.unk_token = None if unk_token is None else check_text("unk_token", unk_token)
        if unk_token == "":
            raise ArgumentError("unk_token: a token must not be empty")
        self.known_tokens = checked_tokens(special_tokens, user_defined_symbols)

    def _check_words(self, counts: _core.WordCounts) -> None:
        if not len(counts) and self.unk_token is None:
            raise TrainingError("the text has no characters, but a closed alphabet needs one")

    def _train(self, counts: _core.WordCounts, watch: CoreWatch | None) -> Tokenizer:
        characters = {character for word in WordCounts.of_core(counts) for character in word}
        unseen = () if self.unk_token is None else (self.unk_token,)
        alphabet = [*unseen, *sorted(characters.difference(unseen))]
        model = models.Characters(
            {token: id for id, token in enumerate(alphabet)},
            unk_id=None if self.unk_token is None else 0,
        )
        return Tokenizer(
            model,
            decoder=decoders.Fuse(),
            added_tokens=self.known_tokens,
        )

    def _counts(self, data: Corpus, reading: Reading) -> _core.WordCounts:
        return super()._counts(text_or_data(data), reading)

    def _counting(self) -> Counting:
        return Counting(first_stages(None, pre_tokenizers.FixedLength(1), ()), COUNTS_NEED)

    def _essentials(self) -> dict[str, object]:
        return {"unk_token": self.unk_token, "special_tokens": shown(self.known_tokens)}
