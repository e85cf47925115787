"""Text that tokenizers get wrong: every script, every white space, runs, broken sequences.

Look here for the strings that the parity suites feed to us and to the libraries we must equal.
Everything is drawn from a seed, so a failure can be drawn again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

__all__ = ["byte_strings", "strings"]

#: First and last code point of blocks that split patterns, normalizers or scripts treat apart.
BLOCKS: Sequence[tuple[int, int]] = (
    (0x0000, 0x001F),  # controls
    (0x0020, 0x007E),  # printable ASCII
    (0x007F, 0x00A0),  # C1 controls, NEL, no-break space
    (0x00A1, 0x00FF),  # Latin-1: the printable byte alphabet lives here
    (0x0100, 0x017F),  # Latin Extended-A: the rest of it
    (0x0180, 0x02AF),
    (0x02B0, 0x036F),  # modifiers, combining marks
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x052F),  # Cyrillic
    (0x0530, 0x058F),  # Armenian
    (0x0590, 0x05FF),  # Hebrew
    (0x0600, 0x06FF),  # Arabic
    (0x0700, 0x08FF),
    (0x0900, 0x097F),  # Devanagari
    (0x0980, 0x0DFF),  # other Indic scripts
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0FFF),  # Lao, Tibetan
    (0x1000, 0x10FF),  # Myanmar, Georgian
    (0x1100, 0x11FF),  # Hangul jamo
    (0x1200, 0x18AF),
    (0x1D00, 0x1DFF),  # phonetic extensions, more combining marks
    (0x1E00, 0x1FFF),  # Latin additional, Greek extended
    (0x2000, 0x206F),  # general punctuation: spaces, joiners, directions
    (0x2070, 0x209F),  # super- and subscripts
    (0x20A0, 0x20FF),  # currency, combining for symbols
    (0x2100, 0x218F),  # letter-like, number forms
    (0x2190, 0x25FF),  # arrows, boxes, the meta space
    (0x2600, 0x27BF),  # symbols, dingbats
    (0x2C00, 0x2DFF),
    (0x2E80, 0x2FDF),  # radicals
    (0x3000, 0x303F),  # CJK punctuation, ideographic space
    (0x3040, 0x30FF),  # kana
    (0x3100, 0x33FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),  # CJK
    (0xA000, 0xABFF),
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xD7B0, 0xD7FF),
    (0xE000, 0xE0FF),  # private use
    (0xF900, 0xFAFF),  # compatibility ideographs
    (0xFB00, 0xFDFF),  # ligatures, Arabic presentation forms
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFE10, 0xFEFF),
    (0xFF00, 0xFFEF),  # half and full width
    (0xFFF0, 0xFFFF),  # specials and non-characters
    (0x10000, 0x101FF),
    (0x10330, 0x104FF),
    (0x10800, 0x10FFF),
    (0x11000, 0x11FFF),
    (0x12000, 0x123FF),
    (0x16800, 0x16FFF),
    (0x1D400, 0x1D7FF),  # mathematical alphabets
    (0x1E000, 0x1EFFF),
    (0x1F000, 0x1F2FF),
    (0x1F300, 0x1F6FF),  # emoji
    (0x1F900, 0x1FAFF),
    (0x20000, 0x2A6DF),
    (0x2F800, 0x2FA1F),
    (0x30000, 0x3134F),
    (0x31350, 0x323AF),
    (0xE0000, 0xE01EF),  # tags, more variation selectors
    (0xF0000, 0xF00FF),
    (0x10FF00, 0x10FFFF),
)

WHITE_SPACE = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2007\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u180e\u200b\ufeff"
)
PIECES: Sequence[str] = (
    "don't", "I'LL", "we've", "'s", "'S", "'ſ", "'t", "'RE", "O'Neill", "can’t", "'''", "\"'",
    "hello", "Hello", "HELLO", "HelloWorld", "camelCaseHTTPServer", "snake_case_name", "naïve",
    "Straße", "ﬁne", "İstanbul", "ıIiİ", "ΣΑΣ", "ǅ", "ß", "ẞ", "Å", "A\u030a", "e\u0301\u0327",
    "1", "12", "123", "1234", "1,234,567.89", "3.14", "0x1F", "1e-9", "½", "٣", "१२३", "Ⅻ", "②",
    "日本語", "中文字符", "한국어", "각", "\u1100\u1161\u11a8", "カタカナ", "ｶﾞ", "ひらがな", "ー", "々",
    "Привет", "мир", "Ελληνικά", "עברית", "العربية", "ﷺ", "ﻼ", "हिन्दी", "क्षि", "ไทย", "ภาษา",
    "👍", "👍🏽", "👩\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈", "🇩🇪", "🇩🇪🇫", "☎️", "☎", "1️⃣", "🧑🏿\u200d🚀",
    "</w>", "##", "##ing", "▁", "▁the", "▁▁", "Ġ", "Ċ", "Ġthe", "<0x0A>", "<0xE2>", "<unk>", "[UNK]",
    "http://x.y/z?a=b&c=%20#d", "a@b.co", "C:\\dir\\", "/usr/bin", "{}[]()", "==", "!=", "->", "...",
    "…", "—", "–", "«»", "“”", "¿¡", "\u200d", "\u200c", "\u202e", "\ufe0f", "\u0301", "\U000e0061",
    "\x00", "\x7f", "\ufffd", "\uffff", "\U0010ffff", "$", "€", "£5", "+1", "-1", "a-b", "_", "__",
)  # fmt: skip
WORDS = (
    "the of and to in is it that was for on are as with his they be at one have this from or had "
    "by hot word but what some we can out other were all there when up use your how said an each"
).split()


def _block(rng: random.Random) -> str:
    first, last = rng.choice(BLOCKS)
    code = rng.randint(first, last)
    return chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd"


def _one_script(rng: random.Random) -> str:
    first, last = rng.choice(BLOCKS)
    codes = (rng.randint(first, last) for _ in range(rng.randint(1, 12)))
    return "".join(chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF)


def _any_scalar(rng: random.Random) -> str:
    code = rng.randrange(0x110000 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def _white(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(" \n\t\r") * rng.randint(1, 5)
    return "".join(rng.choice(WHITE_SPACE) for _ in range(rng.randint(1, 4)))


def _run(rng: random.Random) -> str:
    unit = rng.choice(
        [_block(rng), rng.choice(PIECES), rng.choice(" \n\ta1!中é'"), rng.choice(WORDS)]
    )
    return unit * rng.randint(2, 40)


def _ascii(rng: random.Random) -> str:
    return "".join(chr(rng.randint(0x20, 0x7E)) for _ in range(rng.randint(1, 8)))


_PARTS: Sequence[tuple[int, Callable[[random.Random], str]]] = (
    (6, lambda rng: rng.choice(WORDS)),
    (6, lambda rng: " " + rng.choice(WORDS)),
    (6, lambda rng: rng.choice(PIECES)),
    (6, _white),
    (3, _block),
    (3, _one_script),
    (3, _ascii),
    (1, _any_scalar),
    (1, _run),
    (
        1,
        lambda rng: "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 9))),
    ),
)


def strings(count: int, *, seed: int, specials: Sequence[str] = ()) -> Iterator[str]:
    """Yields `count` strings drawn from `seed`, now and then with one of `specials` inside."""
    rng = random.Random(seed)
    weights = [weight for weight, _ in _PARTS]
    makers = [maker for _, maker in _PARTS]
    for _ in range(count):
        parts = [make(rng) for make in rng.choices(makers, weights, k=rng.randint(0, 9))]
        if specials and rng.random() < 0.2:
            special = rng.choice(specials)
            cut = special if rng.random() < 0.8 else special[: rng.randint(1, len(special))]
            parts.insert(rng.randint(0, len(parts)), cut)
        yield "".join(parts)


def byte_strings(count: int, *, seed: int) -> Iterator[bytes]:
    """Yields `count` byte strings, most of them not valid UTF-8."""
    rng = random.Random(seed)
    for text in strings(count, seed=seed):
        data = bytearray(text.encode())
        for _ in range(rng.randint(0, 3)):
            data.insert(rng.randint(0, len(data)), rng.randrange(256))
        if data and rng.random() < 0.5:
            del data[rng.randrange(len(data))]
        yield bytes(data)
