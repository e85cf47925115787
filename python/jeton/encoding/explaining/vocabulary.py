"""What a model finds in its vocabulary: all tokens, but no special one of text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jeton.encoding.explaining.steps import Token

__all__ = ["ModelTokens"]


class ModelTokens:
    """The tokens of a model.

    Args:
        vocab: Tokens with their ids.
        withheld: The ids of special tokens, which the model never finds in text.
    """

    def __init__(self, vocab: Mapping[bytes, int], withheld: Collection[int]) -> None:
        self.vocab = vocab
        self.withheld = withheld

    def text(self, token: bytes) -> Token | None:
        """The token that a text of this spelling may become."""
        id = self.vocab.get(token)
        return None if id is None or id in self.withheld else Token(id, token)

    def named(self, token: str) -> Token:
        """The token that stands for something, such as unknown text; special or not."""
        return Token(self.vocab[token.encode()], token.encode())

    def byte_tokens(self, text: bytes) -> list[Token] | None:
        """The tokens of bytes that write `text`; nothing if one is missing."""
        tokens = []
        for byte in text:
            spelled = f"<0x{byte:02X}>".encode()
            if spelled not in self.vocab:
                return None
            tokens.append(Token(self.vocab[spelled], spelled))
        return tokens
