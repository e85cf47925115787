"""Lines as several tokenizers split them, side by side.

Look here for which lines of a corpus are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jeton.analysis.report.parts import ReportedEvaluations, swatch
from jeton.arguments import check_named, check_text
from jeton.display.human_readable import visible
from jeton.display.notebooks import escaped
from jeton.display.palette import hues
from jeton.errors import ArgumentTypeError, JetonError
from jeton.tokenizer import Tokenizer

_LONGEST = 400
"""Maximum characters of a line that are shown."""


@dataclass(frozen=True)
class CutLine:
    """A line as one tokenizer splits it.

    Attributes:
        tokens: The ids with the bytes of their tokens; `None` if the line cannot be encoded.
        is_exact: Whether decoding restores the line.
    """

    name: str
    tokens: tuple[tuple[int, bytes], ...] | None
    is_exact: bool


@dataclass(frozen=True)
class SampleLine:
    """A line as each tokenizer splits it.

    Attributes:
        label: The corpus or language that it is from.
        text: The line.
        cuts: The splits, one per tokenizer.
    """

    label: str
    text: str
    cuts: tuple[CutLine, ...]


def sample_lines(
    tokenizers: Mapping[str, Tokenizer],
    texts: Mapping[str, Sequence[str]],
    each: int = 1,
) -> tuple[SampleLine, ...]:
    """Some lines of each text: the first that are neither very short nor very long.

    Args:
        tokenizers: Tokenizers by name.
        texts: Lines by the name of the corpus or language.
        each: The number of lines per text.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("low")
        >>> (line,) = sample_lines({"characters": tok}, {"en": ["low"]})
        >>> line.cuts[0].tokens
        ((0, b'l'), (1, b'o'), (2, b'w'))
    """
    if not isinstance(texts, Mapping):
        raise ArgumentTypeError(f"lines must map names to lines, not {type(texts).__name__}")
    check_named("tokenizers", tokenizers, Tokenizer, "a Tokenizer")
    sample = []
    for label, lines in texts.items():
        check_text("each name of lines", label)
        if isinstance(lines, (str, bytes)) or not isinstance(lines, Iterable):
            kind = type(lines).__name__
            raise ArgumentTypeError(f"each of lines must be a list of texts, not {kind}")
        for line in _typical(lines, each):
            cuts = tuple(_split(name, tok, line) for name, tok in tokenizers.items())
            sample.append(SampleLine(label, line, cuts))
    return tuple(sample)


def _typical(lines: Iterable[str], each: int) -> list[str]:
    texts = [check_text("each text of lines", line)[:_LONGEST] for line in lines]
    texts = [text for text in texts if text.strip()]
    fitting = [text for text in texts if 40 <= len(text) <= 160]
    return (fitting or sorted(texts, key=lambda text: abs(len(text) - 100)))[:each]


def _split(name: str, tok: Tokenizer, line: str) -> CutLine:
    try:
        ids = tok.encode(line)
    except JetonError:
        return CutLine(name, None, False)
    return CutLine(
        name, tuple((id, tok.vocab.token_bytes(id)) for id in ids), tok.decode(ids) == line
    )


def visible_token(token: bytes) -> str:
    """A token for the page: a plain space stays a space, other white space is made visible.

    >>> visible_token(b" the"), visible_token(b"\\n"), visible_token(b"\\xe2\\x96")
    (' the', '⏎', '‹e2 96›')
    """
    return visible(token).replace("·", " ") if b"\xc2\xb7" not in token else visible(token)


def side_by_side(report: ReportedEvaluations, samples: Sequence[SampleLine]) -> str:
    """Each line with a row of coloured tokens for each tokenizer; empty without lines."""
    if not samples:
        return ""
    blocks = "".join(
        f'<h3>{escaped(line.label)}</h3><div class="line-text" dir="auto">'
        f"{escaped(line.text)}</div>{''.join(_row(report, cut) for cut in line.cuts)}"
        for line in samples
    )
    return (
        '<div class="tools"><button type="button" id="ids" aria-pressed="false">Ids beside '
        'tokens</button><button type="button" id="bytes" aria-pressed="false">Bytes beside '
        'tokens</button><span class="quiet">Or point at a token.</span></div>' + blocks
    )


def _row(report: ReportedEvaluations, line: CutLine) -> str:
    place = report.names.index(line.name) if line.name in report.names else 0
    if line.tokens is None:
        inner, summary = '<span class="quiet">cannot be encoded</span>', ""
    else:
        inner = "".join(
            f'<span class="h{hue}" title="id {id} · bytes {token.hex(" ") or "none"}">'
            f"{escaped(visible_token(token)) or '∅'}</span>"
            f'<i class="id">{id}</i><i class="bytes">{token.hex(" ") or "none"}</i>'
            for (id, token), hue in zip(line.tokens, hues(id for id, _ in line.tokens), strict=True)
        )
        summary = f'<br><span class="quiet">{len(line.tokens)} tokens'
        summary += "" if line.is_exact else " ⚠ not restored"
        summary += "</span>"
    return (
        f'<div class="cut"><div>{swatch(place)}{escaped(line.name)}{summary}</div>'
        f'<div class="tokens" dir="auto">{inner}</div></div>'
    )
