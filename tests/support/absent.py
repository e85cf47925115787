"""What tokenizers makes of text if special tokens are not in its model's vocabulary.

Look here for the judge of `special="ignore"`: tokenizers itself finds special tokens that its model
knows, even with `encode_special_tokens = True`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tokenizers import Tokenizer

__all__ = ["judge_without_specials"]


def judge_without_specials(stored: str) -> Any:
    """The tokenizer of a `tokenizer.json` whose special tokens are spelled as no text is.

    They have the same ids. The tokens of bytes stay: they stand for text that no token spells.
    """
    content = json.loads(stored)
    model = content["model"]
    special = {token["content"] for token in content["added_tokens"] if token["special"]}
    if model.get("byte_fallback"):
        special = {token for token in special if not re.fullmatch("<0x[0-9A-F]{2}>", token)}

    def other(token: str) -> str:
        return f"\U0010fffd{token}\U0010fffd" if token in special else token

    for token in content["added_tokens"]:
        token["content"] = other(token["content"])
    if isinstance(model["vocab"], dict):
        model["vocab"] = {other(token): id for token, id in model["vocab"].items()}
    else:
        model["vocab"] = [[other(token), score] for token, score in model["vocab"]]
    if model.get("unk_token") is not None:
        model["unk_token"] = other(model["unk_token"])
    if "merges" in model:
        prefix = model.get("continuing_subword_prefix") or ""
        pairs = [tuple(it.split(" ") if isinstance(it, str) else it) for it in model["merges"]]
        model["merges"] = [
            [left, right]
            for left, right in pairs
            if not special & {left, right, left + right[len(prefix) :]}
        ]
    judge = Tokenizer.from_str(json.dumps(content))
    judge.encode_special_tokens = True
    return judge
