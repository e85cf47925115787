"""WordPiece, words and characters, explained: the look-ups and their results."""

from __future__ import annotations

from jeton.components import models
from jeton.encoding.explaining.steps import LongestMatch, LookUp, Match, Token, Unit
from jeton.encoding.explaining.vocabulary import ModelTokens

__all__ = ["ByCharacters", "ByLongestMatch", "ByLongestToken", "ByWords"]

_SHOWN = 100
"""In words of more characters, candidates that are longer than any token are not listed."""


class ByLongestMatch:
    """WordPiece: the longest token that the rest of a word begins with."""

    def __init__(self, model: models.WordPiece, tokens: ModelTokens) -> None:
        self.model = model
        self.tokens = tokens
        self.longest = max(
            (len(token.decode(errors="replace")) for token in tokens.vocab), default=0
        )

    def explain(self, text: str, span: tuple[int, int]) -> LongestMatch:
        """The look-ups of a word."""
        unknown = self.model.unk_token
        if len(text) > self.model.max_input_chars_per_word:
            return LongestMatch(text, span, (self.tokens.named(unknown),), (), too_long=True)
        matches: list[Match] = []
        start = 0
        while start < len(text):
            match = self._match(text, start)
            matches.append(match)
            if match.token is None:
                return LongestMatch(text, span, (self.tokens.named(unknown),), tuple(matches))
            start += len(match.tried[-1]) - (len(self._prefix) if start else 0)
        tokens = tuple(match.token for match in matches if match.token is not None)
        return LongestMatch(text, span, tokens, tuple(matches))

    @property
    def _prefix(self) -> str:
        return self.model.continuing_subword_prefix

    def _match(self, text: str, start: int) -> Match:
        prefix = self._prefix if start else ""
        end = len(text) if len(text) <= _SHOWN else min(len(text), start + self.longest)
        candidates = []
        for stop in range(end, start, -1):
            candidates.append(prefix + text[start:stop])
            token = self.tokens.text(candidates[-1].encode())
            if token is not None:
                return Match(start, tuple(candidates), token)
        return Match(start, tuple(candidates), None)


class ByWords:
    """Whole words: a piece is one token, or unknown."""

    def __init__(self, model: models.WordLevel, tokens: ModelTokens) -> None:
        self.model = model
        self.tokens = tokens

    def explain(self, text: str, span: tuple[int, int]) -> LookUp:
        """The look-ups of a word."""
        token = self.tokens.text(text.encode())
        if token is not None:
            return LookUp(text, span, (token,), (Unit(token.token, (token,), "known"),))
        unknown = self.tokens.named(self.model.unk_token)
        return LookUp(text, span, (unknown,), (Unit(text.encode(), (unknown,), "unknown"),))


class ByLongestToken:
    """The longest token of bytes at each position."""

    def __init__(self, tokens: ModelTokens) -> None:
        self.tokens = tokens
        self.longest = max(map(len, tokens.vocab), default=0)

    def explain(self, text: str, span: tuple[int, int]) -> LookUp:
        """The look-ups of a text."""
        data, units, start = text.encode(), [], 0
        while start < len(data):
            ends = range(min(len(data), start + self.longest), start, -1)
            candidates = ((end, self.tokens.text(data[start:end])) for end in ends)
            # Encoding has succeeded, so there is one.
            end, token = next((end, token) for end, token in candidates if token is not None)
            units.append(Unit(data[start:end], (token,), "known"))
            start = end
        return LookUp(
            text, span, tuple(token for unit in units for token in unit.tokens), tuple(units)
        )


class ByCharacters:
    """One token per character."""

    def __init__(self, model: models.Characters, tokens: ModelTokens) -> None:
        self.tokens = tokens
        self.unknown: Token | None = None
        if model.unk_id is not None:
            name = next(token for token, id in tokens.vocab.items() if id == model.unk_id)
            self.unknown = Token(model.unk_id, name)

    def explain(self, text: str, span: tuple[int, int]) -> LookUp:
        """The look-ups of a text."""
        units = []
        for character in map(str.encode, text):
            token = self.tokens.text(character)
            if token is not None:
                units.append(Unit(character, (token,), "known"))
            else:
                assert self.unknown is not None  # encoding has succeeded, so there is one
                units.append(Unit(character, (self.unknown,), "unknown"))
        tokens = tuple(token for unit in units for token in unit.tokens)
        return LookUp(text, span, tokens, tuple(units))
