"""The fast path for one short text, or a pair, without truncation: columns as lists, no arrays.

All other calls go through `rows`; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jeton.encoding.calls.encoded_texts import EncodingOptions
    from jeton.encoding.calls.frames import Frame

SHORT: Final = 2_000
"""The maximum length of a short text, in characters: for longer ones arrays are as fast."""


def columns_alone(
    how: EncodingOptions, texts: list[str], frame: Frame, names: list[str], max_length: int | None
) -> dict[str, list[object]] | None:
    """The columns of one row by name; `None` if it has more than `max_length` tokens."""
    tokenizer = how.spelling.tokenizer
    with_spans = "offset_mapping" in names
    ids: list[list[int]] = []
    spans: list[list[tuple[int, ...]]] = []
    for text in texts:
        if with_spans:
            array, places = tokenizer.encode_array(text, spans=how.unit, special=how.special)
            ids.append(array.tolist())
            spans.append(list(map(tuple, places.tolist())))
        else:
            ids.append(tokenizer.encode(text, special=how.special))
    lengths = [1 if piece.text is None else len(ids[piece.text]) for piece in frame]
    total = sum(lengths)
    if max_length is not None and total > max_length:
        return None
    columns: dict[str, list[object]] = {name: [] for name in names}
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
