"""The figures of the course that are no steps of a lesson: sums of EM, trees, masks, curves.

Look here for a figure that `illustrations.py` does not draw from frames.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import jeton
from jeton import samples
from pictures import CELL, PAD, Drawing

__all__ = ["FIGURES"]

_HEAD = 26
"""Height of a line of a heading."""


def _titled(title: str, *notes: str) -> tuple[Drawing, float]:
    """A drawing with a heading and lines below it, and where its content begins."""
    drawing = Drawing(title)
    drawing.prose(PAD, PAD + 12, title, drawing.named("text"), bold=True)
    y = float(PAD + _HEAD)
    for note in notes:
        drawing.prose(PAD, y + 12, note, drawing.named("quiet"))
        y += 20
    return drawing, y + 8


def _line(drawing: Drawing, x1: float, y1: float, x2: float, y2: float, width: float = 1.5) -> None:
    """A line between two places, as a thin polygon, so that it has the colour of a fill."""
    length = math.hypot(x2 - x1, y2 - y1) or 1
    dx, dy = -(y2 - y1) / length * width / 2, (x2 - x1) / length * width / 2
    corners = ((x1 + dx, y1 + dy), (x2 + dx, y2 + dy), (x2 - dx, y2 - dy), (x1 - dx, y1 - dy))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    drawing.shapes.append(f'<polygon class="{drawing.named("quiet")}" points="{points}"/>')
    drawing.width = max(drawing.width, x1, x2)
    drawing.height = max(drawing.height, y1, y2)


def _chip(drawing: Drawing, x: float, y: float, text: str, name: str, width: float = 0) -> float:
    """A token around `x`; returns its width."""
    width = width or CELL * (len(text) + 1.4)
    drawing.rect(x - width / 2, y, width, 24, drawing.named(name), 5)
    on = {"accent": "on-accent", "line": "text", "ground": "text"}.get(name, "on")
    drawing.text(x, y + 17, text, drawing.named(on), middle=True)
    return width


def em_sums() -> str:
    """The sums of chapter 5 for the word `hugs`, and how often each piece is used."""
    word = "hugs"
    chances = dict.fromkeys("h u g s hu ug gs hug ugs".split(), 1 / 9)
    spans = [
        (start, end)
        for end in range(1, len(word) + 1)
        for start in range(end)
        if word[start:end] in chances
    ]
    before, after = [1.0] + [0.0] * len(word), [0.0] * len(word) + [1.0]
    for start, end in spans:
        before[end] += before[start] * chances[word[start:end]]
    for start, end in sorted(spans, reverse=True):
        after[start] += chances[word[start:end]] * after[end]
    drawing, y = _titled(
        "All ways to split “hugs”, in two passes",
        "Nine pieces, all equally probable. Above: the sum of all ways from the left to a place.",
        "Below: of all ways from there to the right. Every way with “hug” has both its ends.",
    )
    step, left = 150.0, PAD + 60.0
    places = [left + step * at for at in range(len(word) + 1)]
    top, middle, bottom = y, y + 74, y + 178
    for sums, at in ((before, top), (after, bottom)):
        for x, value in zip(places, sums, strict=True):
            _chip(drawing, x, at, f"{value:.3f}", "h2" if at == top else "h0", 70)
    drawing.prose(places[-1] + 48, top + 17, "before", drawing.named("quiet"))
    drawing.prose(places[-1] + 48, bottom + 17, "after", drawing.named("quiet"))
    for x in places:
        _line(drawing, x, top + 26, x, bottom - 2, 1)
    for start, character in enumerate(word):
        drawing.text(
            (places[start] + places[start + 1]) / 2,
            top + 50,
            character,
            drawing.named("text"),
            bold=True,
            middle=True,
        )
    for start, end, lane, name in (
        (0, 3, 0, "accent"),
        (3, 4, 0, "h1"),
        (0, 1, 1, "h1"),
        (1, 4, 1, "h1"),
    ):
        piece = word[start:end]
        width = places[end] - places[start] - 14
        _chip(drawing, (places[start] + places[end]) / 2, middle + 34 * lane, piece, name, width)
    share = before[0] * chances["hug"] * after[3] / before[-1]
    drawing.prose(
        PAD,
        bottom + 52,
        f"“hug”: before {before[0]:.3f} × its probability {chances['hug']:.3f} × "
        f"after {after[3]:.3f}, divided by all ways, {before[-1]:.3f}, is {share:.2f} uses.",
        drawing.named("text"),
    )
    return drawing.svg()


def merge_tree() -> str:
    """The merges of `newest` as a tree, beside the shorter and shorter sequence."""
    rows = [
        [*list("newest"), "</w>"],
        ["n", "e", "w", "es", "t", "</w>"],
        ["n", "e", "w", "est", "</w>"],
        ["n", "e", "w", "est</w>"],
    ]
    drawing, y = _titled(
        "The merges of “newest”: a shorter sequence, and a tree",
        "Each merge joins two neighbours. Read down: the sequence. Read up: the parts of a token.",
    )
    cell, gap, left = 62.0, 58.0, PAD + 40.0
    starts = {"n": 0, "e": 1, "w": 2}
    for level, row in enumerate(rows):
        at, top = 0, y + gap * level
        for token in row:
            size = 1 if token == "</w>" else len(token.replace("</w>", "")) + ("</w>" in token)
            middle = left + cell * (at + size / 2)
            is_new = level > 0 and token not in rows[level - 1]
            if level + 1 < len(rows):
                for below in rows[level + 1]:
                    if token in below and below not in row:
                        ends = left + cell * (3 + (4 if "</w>" in below else len(below)) / 2)
                        if at >= 3 and at + size <= 3 + (4 if "</w>" in below else len(below)):
                            _line(drawing, middle, top + 24, ends, top + gap)
            _chip(drawing, middle, top, token, "accent" if is_new else f"h{starts.get(token, 3)}")
            at += size
        made = "" if level == 0 else f"after merge {level}: "
        drawing.prose(
            left + cell * 7 + 30, top + 16, f"{made}{len(row)} tokens", drawing.named("quiet")
        )
    return drawing.svg()


def causal_mask() -> str:
    """Which token may look at which."""
    tokens = ["The", "·tide", "·waits", "·for", "·nobody"]
    drawing, y = _titled(
        "The causal mask",
        "A row is a token that asks, a column one that may answer: itself, and those before it.",
        "“·waits” is predicted from the row of “·tide”, which cannot see it. In strong",
        "colour: the best matches (the numbers are made up).",
    )
    weights = [[1.0], [0.3, 0.7], [0.1, 0.6, 0.3], [0.1, 0.1, 0.5, 0.3], [0.1, 0.3, 0.4, 0.1, 0.1]]
    left, cell = PAD + 100.0, 84.0
    for column, token in enumerate(tokens):
        drawing.text(
            left + cell * (column + 0.5), y + 14, token, drawing.named("text"), middle=True
        )
    y += 26
    for number, row in enumerate(weights):
        drawing.text(PAD, y + 22, tokens[number], drawing.named("text"))
        for column in range(len(tokens)):
            x = left + cell * column
            if column >= len(row):
                drawing.rect(x + 3, y + 2, cell - 6, 30, drawing.named("ground"), 5)
                drawing.text(x + cell / 2, y + 22, "–", drawing.named("quiet"), middle=True)
                continue
            strong = row[column] >= 0.5
            drawing.rect(x + 3, y + 2, cell - 6, 30, drawing.named("accent" if strong else "h0"), 5)
            name = "on-accent" if strong else "on"
            drawing.text(
                x + cell / 2, y + 22, f"{row[column]:.1f}", drawing.named(name), middle=True
            )
        y += 36
    return drawing.svg()


def residual_stream() -> str:
    """The vector of one token on its way through a GPT."""
    drawing, y = _titled(
        "The way of a token's vector: the residual stream",
        "Nothing replaces the vector. Each part reads it, and adds what it found.",
    )
    x, box = PAD + 250.0, 150.0
    steps = [
        ("embedding", "id → vector", ""),
        ("attention", "reads the tokens before", "block 1"),
        ("network", "works on this token alone", ""),
        ("attention", "reads again, with more to read", "block 2"),
        ("network", "", ""),
        ("logits", "vector → a score per token", ""),
    ]
    height = 54.0
    _line(drawing, x, y + 24, x, y + height * (len(steps) - 1), 4)
    for number, (name, what, block) in enumerate(steps):
        top = y + height * number
        if name in ("embedding", "logits"):
            _chip(drawing, x, top, name, "accent", box)
        else:
            side = x + 170
            _line(drawing, x, top - 6, side - box / 2, top + 12)
            _chip(drawing, side, top, name, "h2" if name == "attention" else "h0", box)
            _line(drawing, side, top + 24, x + 12, top + 36)
            _chip(drawing, x, top + 28, "+", "line", 26)
        if block:
            drawing.prose(PAD, top + 34, block, drawing.named("text"), bold=True)
        if what:
            across = (
                x + 170 + box / 2 + 14 if name not in ("embedding", "logits") else x + box / 2 + 14
            )
            drawing.prose(across, top + 17, what, drawing.named("quiet"))
    return drawing.svg()


def length_by_size() -> str:
    """Tokens of a text by the size of the vocabulary."""
    texts = samples.read_all()
    held_out = texts.pop("tales")
    sizes = [300, 500, 1_000, 2_000, 4_000, 8_000]
    trained = jeton.BPETrainer(sizes).train_all(texts.values())
    lengths = [trained[size].count(held_out) for size in sizes]
    drawing, y = _titled(
        "A larger vocabulary, a shorter sequence",
        f"Tokens of a text of {len(held_out.encode()):,} bytes that was not in the corpus.",
        "Each doubling of the vocabulary saves less than the one before.",
    )
    y += 16
    left, width, height = PAD + 70.0, 560.0, 220.0
    greatest = 12_000
    for share in range(0, greatest + 1, 3_000):
        line = y + height - height * share / greatest
        _line(drawing, left, line, left + width, line, 0.5)
        number = f"{share:,}"
        drawing.text(left - 12 - CELL * len(number), line + 5, number, drawing.named("quiet"))
    low, high = math.log2(sizes[0]), math.log2(sizes[-1])
    points = [
        (
            left + 20 + (width - 60) * (math.log2(size) - low) / (high - low),
            y + height - height * length / greatest,
        )
        for size, length in zip(sizes, lengths, strict=True)
    ]
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        _line(drawing, x1, y1, x2, y2, 2.5)
    for (x, place), size, length in zip(points, sizes, lengths, strict=True):
        drawing.rect(x - 5, place - 5, 10, 10, drawing.named("accent"), 5)
        drawing.text(x, place - 12, f"{length:,}", drawing.named("text"), middle=True)
        drawing.text(x, y + height + 22, f"{size:,}", drawing.named("quiet"), middle=True)
    drawing.prose(left, y + height + 46, "tokens in the vocabulary", drawing.named("quiet"))
    return drawing.svg()


FIGURES: dict[str, Callable[[], str]] = {
    "em-sums": em_sums,
    "merge-tree": merge_tree,
    "causal-mask": causal_mask,
    "residual-stream": residual_stream,
    "length-by-size": length_by_size,
}
"""What draws a picture, by the name of its file."""
