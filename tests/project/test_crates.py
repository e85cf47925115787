"""No files of a Rust crate import each other in a circle; that crates do not, the compiler holds.

A folder's own file (`mod.rs`, or the file that has the folder's name) may import from the files
within, and they from it: it says what the folder is. All other imports of files go one way, those
by a name that another file or the face of the crate hands on included.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"

USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![:\w])(\w+(?:::\w+)+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)

Names = tuple[str, ...]
"""A path of Rust from the root of its crate, or a module."""


def files(source: Path) -> list[Path]:
    """The files of a crate but for its face and for tests, which may use what they like."""
    names = {"lib.rs", "tests.rs", "golden.rs", "counting_tests.rs"}
    return [path for path in sorted(source.rglob("*.rs")) if path.name not in names]


def code_of(path: Path) -> str:
    text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    return TESTS.sub("", text)


def branches(tree: str) -> Iterator[str]:
    """The paths of a `use` without braces: `a::{b, c::{d}}` has `a::b` and `a::c::d`."""
    start = tree.find("{")
    if start < 0:
        yield " ".join(tree.split())
        return
    depth, branch = 0, ""
    for character in tree[start + 1 : tree.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character != "," or depth:
            branch += character
        elif branch.strip():
            yield from (tree[:start].strip() + inner for inner in branches(branch))
            branch = ""


class Crate:
    """The files of a crate by module, and what each names of the others."""

    def __init__(self, source: Path) -> None:
        self.files: set[Names] = set()
        self.paths: dict[Names, set[Names]] = {}
        """For each module, the paths that its code has."""
        self.known: dict[Names, dict[str, Names]] = {}
        """For each module, the names that `use` brings into it, and may hand on."""
        face = code_of(source / "lib.rs")
        exported = (
            tree for use in re.findall(r"\bpub use\s+([^;]+);", face) for tree in branches(use)
        )
        self.face = {path.split("::")[-1]: tuple(path.split("::")) for path in exported}
        """Where what the face of the crate hands on is defined."""
        codes = {}
        for path in files(source):
            parts = path.relative_to(source).with_suffix("").parts
            codes[parts[:-1] if parts[-1] == "mod" else parts] = code_of(path)
        self.files = set(codes)
        for module, code in codes.items():
            used = {}
            for tree in USE.findall(code):
                for branch in branches(tree):
                    name, _, alias = branch.partition(" as ")
                    names = self.from_root(name.removesuffix("::self"), module)
                    if names:
                        used[alias or names[-1]] = names
            rest = (self.from_root(path, module) for path in PATH.findall(USE.sub("", code)))
            self.known[module] = used
            self.paths[module] = {*used.values(), *filter(None, rest)}

    def from_root(self, path: str, module: Names) -> Names | None:
        """A path from the root of the crate; `None` if it is none of this crate's modules."""
        names = path.split("::")
        if names[0] == "crate":
            return (*self.face.get(names[1], names[1:2]), *names[2:])
        if names[0] not in ("self", "super") and (*module, names[0]) not in self.files:
            return None
        while names and names[0] in ("self", "super"):
            module = module[:-1] if names.pop(0) == "super" else module
        return (*module, *names)

    def file_of(self, names: Names) -> Names | None:
        """The module whose file defines what a path names; `None` if it is the crate's face."""
        for length in range(len(names), 0, -1):
            module, rest = names[:length], names[length:]
            if module in self.files:
                handed_on = self.known[module].get(rest[0]) if rest else None
                if handed_on is None or handed_on == names:
                    return module
                return self.file_of((*handed_on, *rest[1:]))
        return None

    def imports(self, module: Names) -> Iterator[Names]:
        """The modules that one imports from, but for those of its own folder's files."""
        for names in self.paths[module]:
            target = self.file_of(names)
            if target is not None and target[: len(module)] != module:
                yield target


def test_a_name_of_the_face_is_seen_as_its_module(tmp_path: Path) -> None:
    for name, code in {
        "lib.rs": "pub use tokenizer::{Tokenizer, Unit};",
        "tokenizer.rs": "pub struct Tokenizer; pub struct Unit;",
        "model.rs": "use crate::Tokenizer; fn count(unit: crate::Unit) {}",
    }.items():
        (tmp_path / name).write_text(code, "utf-8")
    paths = Crate(tmp_path).paths["model",]
    assert paths == {("tokenizer", "Tokenizer"), ("tokenizer", "Unit")}


@pytest.mark.parametrize("crate", sorted(path.name for path in CRATES.iterdir()))
def test_no_files_import_each_other(crate: str) -> None:
    found = Crate(CRATES / crate / "src")
    graph = {module: set(found.imports(module)) for module in found.files}
    assert len(graph) < 2 or any(graph.values())
    list(graphlib.TopologicalSorter(graph).static_order())  # names the circle where there is one
