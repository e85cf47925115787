"""Fuzzes the readers: any bytes under any name are a tokenizer that works, or an error of jeton.

    python fuzz/readers.py [OPTION OF LIBFUZZER | FOLDER OF INPUTS]...

The first byte of an input says which file the rest is: see `FILES`.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["jeton"]):
    import jeton
    from jeton.errors import JetonError
    from jeton.loading.class_folders import VOCABULARIES

FILES: list[tuple[str, dict[str, Any]]] = [
    ("tokenizer.json", {}),
    ("x.model", {}),
    ("x.tiktoken", {"pattern": "gpt4", "special_tokens": {"<|end|>": 300}}),
    ("vocab.json", {"merges": "merges.txt"}),
    ("vocab.txt", {}),
    ("x.jeton", {}),
    ("x.gguf", {}),
    ("tekken.json", {}),
    ("tokenizer.bin", {}),
    ("class/tokenizer_config.json", {}),
]
"""Of the last, what follows the first NUL is every vocabulary that a class may want beside it."""

TEXT = "  a ab\u3000①<s>▁ab é\u200d\0🙂 ababab  b "
FOLDER = Path(tempfile.mkdtemp())
(FOLDER / "class").mkdir()
for folder in (FOLDER, FOLDER / "class"):
    (folder / "merges.txt").write_text("#version: 0.2\na b\nab ab\n", encoding="utf-8")


def read(data: bytes) -> None:
    if not data:
        return
    name, options = FILES[data[0] % len(FILES)]
    if "merges" in options:
        options = {"merges": FOLDER / options["merges"]}
    path = FOLDER / name
    content = data[1:]
    if path.parent != FOLDER:
        content, _, vocabulary = content.partition(b"\0")
        for name in VOCABULARIES:
            (path.parent / name).write_bytes(vocabulary)
    path.write_bytes(content)
    if path.parent != FOLDER:
        path = path.parent
    try:
        tok = jeton.load(path, **options)
    except JetonError:
        return
    for call in (tok.encode, tok.count, tok.encode_with_spans):
        try:
            call(TEXT)
        except JetonError:
            continue
    try:
        ids = tok.encode(TEXT)
        tok.decode(ids)
        tok.to_json()
    except JetonError:
        return


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()
