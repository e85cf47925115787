"""Writes the tokenizer of the home page's live view into the built site, as a script.

Run after the site is built, as `make docs` does: `python site/live.py`. `docs/assets/live.js` is
the view; a test holds its ids equal to jeton's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jeton
from jeton.learn.reference.byte_level import PRINTED

FILE = Path(__file__).parent.parent / "target/site/assets/jeton-4k.js"

_FOLDED = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPELLED = "'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
"""The same for browsers that have no flags within an expression."""


def script() -> str:
    """The tokenizer as an assignment: its pattern, bytes as printed, tokens by id, and merges."""
    stored: dict[str, Any] = json.loads(jeton.load("jeton-4k", offline=True).to_json())
    model = stored["model"]
    split, _ = stored["pre_tokenizer"]["pretokenizers"]
    pattern = split["pattern"]["Regex"]
    assert stored["normalizer"] is None and not model["ignore_merges"] and _FOLDED in pattern
    space = r"\p{White_Space}"
    pattern = pattern.replace(_FOLDED, _SPELLED).replace(r"\z", "$")
    pattern = pattern.replace(r"[^\s", f"[^{space}").replace(r"\S", r"\P{White_Space}")
    pattern = pattern.replace(r"\s", space)
    content = {
        "pattern": pattern,
        "characters": [PRINTED[byte] for byte in range(256)],
        "vocab": sorted(model["vocab"], key=model["vocab"].get),
        "merges": [" ".join(pair) for pair in model["merges"]],
    }
    return f"const JETON_4K = {json.dumps(content, ensure_ascii=False, separators=(',', ':'))};\n"


if __name__ == "__main__":
    FILE.write_text(script(), encoding="utf-8")
