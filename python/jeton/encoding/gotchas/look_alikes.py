"""Characters that look like others: letters of other scripts, full-width forms, ligatures,
quotes, spaces.

The letters are those that fonts draw alike: a selection, not Unicode's whole list of confusables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from jeton.encoding.gotchas.characters import unicode_name
from jeton.encoding.gotchas.gotcha import Check, GotchaSubject, Hit
from jeton.encoding.unicode import scripts

_LATIN: Final[Mapping[str, Mapping[str, str]]] = {
    "Cyrillic": dict(
        zip(
            "аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХЅІЈҮԌԚԜ",
            "aeopcyxijshdqwlABEKMHOPCTYXSIJYGQW",
            strict=True,
        )
    ),
    "Greek": dict(zip("οανυρικχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oavupikxcjABEZHIKMNOPTYX", strict=True)),
    "Armenian": dict(zip("օոսհՍ", "onuhU", strict=True)),
}
"""By script, letters that look like Latin ones."""

_BACK: Final = {
    script: {latin: letter for letter, latin in reversed([*letters.items()])}
    for script, letters in _LATIN.items()
}
_ANY: Final = "".join("".join(letters) for letters in _LATIN.values())
_ALIKE: Final = re.compile(f"[{_ANY}]")
_WORD: Final = re.compile(r"[^\W\d_]{1,64}")
_LATIN_WORD: Final = re.compile(r"[A-Za-z]{2}")

_FORMS: Final = re.compile("[\uff01-\uff5e\u24b6-\u24e9\U0001d400-\U0001d7ff\u2100-\u214f]+")

_LIGATURES: Final = re.compile("[\ufb00-\ufb06]+")

_TYPED: Final = {
    "‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "‐": "-", "‑": "-", "–": "-",
    "—": "-", "−": "-", "…": "...",
}  # fmt: skip
_SIGNS: Final = re.compile(f"[{''.join(_TYPED)}]")
_SPACES: Final = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")


def letters(subject: GotchaSubject) -> Iterator[Hit]:
    """Words in letters of two scripts, and words of nothing but look-alikes."""
    text = subject.text
    if not _ALIKE.search(text):
        return
    words = [(it.start(), it[0]) for it in _WORD.finditer(text) if not it[0].isascii()]
    of_words = {word: scripts(word) for word in dict.fromkeys(word for _, word in words)}
    # A text is written in a script if it has letters of it that do not look Latin.
    genuine = {
        script
        for word, script_of in of_words.items()
        for letter, script in zip(word, script_of, strict=True)
        if script in _LATIN and letter not in _LATIN[script]
    }
    has_latin = _LATIN_WORD.search(text) is not None
    for start, word in words:
        other = _other(word, of_words[word], genuine, has_latin)
        if other is None or other == word:
            continue
        strange = [at for at, letter in enumerate(word) if letter != other[at]]
        names = dict.fromkeys(unicode_name(word[at]) for at in strange)
        yield Hit(
            "look-alike",
            start,
            start + len(word),
            f"{', '.join([*names][:3])}{' …' * (len(names) > 3)}: it looks like "
            f"{other!r} but is another word.",
            "Write it in letters of one script, unless it is intended.",
            instead=other,
            keeps=True,
        )


def _other(word: str, script_of: list[str], genuine: set[str], has_latin: bool) -> str | None:
    """The word in one script; `None` if there is nothing to change."""
    here = {script for script in script_of if script in _LATIN}
    if len(here) != 1:
        return None
    [script] = here
    alike, back = _LATIN[script], _BACK[script]
    latin = [letter for letter, of in zip(word, script_of, strict=True) if of == "Latin"]
    own = [letter for letter, of in zip(word, script_of, strict=True) if of == script]
    if latin and any(letter not in alike for letter in own):
        # A word of that script, with Latin letters in it.
        if any(letter not in back for letter in latin):
            return None
        return "".join(back.get(letter, letter) for letter in word)
    if any(letter not in alike for letter in own):
        return None
    if latin or (script not in genuine and has_latin):
        return "".join(alike.get(letter, letter) for letter in word)
    return None


def forms(subject: GotchaSubject) -> Iterator[Hit]:
    """Full-width and mathematical letters and digits."""
    for match in _FORMS.finditer(subject.text):
        plain = unicodedata.normalize("NFKC", match[0])
        if plain.isascii() and len(plain) == len(match[0]) and re.search(r"[\w<>|\[\]{}]", plain):
            yield Hit(
                "full-width",
                *match.span(),
                f"{unicode_name(match[0][0])}{' …' * (len(plain) > 1)}: another form of "
                f"{plain!r:.40}.",
                "Normalize the text (NFKC), if the form does not matter.",
                instead=plain,
            )


def ligatures(subject: GotchaSubject) -> Iterator[Hit]:
    """Latin letters that are joined into one character, as in text from PDF files."""
    for match in _LIGATURES.finditer(subject.text):
        plain = unicodedata.normalize("NFKC", match[0])
        yield Hit(
            "ligature",
            *match.span(),
            f"{unicode_name(match[0][0])}: one character for {plain!r:.40}.",
            "Normalize the text (NFKC), or write the letters one by one.",
            instead=plain,
        )


def signs(subject: GotchaSubject) -> Iterator[Hit]:
    """Typographic quotes, dashes and dots."""
    for match in _SIGNS.finditer(subject.text):
        yield Hit(
            "typographic",
            *match.span(),
            f"{unicode_name(match[0])}, where a keyboard writes {_TYPED[match[0]]!r}.",
            "Write the plain sign in code, and in text to compare.",
            instead=_TYPED[match[0]],
        )


def spaces(subject: GotchaSubject) -> Iterator[Hit]:
    """Spaces that are not U+0020."""
    for match in _SPACES.finditer(subject.text):
        yield Hit(
            "odd-space",
            *match.span(),
            f"{unicode_name(match[0][0])}: it looks like a space.",
            "Write an ordinary space.",
            instead=" " * len(match[0]),
        )


CHECKS: Final[tuple[Check, ...]] = (letters, forms, ligatures, signs, spaces)
