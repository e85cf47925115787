"""Frames of `Tokenizer.explain` for a view.

Look here for how each stage and each kind of model is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from jeton.display.human_readable import counted, visible
from jeton.display.views.frames import Arc, Arcs, Chip, Frame, Row, Rows, Table
from jeton.encoding.explaining.steps import (
    Added,
    Lattice,
    LongestMatch,
    LookUp,
    Merging,
    ModelStep,
    Piece,
    PostStep,
    Step,
    Stretch,
    TextStep,
    Token,
    Unit,
    tokens_of,
)

_MAX_CANDIDATES = 8


def frames_of_encoding(
    text: str,
    steps: Sequence[Step],
    merging: Callable[[str, Merging], Iterable[Frame]] | None = None,
) -> list[Frame]:
    """Frames of the text, each stage, each piece in the model, and the ids. `merging`: draws a
    piece of a BPE, with its title, in other frames."""
    frames = [
        Frame(
            "The text",
            f"{counted(len(text), 'character')}.",
            (Rows((Row((Chip(_visible_text(text)),) if text else ()),)),),
        ),
    ]
    for step in steps:
        match step:
            case TextStep():
                frames.append(_text_frame(step))
            case ModelStep():
                frames.extend(_model_frames(step, merging))
            case PostStep():
                frames.append(_post_frame(step))
    frames.append(_last_frame(tokens_of(steps)))
    return frames


def frames_of_pieces(step: ModelStep) -> list[Frame]:
    """Frames of the model alone: each piece, and how it became tokens."""
    return list(_model_frames(step))


def _text_frame(step: TextStep) -> Frame:
    titles = {
        "added tokens": "Added tokens",
        "normalizer": "Normalizer",
        "pre-tokenizer": "Pre-tokenizer",
    }
    has_changed = [it.text for it in step.before] != [it.text for it in step.after]
    if step.stage == "added tokens":
        count = sum(it.id is not None for it in step.after)
        note = f"{count:,} found in the text." if count else "None of them is in the text."
    elif not has_changed:
        note = "It leaves the text unchanged."
    elif step.stage == "normalizer":
        note = "The text changes; positions still refer to the original."
    else:
        pieces = sum(it.id is None for it in step.after)
        note = f"{counted(pieces, 'piece')}; no token crosses their borders."
    blocks = [Rows((Row(_stretches(step.after)),), "After")]
    if has_changed:
        blocks.insert(0, Rows((Row(_stretches(step.before)),), "Before"))
    return Frame(f"{titles[step.stage]}: {step.name}", note, tuple(blocks))


def _stretches(stretches: tuple[Stretch, ...]) -> tuple[Chip, ...]:
    return tuple(
        Chip(
            _visible_text(it.text),
            "" if it.id is None else "added",
            f"{it.span[0]}-{it.span[1]}" if it.id is None else f"{it.id}",
        )
        for it in stretches
    )


def _model_frames(
    step: ModelStep, merging: Callable[[str, Merging], Iterable[Frame]] | None = None
) -> Iterator[Frame]:
    pieces = [piece for piece in step.pieces if not isinstance(piece, Added)]
    for at_once, run in itertools.groupby(pieces, _is_at_once):
        if at_once:
            yield _at_once_frame(step.name, list(run))
            continue
        for piece in run:
            if merging is not None and isinstance(piece, Merging):
                yield from merging(_title(step.name, piece.text), piece)
            else:
                yield _piece_frame(step.name, piece)


def _is_at_once(piece: Piece) -> bool:
    """Whether the first look-up finds the whole piece, so that there are no steps to show."""
    match piece:
        case Merging():
            return piece.whole
        case LongestMatch():
            return len(piece.matches) == 1 and len(piece.matches[0].tried) == 1 == len(piece.tokens)
        case LookUp():
            return [unit.how for unit in piece.units] == ["known"]
    return False


def _at_once_frame(name: str, pieces: list[Piece]) -> Frame:
    one = len(pieces) == 1
    note = (
        "The whole piece is a token."
        if one
        else f"{len(pieces):,} pieces in a row are whole tokens."
    )
    chips = tuple(chip for piece in pieces for chip in _chips(piece.tokens))
    text = "".join(piece.text for piece in pieces)
    return Frame(_title(name, text), note, (Rows((Row(chips),), "Tokens and ids"),))


def _piece_frame(name: str, piece: Piece) -> Frame:
    match piece:
        case Merging():
            return _merging_frame(name, piece)
        case LongestMatch():
            return _match_frame(name, piece)
        case Lattice():
            return _lattice_frame(name, piece)
    assert isinstance(piece, LookUp)
    return _look_up_frame(name, piece)


def _title(name: str, text: str) -> str:
    text = text if len(text) <= 40 else text[:39] + "…"
    return f"{name}: {_visible_text(text)}"


def _merging_frame(name: str, piece: Merging) -> Frame:
    rows: list[Row] = []
    steps = list(piece.rows()) if len(piece.symbols) <= 60 else []
    for number, row in enumerate(steps):
        merge = piece.merges[number - 1] if number else None
        token = None if merge is None else merge.made.token
        chips = tuple(Chip(visible(it), "best" if it == token else "") for it in row)
        note = "" if merge is None else f"{visible(merge.left)} + {visible(merge.right)}"
        rows.append(Row(chips, "start" if merge is None else _rank(merge.rank, merge.score), note))
    if not steps:
        rows = [
            Row(
                (Chip(visible(it.made.token), "best"),),
                _rank(it.rank, it.score),
                f"{visible(it.left)} + {visible(it.right)}",
            )
            for it in piece.merges
        ]
    count = len(piece.merges)
    order = (
        "the best score first"
        if any(it.score is not None for it in piece.merges)
        else "the lowest rank first, the leftmost among equals"
    )
    note = counted(count, "merge") + (f", {order}." if count else ".")
    blocks = [Rows(tuple(rows), "Merges"), _result(piece)]
    blocks[:0] = _odd_units(piece.units)
    return Frame(_title(name, piece.text), note + _note_on(piece.units), tuple(blocks))


def _rank(rank: int | None, score: float | None) -> str:
    return f"rank {rank:,}" if rank is not None else f"score {score:g}"


def _odd_units(units: tuple[Unit, ...]) -> list[Rows]:
    """The units that are not in the vocabulary, and their tokens."""
    odd = [unit for unit in units if unit.how != "known"]
    if not odd:
        return []
    rows = tuple(
        Row(
            (Chip(visible(it.text)), *(Chip(visible(t.token), "unknown") for t in it.tokens)),
            it.how,
        )
        for it in odd[:20]
    )
    return [Rows(rows, "Not in the vocabulary")]


def _note_on(units: tuple[Unit, ...]) -> str:
    note = ""
    if any(unit.how == "bytes" for unit in units):
        note += " Characters that are not in the vocabulary become bytes."
    if any(unit.how in ("unknown", "fused") for unit in units):
        note += " Characters that are not in the vocabulary are unknown."
    if any(unit.how == "dropped" for unit in units):
        note += " Characters that are not in the vocabulary are left out."
    return note


def _match_frame(name: str, piece: LongestMatch) -> Frame:
    rows = []
    for match in piece.matches:
        misses = match.tried if match.token is None else match.tried[:-1]
        chips = [Chip(_visible_text(it), "dim") for it in misses[:_MAX_CANDIDATES]]
        if len(misses) > _MAX_CANDIDATES:
            chips.append(Chip(f"… {len(misses) - _MAX_CANDIDATES:,} more", "dim"))
        chips.append(
            Chip("nothing fits", "unknown")
            if match.token is None
            else Chip(_visible_text(match.tried[-1]), "best")
        )
        rows.append(Row(tuple(chips), f"at {match.start}"))
    if piece.too_long:
        note = "The word has more characters than the model takes: it is unknown."
    elif piece.matches and piece.matches[-1].token is None:
        note = "At one position no token fits, so the whole word is unknown."
    else:
        note = "At each position, the longest token that fits wins."
    return Frame(_title(name, piece.text), note, (Rows(tuple(rows), "Tried"), _result(piece)))


def _lattice_frame(name: str, piece: Lattice) -> Frame:
    arcs = tuple(
        Arc(
            it.start,
            it.end,
            _visible_text(it.text),
            f"{it.score:.4g}",
            "unknown" if it.id is None else "best" if it.best else "",
        )
        for it in piece.edges
    )
    note = (
        f"{len(arcs):,} pieces occur in this text; the path with the greatest sum of scores, "
        f"{piece.score:.4g}, wins."
    )
    if any(edge.best and edge.id is None for edge in piece.edges):
        note += " A character that no piece covers costs 10 more than the worst piece."
    return Frame(
        _title(name, piece.text),
        note,
        (Arcs(tuple(map(_visible_text, piece.text)), arcs), _result(piece)),
    )


def _look_up_frame(name: str, piece: LookUp) -> Frame:
    note = (
        "Each is looked up in the vocabulary."
        if len(piece.units) != 1
        else "It is looked up in the vocabulary."
    )
    blocks = [*_odd_units(piece.units), _result(piece)]
    return Frame(_title(name, piece.text), note + _note_on(piece.units), tuple(blocks))


def _result(piece: Piece) -> Rows:
    return Rows((Row(_chips(piece.tokens)),), "Tokens and ids")


def _chips(tokens: tuple[Token, ...]) -> tuple[Chip, ...]:
    return tuple(Chip(visible(it.token), "", str(it.id)) for it in tokens)


def _post_frame(step: PostStep) -> Frame:
    count = sum(step.added)
    note = f"{counted(count, 'special token')} added." if count else "Nothing added."
    chips = tuple(
        Chip(visible(it.token), "added" if new else "", str(it.id))
        for it, new in zip(step.after, step.added, strict=True)
    )
    return Frame(f"Post-processor: {step.name}", note, (Rows((Row(chips),), "After"),))


def _last_frame(tokens: tuple[Token, ...]) -> Frame:
    count = len(tokens)
    note = counted(count, "token") + "."
    table = Table(
        ("id", "token"),
        tuple((f"{it.id}", visible(it.token)) for it in tokens[:200]),
        more=max(0, count - 200),
    )
    return Frame("The ids", note, (Rows((Row(_chips(tokens[:200])),)), table))


def _visible_text(text: str) -> str:
    """A text with its invisible characters made visible."""
    return visible(text.encode())
