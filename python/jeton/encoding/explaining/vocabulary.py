"""The tokens that a model finds in text: all of its vocabulary except special tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jeton.encoding.explaining.steps import Token

__all__ = ["ModelTokens"]


class ModelTokens:
    """The tokens of a model.

    Args:
        vocab: Tokens with their ids.
        withheld: The ids of special tokens, which the model must not find in text.
    """

    def __init__(self, vocab: Mapping[bytes, int], withheld: Collection[int]) -> None:
        self.vocab = vocab
        self.withheld = withheld

    def text(self, token: bytes) -> Token | None:
        """The token with this spelling, unless it is a special one."""
        id = self.vocab.get(token)
        return None if id is None or id in self.withheld else Token(id, token)

    def named(self, token: str) -> Token:
        """A token by its name, such as the unknown token; it may be a special one."""
        return Token(self.vocab[token.encode()], token.encode())

    def byte_tokens(self, text: bytes) -> list[Token] | None:
        """The byte tokens (`<0xNN>`) that spell `text`; `None` if one is missing."""
        tokens = []
        for byte in text:
            spelling = f"<0x{byte:02X}>".encode()
            if spelling not in self.vocab:
                return None
            tokens.append(Token(self.vocab[spelling], spelling))
        return tokens
