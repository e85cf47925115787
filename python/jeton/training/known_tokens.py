"""Tokens that are known before training: `special_tokens=` and `user_defined_symbols=`."""

from __future__ import annotations

from collections.abc import Iterable, Set

from jeton.arguments import check_text, checked_iterable
from jeton.components import AddedToken
from jeton.errors import ArgumentError, ArgumentTypeError

SpecialTokens = Iterable[str | AddedToken]
"""Special tokens by their spelling, and added tokens, which may be plain ones."""


def checked_tokens(
    special_tokens: SpecialTokens, user_defined_symbols: SpecialTokens = ()
) -> tuple[AddedToken, ...]:
    """The tokens of both, in order, without ids."""
    tokens = [
        *_checked("special_tokens", special_tokens, special=True),
        *_checked("user_defined_symbols", user_defined_symbols, special=False),
    ]
    seen = set()
    for token in tokens:
        if token.content in seen:
            raise ArgumentError(
                f"{token.content!r} is there twice among special_tokens and user_defined_symbols; "
                "name it once"
            )
        seen.add(token.content)
    return tuple(tokens)


def _checked(name: str, tokens: object, *, special: bool) -> list[AddedToken]:
    tokens = checked_iterable(name, tokens, "an iterable of str", but=(str, bytes, AddedToken))
    if isinstance(tokens, Set):
        raise ArgumentTypeError(f"{name} is a set, which has no order for ids; give a list")
    return [_token(name, token, special=special) for token in tokens]


def _token(name: str, token: object, *, special: bool) -> AddedToken:
    if not isinstance(token, AddedToken):
        text = check_text(f"each of {name}", token)
        if not text:
            raise ArgumentError(f"{name} holds an empty string; a token is found by its spelling")
        return AddedToken(text, special=special)
    if token.id is not None:
        raise ArgumentError(
            f"{name}: training gives {token.content!r} its id; leave out id={token.id}"
        )
    if token.special and not special:
        raise ArgumentError(
            f"{name}: {token.content!r} is special; name it in special_tokens instead"
        )
    return token


def plain_texts(tokens: Iterable[AddedToken]) -> list[str]:
    """The spellings of tokens, for a format that stores only these."""
    texts = []
    for token in tokens:
        for flag in ("single_word", "lstrip", "rstrip"):
            if getattr(token, flag):
                raise ArgumentError(
                    f"{token.content!r} has {flag}, which a SentencePiece model cannot hold; leave "
                    "it out"
                )
        texts.append(token.content)
    return texts


def shown(tokens: Iterable[AddedToken]) -> list[str | AddedToken]:
    """The tokens as `special_tokens` may hold them: those with usual flags by their spelling."""
    return [
        token.content if token == AddedToken(token.content, special=True) else token
        for token in tokens
    ]
