"""One short text, or a pair of them, that is not cut: its columns as lists, without arrays.

Look here for the short way that such a call takes; `rows` has the way of all others, and tests hold
the two equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jeton.encoding.calls.encoded_texts import EncodingOptions
    from jeton.encoding.calls.frames import Frame

__all__ = ["SHORT", "columns_alone"]

SHORT: Final = 2_000
"""Up to how many characters a text is short: arrays are no slower for longer ones."""


def columns_alone(
    how: EncodingOptions, texts: list[str], frame: Frame, names: list[str], most: int | None
) -> dict[str, list[Any]] | None:
    """Columns by name, for one row; `None` where it would have more than `most` tokens."""
    tokenizer = how.spelling.tokenizer
    with_spans = "offset_mapping" in names
    ids: list[list[int]] = []
    spans: list[list[tuple[int, ...]]] = []
    for text in texts:
        if with_spans:
            array, places = tokenizer.encode_array_with_spans(
                text, unit=how.unit, special=how.special
            )
            ids.append(array.tolist())
            spans.append(list(map(tuple, places.tolist())))
        else:
            ids.append(tokenizer.encode(text, special=how.special))
    lengths = [1 if piece.text is None else len(ids[piece.text]) for piece in frame]
    total = sum(lengths)
    if most is not None and total > most:
        return None
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for piece, length in zip(frame, lengths, strict=True):
        number = piece.text
        columns["input_ids"] += [piece.id] if number is None else ids[number]
        if "token_type_ids" in columns:
            columns["token_type_ids"] += [piece.type_id] * length
        if "special_tokens_mask" in columns:
            columns["special_tokens_mask"] += [int(number is None)] * length
        if with_spans:
            columns["offset_mapping"] += [(0, 0)] if number is None else spans[number]
    if "attention_mask" in columns:
        columns["attention_mask"] = [1] * total
    if "length" in columns:
        columns["length"] = [total]
    return columns
