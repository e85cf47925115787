"""Runs a page of the documentation: its Python, its sessions, its commands and its pictures.

Look here for what a page may hold. The blocks of a page run one after another, in one folder and
one namespace:

- ```python: a program, which must end without an error.
- ```pycon: a session, as a doctest; `...` in what is shown stands for anything.
- ```console: commands behind `$`, in bash; what is shown below one is what it must print; `...`
  stands for any part of a line, or by itself for any lines.
- a picture whose name begins with `pictures/` right after a console block: what the last command
  of that block shows in a terminal.
- a table behind `<!-- rows run -->`: the code in the first two cells of a row gives equal values;
  of several statements, the last.
- a table behind `<!-- no rows -->`: names of another library in its first cell that have no such
  row, and why. `test_coming_from.py` looks that every name of theirs is in one of the two.

With `JETON_DOCS=write` what is shown, and the pictures, are written instead of compared.
"""

from __future__ import annotations

import ast
import doctest
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "FENCED",
    "NO_ROWS",
    "OPTIONS",
    "TABLE",
    "Page",
    "cells",
    "hold_table",
    "steps",
    "tools",
]

WRITES = os.environ.get("JETON_DOCS") == "write"
FENCED = re.compile(
    r"^```(?P<kind>python|pycon|console)\n(?P<code>.*?)^```\n"
    r"(?:\n!\[(?P<alt>[^\]]*)\]\((?P<picture>(?:[.\w]+/)*pictures/[^)]+\.svg)\))?",
    re.MULTILINE | re.DOTALL,
)
TABLE = re.compile(r"^<!-- rows run -->\n\n(?P<table>(?:\|[^\n]*\n)+)", re.MULTILINE)
NO_ROWS = re.compile(r"^<!-- no rows -->\n\n(?P<table>(?:\|[^\n]*\n)+)", re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Page:
    """A page, and the folder in which it is run; `path` may be one that is written to."""

    def __init__(self, path: Path, folder: Path, bin: Path) -> None:
        self.path, self.folder, self.bin = path, folder, bin
        self.namespace: dict[str, object] = {"__name__": "__main__"}
        self.text = path.read_text(encoding="utf-8")

    def run(self) -> None:
        """Runs all blocks; the folder must be the current one."""
        written, end = "", 0
        for block in sorted(
            [*FENCED.finditer(self.text), *TABLE.finditer(self.text)],
            key=lambda block: block.start(),
        ):
            if block.re is TABLE:
                self.table(block["table"])
                continue
            line = self.text.count("\n", 0, block.start("code"))
            code = block["code"]
            if block["kind"] == "python":
                exec(
                    compile("\n" * line + code, str(self.path), "exec", dont_inherit=True),
                    self.namespace,
                )
            elif block["kind"] == "pycon":
                code = self.session(code, line)
            else:
                code = self.console(code, line)
            if block["picture"] and block["kind"] == "console":
                self.picture(self.path.parent / block["picture"], code, block["alt"])
            written += self.text[end : block.start("code")] + code
            end = block.end("code")
        if WRITES:
            self.path.write_text(written + self.text[end:], encoding="utf-8")

    def session(self, code: str, line: int) -> str:
        """Runs a session, and returns it with what it shows now."""
        examples = doctest.DocTestParser().get_examples(code)
        lines = code.splitlines(keepends=True)
        shown: list[tuple[int, int, str]] = []
        runner = _Runner(optionflags=OPTIONS)
        place = f"{self.path.name}:{line + 1}"
        for example in examples:
            test = doctest.DocTest([example], {}, place, str(self.path), line, None)
            test.globs = self.namespace  # as it is: functions look into it
            told: list[str] = []
            runner.got = ""
            runner.run(test, out=told.append, clear_globs=False)
            begin = example.lineno + example.source.count("\n")
            shown.append((begin, begin + example.want.count("\n"), runner.got))
            assert WRITES or not told, f"{place}\n{''.join(told)}"
        for begin, after, got in reversed(shown):
            if "..." not in "".join(lines[begin:after]):
                lines[begin:after] = [got]
        return "".join(lines)

    def console(self, code: str, line: int) -> str:
        """Runs commands, and returns the block with what they print now."""
        parts = re.split(r"^\$ ", code, flags=re.MULTILINE)
        for number, step in enumerate(parts[1:], 1):
            command, shown = _command(step)
            result = self.bash(command)
            place = f"{self.path.name}:{line + 1}: {command}"
            assert result.returncode == 0, f"{place}\n{result.stdout}{result.stderr}"
            if shown.strip():
                printed = result.stdout + "\n" * (not result.stdout.endswith("\n"))
                if WRITES and "..." not in shown:
                    parts[number] = f"{command}\n{printed}" + ("\n" * shown.endswith("\n\n"))
                else:
                    assert _matches(shown.strip("\n"), printed.strip("\n")), (
                        f"{place}\nprinted:\n{printed}\nshown:\n{shown}"
                    )
        return "$ ".join(parts)

    def table(self, table: str) -> None:
        """Holds the first two cells of each row against each other."""
        wrong = []
        for row in cells(table):
            codes = [re.fullmatch(r"`(.+)`", cell) for cell in row[:2]]
            if len(codes) < 2 or not all(codes):
                raise AssertionError(f"{self.path.name}: no code in both cells of {row}")
            values = []
            for code in codes:
                try:
                    values.append(_plain(self.value(code.group(1))))  # type: ignore[union-attr]
                except Exception as error:
                    values.append(f"{type(error).__name__}: {error}")
            if values[0] != values[1]:
                wrong.append(f"{' | '.join(row)}\n  {values[0]!r:.300}\n  {values[1]!r:.300}")
        assert not wrong, f"{self.path.name}:\n" + "\n".join(wrong)

    def value(self, code: str) -> Any:
        """The value of the last of one or several statements."""
        *before, last = ast.parse(code).body
        exec(compile(ast.Module(before, []), code, "exec"), self.namespace)
        assert isinstance(last, ast.Expr), f"no value: {code}"
        return eval(compile(ast.Expression(last.value), code, "eval"), self.namespace)

    def picture(self, path: Path, code: str, alt: str) -> None:
        """Draws what the last command of a block shows in a terminal."""
        import pictures  # of `site`; it needs rich and jeton, which nothing else here does

        command, _ = _command(re.split(r"^\$ ", code, flags=re.MULTILINE)[-1])
        coloured = self.bash(f"{command} --color always").stdout
        drawn = pictures.of_terminal(coloured, command, alt)
        if WRITES:
            path.parent.mkdir(exist_ok=True)
            path.write_text(drawn, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == drawn, (
            f"{path.name} is not what {command} shows (JETON_DOCS=write draws it)"
        )

    def bash(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={
                **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
                "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
                "COLUMNS": "88",
            },
        )


class _Runner(doctest.DocTestRunner):
    """Keeps what an example gave."""

    got = ""

    def report_success(self, out: object, test: object, example: object, got: str) -> None:
        self.got = got

    def report_failure(self, out: object, test: object, example: object, got: str) -> None:
        self.got = got
        super().report_failure(out, test, example, got)  # type: ignore[arg-type]

    def report_unexpected_exception(
        self, out: object, test: object, example: object, exc_info: Any
    ) -> None:
        kind, error, _ = exc_info
        last = "".join(traceback.format_exception_only(kind, error))
        self.got = f"Traceback (most recent call last):\n  ...\n{last}"
        super().report_unexpected_exception(out, test, example, exc_info)  # type: ignore[arg-type]


def tools(folder: Path) -> Path:
    """A folder of commands: `jeton` and `python`, those of this Python."""
    folder.mkdir()
    for name, call in (("jeton", "-m jeton "), ("python", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call}"$@"\n')
        path.chmod(0o755)
    return folder


def cells(table: str) -> list[list[str]]:
    """The cells of each row of a table, but for its head."""
    rows = table.splitlines()[2:]
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]


def hold_table(path: Path, head: str, rows: str) -> None:
    """Holds the rows of the table of a page with this head, or writes them."""
    page = path.read_text("utf-8")
    start = page.index("\n", page.index(f"{head}\n") + len(head) + 1) + 1
    end = page.find("\n\n", start) + 1 or len(page)
    if WRITES:
        path.write_text(page[:start] + rows + page[end:], "utf-8")
    else:
        assert page[start:end] == rows, f"{path.name}: JETON_DOCS=write writes the table"


def steps(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what is shown below it."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        yield _command(step)


def _plain(value: Any) -> Any:
    """A value without what distinguishes one library's containers from another's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {_plain(key): _plain(part) for key, part in value.items()}
    return value


def _command(step: str) -> tuple[str, str]:
    """A command, over several lines where they end in a backslash, and what stands below it."""
    lines = step.split("\n")
    length = 1
    while lines[length - 1].endswith("\\"):
        length += 1
    return "\n".join(lines[:length]), "\n".join(lines[length:])


def _matches(shown: str, printed: str) -> bool:
    """Whether a command printed what is shown, where `...` is any lines or any part of one."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in shown.split("\n")
    ]
    return re.fullmatch("".join(lines), printed + "\n") is not None
