"""The characters that stand for bytes in GPT-2's files, and in `ByteLevel` stages.

Look here to turn such a spelling into bytes. `jeton.learn.byte_alphabet` explains it to learners.
"""

from __future__ import annotations

_VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHERS = [byte for byte in range(256) if byte not in _VISIBLE]

BYTES = {chr(byte): byte for byte in _VISIBLE} | {
    chr(256 + at): byte for at, byte in enumerate(_OTHERS)
}
"""The byte of each character: most visible ones are themselves, the others start at `U+0100`."""
