"""Which tokens a WordPiece may get: a longer first match may leave a rest that nothing spells.

Look here for why `extend` and `merge` leave a token out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["loses_words"]


def loses_words(known: Iterable[str], prefix: str) -> Callable[[str], bool]:
    """Whether some word that the tokens spell might be unknown with a further one.

    The longest match comes first, so a new token may end in the middle of an old one, whose rest
    must be spelled then. Where each character in the middle of a token is a token itself, it
    always is; else a new token must not end in what a continuing token begins with.
    """
    inside = [text.removeprefix(prefix) for text in known if text.startswith(prefix)]
    single = {text for text in inside if len(text) == 1}
    if all(single.issuperset(text[1:]) for text in inside):
        return lambda text: False
    begun = {text[:end] for text in inside for end in range(1, len(text))}

    def loses(text: str) -> bool:
        bare = text.removeprefix(prefix)
        return any(bare[start:] in begun for start in range(1, len(bare)))

    return loses
