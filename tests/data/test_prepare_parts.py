"""Parts of a set, made one by one and put together: the set that one machine makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import models
from jeton.data import Manifest, merge, prepare
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError, JetonError
from prepared import NAMES, contents, documents, tokenizer, tokens_of, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

TOK = tokenizer()
TEXTS = documents(200)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Files of several sizes."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(7):
        lines = [json.dumps({"text": text}) for text in TEXTS[number * 25 :][: 10 * number + 5]]
        (folder / f"{number}.jsonl").write_text("\n".join(lines))
    return folder


VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "a cut": {"validation": 0.3},
    "a hash": {"validation": 0.3, "split": "hash"},
    "shuffled": {"shuffle": 5},
    "shuffled and cut": {"shuffle": 5, "validation": 0.2},
    "shuffled and hashed": {"shuffle": 5, "validation": 0.2, "split": "hash"},
    "an end in front": {"end_of_text_place": "before", "name": "small"},
    "no end": {"end_of_text": None},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_parts_make_the_same_set(tmp_path: Path, corpus: Path, variant: str) -> None:
    options = VARIANTS[variant]
    prepare(corpus, TOK, tmp_path / "whole", **options)
    for parts in (1, 3):
        folders = [tmp_path / f"{parts}-{number}" for number in range(1, parts + 1)]
        for number, folder in enumerate(folders, 1):
            prepare(corpus, TOK, folder, part=(number, parts), **options)
        # In any order.
        merged = merge(folders[::-1], tmp_path / f"merged-{parts}")
        assert contents(tmp_path / f"merged-{parts}") == contents(tmp_path / "whole")
        assert merged == Manifest.read(tmp_path / "whole")


@pytest.mark.parametrize("layout", NAMES)
def test_parts_of_every_layout(tmp_path: Path, corpus: Path, layout: Any) -> None:
    options: dict[str, Any] = {"layout": layout}
    if layout != "nanogpt":
        options["shard_tokens"] = 1000
    own = corpus / "3.jsonl"
    prepare(corpus, TOK, tmp_path / "whole", validation=[own], **options)
    folders = [tmp_path / "one", tmp_path / "two"]
    with pytest.raises(ArgumentError, match="1 files cannot be divided into 2 parts"):
        prepare(corpus, TOK, tmp_path / "no", part=(1, 2), validation=[own], **options)
    options["validation"] = [own, corpus / "2.jsonl"]
    prepare(corpus, TOK, tmp_path / "both", **options)
    for number, folder in enumerate(folders, 1):
        prepare(corpus, TOK, folder, part=(number, 2), **options)
    merge(folders, tmp_path / "merged")
    assert contents(tmp_path / "merged") == contents(tmp_path / "both")


def test_parts_of_lists_and_tables(tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow").table({"text": TEXTS})
    for name, data in (("list", TEXTS), ("table", table)):
        prepare(data, TOK, tmp_path / name)
        folders = [tmp_path / f"{name}-{number}" for number in (1, 2, 3)]
        for number, folder in enumerate(folders, 1):
            prepare(data, TOK, folder, part=(number, 3))
        merge(folders, tmp_path / f"{name}-merged")
        assert tokens_of(tmp_path / f"{name}-merged") == tokens_of(tmp_path / name)


def test_a_part_may_have_no_documents(tmp_path: Path, corpus: Path) -> None:
    (corpus / "0.jsonl").write_text("")
    folders = [tmp_path / str(number) for number in range(1, 8)]
    for number, folder in enumerate(folders, 1):
        prepare(corpus, TOK, folder, part=(number, 7))
    assert 0 in [Manifest.read(folder).documents for folder in folders]
    prepare(corpus, TOK, tmp_path / "whole")
    merge(folders, tmp_path / "merged")
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Three parts of a set."""
    folders = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, folder in enumerate(folders, 1):
        prepare(TEXTS, TOK, folder, part=(number, 3), shuffle=1)
    return folders


def test_parts_that_do_not_make_a_set(tmp_path: Path, parts: list[Path]) -> None:
    out = tmp_path / "out"
    wrong: list[tuple[list[Path], str]] = [
        ([], "there are no parts"),
        (parts[:2], "of 3 parts, these are missing: 3"),
        ([*parts, parts[0]], "is part 1, and so is"),
        ([tmp_path], "there is no such file; a set that jeton has prepared completely has one"),
    ]
    prepare(TEXTS, TOK, tmp_path / "whole")
    wrong.append(([*parts[:2], tmp_path / "whole"], "is a whole set, not a part of one"))
    others: dict[str, dict[str, Any]] = {
        "another end of text": {"end_of_text": None},
        "another options": {"shuffle": 2},
        "another tokenizer": {},
    }
    for name, options in others.items():
        tok = tokenizer(pattern="gpt2") if name.endswith("tokenizer") else TOK
        given: dict[str, Any] = {"shuffle": 1, **options}
        prepare(TEXTS, tok, tmp_path / name, part=(3, 3), **given)
        wrong.append(([*parts[:2], tmp_path / name], f"is not a part of the same set as .*{name}"))
    prepare(TEXTS, TOK, tmp_path / "2/4", part=(2, 4), shuffle=1)
    wrong.append(([*parts, tmp_path / "2/4"], "another number of parts"))
    for folders, told in wrong:
        with pytest.raises(JetonError, match=told):
            merge(folders, out)
        assert not out.exists()
    with pytest.raises(ArgumentTypeError, match="parts must be an iterable of folders"):
        merge(parts[0], out)  # type: ignore[arg-type]


@pytest.mark.parametrize("file", ["train-00000.bin", "train-00000.ends", "train.keys"])
def test_a_part_that_is_damaged(tmp_path: Path, parts: list[Path], file: str) -> None:
    path = parts[1] / file
    raw = path.read_bytes()
    path.write_bytes(raw[:-8])
    with pytest.raises(FormatError, match=rf"part-2/{file}: is truncated"):
        merge(parts, tmp_path / "out")
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(FormatError, match=rf"part-2/{file}: is damaged"):
        merge(parts, tmp_path / "out")
    path.unlink()
    with pytest.raises(FormatError, match=rf"part-2/{file}: is missing"):
        merge(parts, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_tokenizer_that_no_format_holds(tmp_path: Path, parts: list[Path]) -> None:
    for part in parts:
        record = json.loads((part / "manifest.json").read_text())
        del record["tokenizer"]["file"]
        (part / "manifest.json").write_text(json.dumps(record))
    with pytest.raises(ArgumentError, match="no format can hold its tokenizer"):
        merge(parts, tmp_path / "out")
    other = jeton.Tokenizer(models.BPE({b"a": 0}, merges=[]))
    with pytest.raises(ArgumentError, match="is not the one that the set was prepared with"):
        merge(parts, tmp_path / "out", tokenizer=other)
    merge(parts, tmp_path / "out", tokenizer=TOK)


def test_a_merge_leaves_a_whole_set_alone(tmp_path: Path, parts: list[Path]) -> None:
    merge(parts, tmp_path / "out")
    with pytest.raises(FileError, match="holds a set already"):
        merge(parts, tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    merge(parts, tmp_path / "out")
