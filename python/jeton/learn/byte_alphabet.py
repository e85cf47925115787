"""Bytes, watched: a text in UTF-8, and the characters by which GPT-2's files print its bytes.

Look here for `jeton learn bytes`. The table is that of the page `jeton.learn.reference.byte_level`.
"""

from __future__ import annotations

from jeton.display.human_readable import counted, visible
from jeton.display.views.frames import Chip, Frame, Row, Rows, Table
from jeton.learn.reference.byte_level import bytes_to_unicode

_MOST = 200


def frames_of_bytes(text: str) -> list[Frame]:
    """What a view shows: the text, its bytes, the table of characters, and the text as printed."""
    table = bytes_to_unicode()
    data = text.encode()
    part = text[:_MOST]
    characters = Rows(
        tuple(
            Row(
                tuple(Chip(f"{byte:02X}", "", str(byte)) for byte in character.encode()),
                visible(character.encode()),
                f"U+{ord(character):04X}",
            )
            for character in part
        ),
        "Each character, and its bytes" + (f" (the first {_MOST})" if len(text) > _MOST else ""),
    )
    moved = [byte for byte in range(256) if table[byte] != chr(byte)]
    rows = tuple(
        Row(
            tuple(
                Chip(table[byte], "added" if byte in moved else "")
                for byte in range(start, start + 16)
            ),
            f"{start:02X}-{start + 15:02X}",
        )
        for start in range(0, 256, 16)
    )
    names = tuple(
        (
            str(byte),
            f"0x{byte:02X}",
            table[byte],
            "is itself" if byte not in moved else f"256 + {ord(table[byte]) - 256}",
        )
        for byte in dict.fromkeys(part.encode())
    )
    signs = "".join(table[byte] for byte in part.encode())
    return [
        Frame(
            "The text, in bytes",
            f"In UTF-8 it has {counted(len(data), 'byte')}, for {counted(len(text), 'character')}; "
            "there are only 256 bytes, so a vocabulary that has all of them can spell any text.",
            (characters,),
        ),
        Frame(
            "A character for each byte",
            f"{256 - len(moved)} bytes can be seen as characters and are themselves; the "
            f"{len(moved)} others, marked here, are moved up: 256, 257, … in their order. So "
            "no token in a file holds a space or a line end.",
            (Rows(rows, "bytes_to_unicode"),),
        ),
        Frame(
            "The bytes of the text",
            "Byte, in hexadecimal, how it is printed, and why.",
            (Table(("byte", "hex", "printed", ""), names),),
        ),
        Frame(
            "The text as GPT-2's files print it",
            "Read backwards it gives the bytes, and so the text.",
            (Rows((Row((Chip(signs),) if signs else ()),)),),
        ),
    ]
