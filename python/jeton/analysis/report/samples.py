"""Lines as several tokenizers split them, side by side.

Look here for which lines of a corpus are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from jeton.analysis.evaluation import Evaluations
from jeton.analysis.report.parts import swatch
from jeton.arguments import check_named, check_text
from jeton.display.human_readable import visible
from jeton.display.notebooks import escaped
from jeton.display.palette import hues
from jeton.errors import ArgumentTypeError, JetonError
from jeton.tokenizer import Tokenizer

_LONGEST = 400
"""Maximum characters of a line that are shown."""


def side_by_side(
    evaluations: Evaluations,
    tokenizers: Mapping[str, Tokenizer],
    texts: Mapping[str, Sequence[str]],
) -> str:
    """A line of each text, with a row of coloured tokens for each tokenizer; empty without lines.

    Args:
        tokenizers: Tokenizers by name.
        texts: Lines by the name of the corpus or language.
    """
    check_named("tokenizers", tokenizers, Tokenizer, "a Tokenizer")
    blocks = "".join(_blocks([*evaluations], tokenizers, texts))
    if not blocks:
        return ""
    return (
        '<div class="tools"><button type="button" id="ids" aria-pressed="false">Ids beside '
        'tokens</button><button type="button" id="bytes" aria-pressed="false">Bytes beside '
        'tokens</button><span class="quiet">Or point at a token.</span></div>' + blocks
    )


def _blocks(
    names: Sequence[str], tokenizers: Mapping[str, Tokenizer], texts: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    for label, lines in texts.items():
        check_text("each name of lines", label)
        if isinstance(lines, (str, bytes)) or not isinstance(lines, Iterable):
            kind = type(lines).__name__
            raise ArgumentTypeError(f"each of lines must be a list of texts, not {kind}")
        for line in _typical(lines):
            yield f"<h3>{escaped(label)}</h3>"
            yield f'<div class="line-text" dir="auto">{escaped(line)}</div>'
            for name, tok in tokenizers.items():
                yield _row(names.index(name) if name in names else 0, name, tok, line)


def _typical(lines: Iterable[str]) -> list[str]:
    """The first line that is neither very short nor very long; none if all are blank."""
    texts = [check_text("each text of lines", line)[:_LONGEST] for line in lines]
    texts = [text for text in texts if text.strip()]
    fitting = [text for text in texts if 40 <= len(text) <= 160]
    return (fitting or sorted(texts, key=lambda text: abs(len(text) - 100)))[:1]


def _row(place: int, name: str, tok: Tokenizer, line: str) -> str:
    try:
        ids = tok.encode(line)
    except JetonError:
        inner, summary = '<span class="quiet">cannot be encoded</span>', ""
    else:
        tokens = [tok.vocab.token_bytes(id) for id in ids]
        inner = "".join(
            f'<span class="h{hue}" title="id {id} · bytes {token.hex(" ") or "none"}">'
            f"{escaped(visible_token(token)) or '∅'}</span>"
            f'<i class="id">{id}</i><i class="bytes">{token.hex(" ") or "none"}</i>'
            for id, token, hue in zip(ids, tokens, hues(ids), strict=True)
        )
        loss = "" if tok.decode(ids) == line else " ⚠ not restored"
        summary = f'<br><span class="quiet">{len(ids)} tokens{loss}</span>'
    return (
        f'<div class="cut"><div>{swatch(place)}{escaped(name)}{summary}</div>'
        f'<div class="tokens" dir="auto">{inner}</div></div>'
    )


def visible_token(token: bytes) -> str:
    """A token for the page: a plain space stays a space, other white space is made visible.

    >>> visible_token(b" the"), visible_token(b"\\n"), visible_token(b"\\xe2\\x96")
    (' the', '⏎', '‹e2 96›')
    """
    return visible(token).replace("·", " ") if b"\xc2\xb7" not in token else visible(token)
