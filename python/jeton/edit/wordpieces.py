"""Checks which tokens can be added to a WordPiece without making known words unknown.

Look here for why `extend` and `merge` leave a token out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


def loses_words(tokens: Iterable[str], prefix: str) -> Callable[[str], bool]:
    """Returns a function: whether a new token might make a word of these tokens unknown.

    The longest match comes first, so a new token may end in the middle of an old one, and then the
    rest of the old one needs tokens too. If each character in the middle of a word is a token, it
    always has them; otherwise a new token must not end with the beginning of a continuing token.
    """
    inside = [text.removeprefix(prefix) for text in tokens if text.startswith(prefix)]
    single = {text for text in inside if len(text) == 1}
    if all(single.issuperset(text[1:]) for text in inside):
        return lambda text: False
    beginnings = {text[:end] for text in inside for end in range(1, len(text))}

    def loses(text: str) -> bool:
        bare = text.removeprefix(prefix)
        return any(bare[start:] in beginnings for start in range(1, len(bare)))

    return loses
