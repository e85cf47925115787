"""Attacks: thousands of texts that might give a token, tried before it is called unreached.

Look here for the contexts that a token is put into, for how parts of characters are completed, and
for the words that a token continues. To try only the token's own text would not be enough: a token
that needs the other half of a character, or a letter in front of it, would seem unreachable.
`unreachable_tokens.py` says what is proved and what is only tried.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from jeton import samples
from jeton.analysis.health.spellings import text_or_none
from jeton.analysis.health.subject import Subject

_NEAR: Final = ("", " ", "\n", "a", "1", ".", "é")
_FAR: Final = (
    "", " ", "  ", "\n", "\t", "\r\n", "a", "A", "aa",
    "Aa", "1", "11", "111", ".", ",", "'", '"',
    "-", "_", "/", "(", ")", "<", ">", "#", "é", "É", "中", "あ", "한", "ア", "я", "Я", "α",
    "ا", "א", "अ", "ก", "\u0301", "\u200d", "🙂", "\u00a0", "\u3000",
    "½", "²", "€", "'s", " a", "a ", ". ", "s", "S", "t",
    "T", "m", "d", "re", "RE", "ve", "ll", "LL", "ſ",
)  # fmt: skip
"""Contexts of a token: a character of each kind that patterns distinguish."""

_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf]")
"""The first bytes of a surrogate, which UTF-8 never has."""

_PER_TOKEN: Final = 4_000
"""Maximum number of completions that are tried for a part of a character."""
_FEW: Final = 300
"""Number of completions that are tried first."""

_MOST: Final = 400
"""Maximum number of tokens without a proof that are tried in all contexts."""

_AT_A_TIME: Final = 2_000
"""Number of tokens whose texts are in memory at a time."""


class Attack:
    """Looks for texts that give certain tokens.

    Attributes:
        reached: The ids that some text has given so far.
        tried: The number of texts that were tried for each id.
    """

    def __init__(self, subject: Subject, reached: Iterable[int] = ()) -> None:
        self.subject = subject
        self.reached = set(reached)
        self.tried: dict[int, int] = {}

    def run(self, is_proved: Callable[[int], bool], example_of: Callable[[int], str]) -> list[int]:
        """The ordinary tokens that no text gave.

        Args:
            is_proved: Returns whether a proof shows that no text gives the token. It is called
                after the likely texts have failed, to save trying all the others.
            example_of: Returns the text that the report shows for the token; it is tried too.
        """
        subject = self.subject
        ids = subject.ordinary
        lines = [line for text in samples.read_all().values() for line in text.splitlines()]
        self._saw(subject.encode(lines).ids)
        self._saw(subject.alone_again.ids)
        self._count(ids)
        for texts in (self._apart, self._continuing, self._near):
            self._try(self.open_ids(ids), texts)
        failed = self.open_ids(ids)
        open_ = [id for id in failed if not is_proved(id)]
        for texts in (self._unblocked, self._far):
            self._try([id for id in open_ if id not in self.reached][:_MOST], texts)
        self._try(self.open_ids(ids), lambda id: [example_of(id)])
        return self.open_ids(ids)

    def _try(self, ids: Sequence[int], texts: Callable[[int], Iterable[str]]) -> None:
        for at in range(0, len(ids), _AT_A_TIME):
            some = ids[at : at + _AT_A_TIME]
            self.texts([(id, text) for id in some for text in texts(id)])

    def open_ids(self, ids: npt.NDArray[np.int64]) -> list[int]:
        """The ids among `ids` that no text has given yet."""
        return [id for id in ids.tolist() if id not in self.reached]

    def texts(self, pairs: Sequence[tuple[int, str]]) -> None:
        """Tries texts for tokens."""
        rows = self.subject.encode([text for _, text in pairs])
        self._saw(rows.ids)
        self._count(np.fromiter((id for id, _ in pairs), np.int64, len(pairs)))

    def _saw(self, ids: npt.NDArray[np.uint32]) -> None:
        self.reached.update(np.unique(ids).tolist())

    def _count(self, ids: npt.NDArray[np.int64]) -> None:
        for id, number in zip(
            *(row.tolist() for row in np.unique(ids, return_counts=True)), strict=True
        ):
            self.tried[id] = self.tried.get(id, 0) + number

    def _forms(self, id: int) -> list[str]:
        """The texts that may give a token."""
        subject = self.subject
        spelled = text_or_none(subject.tokens[id])
        decoded = text_or_none(subject.tok.vocab.token_bytes(id))
        forms = [subject.texts[id], decoded, spelled]
        if spelled is not None:
            forms.append(spelled.replace("▁", " "))
        forms += self._before_normalizer(subject.texts[id])
        return list(dict.fromkeys(text for text in forms if text))

    def _before_normalizer(self, text: str | None) -> Iterator[str]:
        """Other texts that the normalizer turns into `text`, if it does not keep `text` itself."""
        normalizer = self.subject.tok.stages.normalizer
        if not text or normalizer is None:
            return
        is_cut_out = any(token.content in text for token in self.subject.added.values())
        if is_cut_out or text not in normalizer(text):
            for other in (unicodedata.normalize("NFC", text), text.upper()):
                if other != text and normalizer(other) == text:
                    yield other

    def _apart(self, id: int) -> Iterator[str]:
        stranger = self.subject.stranger
        if stranger is not None:
            for text in self._forms(id):
                yield stranger + text + stranger

    def _near(self, id: int) -> Iterator[str]:
        yield from itertools.islice(self._completed(id), _FEW)
        yield from self._within(id, _NEAR)

    def _far(self, id: int) -> Iterator[str]:
        yield from itertools.islice(self._completed(id), _PER_TOKEN)
        yield from self._within(id, _FAR)

    def _completed(self, id: int) -> Iterator[str]:
        is_text = self.subject.texts[id] is not None
        return iter(()) if is_text else completions(self.subject.surfaces[id])

    def _within(self, id: int, around: Sequence[str]) -> Iterator[str]:
        for text in self._forms(id):
            for first, second in itertools.product(around, repeat=2):
                yield first + text + second

    def _continuing(self, id: int) -> Iterator[str]:
        """Words that end with the token."""
        rest = continued(self.subject, id)
        if rest is None:
            return
        yield from (word + rest for word in self._words)

    def _unblocked(self, id: int) -> Iterator[str]:
        """Words in which the longest match ends exactly where the token begins."""
        rest = continued(self.subject, id)
        if rest is None:
            return
        first, inside = words(self.subject)
        yield from (word + rest for word in sorted(unblocked(first, rest))[:_PER_TOKEN])
        for word in sorted(unblocked(inside, rest))[: _PER_TOKEN // 10]:
            yield from (start + word + rest for start in self._words[:4])

    @functools.cached_property
    def _words(self) -> list[str]:
        """Some tokens that begin words: the shortest ones, and some of all lengths."""
        whole = [word for word in words(self.subject)[0] if word.isalnum()]
        whole.sort(key=lambda word: (len(word), word))
        return whole[:8] + whole[8 :: max(1, len(whole) // 24)]


def continued(subject: Subject, id: int) -> str | None:
    """The text of a token that continues a word, as its mark shows; `None` for other tokens."""
    prefix = subject.spelling.prefix.encode()
    token = subject.tokens[id]
    if not prefix or token == prefix or not token.startswith(prefix):
        return None
    return subject.texts[id]


def words(subject: Subject) -> tuple[list[str], list[str]]:
    """The ordinary tokens that begin words, and those that continue them."""
    first, inside = [], []
    for id in subject.ordinary.tolist():
        rest = continued(subject, id)
        if rest is not None:
            inside.append(rest)
        elif (text := subject.texts[id]) is not None:
            first.append(text)
    return first, inside


def unblocked(tokens: Collection[str], rest: str) -> set[str]:
    """The tokens after which a longest match ends if `rest` follows.

    >>> sorted(unblocked({"a", "b", "ab", "abc"}, "c")), sorted(unblocked({"a", "b", "ab"}, "b"))
    (['a', 'abc', 'b'], ['ab', 'b'])
    """
    blocked = {
        token[:-end]
        for end in range(1, len(rest) + 1)
        for token in tokens
        if token.endswith(rest[:end])
    }
    return set(tokens) - blocked


def is_part_of_utf8(data: bytes) -> bool:
    """Whether some text has these bytes in its UTF-8.

    >>> is_part_of_utf8(b"\\xa9 x\\xe4\\xb8"), is_part_of_utf8(b"\\xff")
    (True, False)
    """
    body = data.lstrip(bytes(range(0x80, 0xC0)))
    if len(data) - len(body) > 3 or _SURROGATE.search(data):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def completions(data: bytes) -> Iterator[str]:
    """Texts whose UTF-8 has `data`, which begins or ends inside a character; simplest first."""
    lefts, rights = list(_before(data)), list(_after(data))
    # A diagonal order: both ends vary early.
    for total in range(len(lefts) + len(rights) - 1):
        for at in range(max(0, total - len(rights) + 1), min(total + 1, len(lefts))):
            text = text_or_none(lefts[at] + data + rights[total - at])
            if text is not None:
                yield text
                yield f" {text}"
                yield f"a{text}"


def _before(data: bytes) -> Iterator[bytes]:
    """Bytes that may precede `data`, so that a character begins with the first of them."""
    inside = len(data) - len(data.lstrip(bytes(range(0x80, 0xC0))))
    if not inside:
        yield b""
        return
    conts = (0x80, 0x90, 0xA0, 0xB8, 0xBF, 0x84, 0x98, 0xAC)
    if inside == 1:
        yield from (bytes([lead]) for lead in range(0xC2, 0xE0))
    if inside <= 2:
        middles = [b""] if inside == 2 else [bytes([c]) for c in range(0x80, 0xC0)]
        yield from (bytes([lead]) + m for m in middles for lead in range(0xE0, 0xF0))
    middles = {
        3: [b""],
        2: [bytes([c]) for c in range(0x80, 0xC0)],
        1: [bytes([a, b]) for a in conts for b in conts],
    }.get(inside, [])
    yield from (bytes([lead]) + m for m in middles for lead in range(0xF0, 0xF5))


def _after(data: bytes) -> Iterator[bytes]:
    """Bytes that may follow `data`, so that a character ends with the last of them."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data.lstrip(bytes(range(0x80, 0xC0))))
    except UnicodeDecodeError:
        return
    fragment = decoder.getstate()[0]
    if not fragment:
        yield b""
        return
    missing = (2 if fragment[0] < 0xE0 else 3 if fragment[0] < 0xF0 else 4) - len(fragment)
    rest = [bytes([c]) for c in range(0x80, 0xC0)]
    some = [bytes([c]) for c in (0x80, 0x99, 0xA6, 0xBF)]
    for parts in itertools.product(rest, *[some] * (missing - 1)):
        yield b"".join(parts)
