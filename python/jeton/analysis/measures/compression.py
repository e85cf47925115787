"""How much text a token holds: bytes, characters and words per token."""

from __future__ import annotations

from jeton.analysis.values import Value


def bytes_per_token(size: int, tokens: int) -> Value:
    """Bytes of UTF-8 divided by tokens; of two corpora, the sums are divided.

    Unit: bytes per token. Source: the compression rate of Rust et al., "How Good is Your
    Tokenizer?" (ACL 2021), and of most reports since, by bytes so that scripts compare.

    Example:
        "low lower" has 9 bytes; as `low`, ` low`, `er` it has 3 tokens: 9 / 3.

        >>> bytes_per_token(9, 3).value
        3.0
    """
    return Value.ratio(size, tokens, "bytes/token", "bytes of all texts / tokens of all texts")


def characters_per_token(characters: int, tokens: int) -> Value:
    """Code points divided by tokens; of two corpora, the sums are divided.

    Unit: characters per token. Source: as `bytes_per_token`.

    Example:
        "père" has 4 characters (5 bytes); as `p`, `ère` it has 2 tokens: 4 / 2.

        >>> characters_per_token(4, 2).value
        2.0
    """
    return Value.ratio(
        characters, tokens, "characters/token", "code points of all texts / tokens of all texts"
    )


def words_per_token(words: int, tokens: int) -> Value:
    """Words divided by the tokens of the text, white space and punctuation included.

    Unit: words per token. Source: the inverse of tokens per word in running text; words by UAX #29.

    Example:
        "low, lower" has 2 words; as `low`, `,`, ` low`, `er` it has 4 tokens: 2 / 4.

        >>> words_per_token(2, 4).value
        0.5
    """
    return Value.ratio(words, tokens, "words/token", "words of all texts / tokens of all texts")
