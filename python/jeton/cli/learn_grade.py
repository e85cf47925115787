"""`jeton learn --grade` grades a file of functions; `--new` writes an empty one.

Look here for exit codes: 0 if every function that is filled in is right, 1 otherwise.
"""

from __future__ import annotations

from pathlib import Path

import click

from jeton.cli.command import echo_note
from jeton.cli.printing import say, styled
from jeton.cli.targets import check_target, replacing
from jeton.cli.terminal import columns, heading, paragraph, shorten
from jeton.display.human_readable import counted
from jeton.errors import FormatError
from jeton.learn.grading import Grade, grade, template

_SIGNS = {
    "right": ("✓", "green"),
    "wrong": ("✗", "red"),
    "raised": ("✗", "red"),
    "too long": ("✗", "red"),
    "ended": ("✗", "red"),
    "slow": ("✗", "red"),
    "missing": ("·", None),
}


def begin(path: str, *, force: bool) -> None:
    """Writes a file of empty functions."""
    check_target(path, inputs=(), force=force)
    with replacing(Path(path), force=force) as file:
        file.write(template().encode())
    echo_note(f"{path}: fill in a function, then jeton learn --grade {path}")


def show_grades(path: str) -> None:
    """Grades a file and prints, for each function, what is wrong with it and why."""
    check_target(None, inputs=[path], force=False)
    try:
        grades = grade(Path(path))
    except FormatError as error:
        first, *lines = str(error).split("\n")
        say("\n".join([f"{styled('Error:', fg='red', bold=True)} {first}", *lines]), err=True)
        raise click.exceptions.Exit(1) from None
    right = sum(it.outcome == "right" for it in grades)
    say(heading(f"{Path(path).name}: {right} of {counted(len(grades), 'function')} right"))
    for it in grades:
        _show(it)
    missing = next((it.task for it in grades if it.outcome == "missing"), None)
    wrong = [it for it in grades if it.outcome not in ("right", "missing")]
    say()
    if wrong:
        name = wrong[0].task.name
        say(paragraph(f"Fix {name} first; its page: docs/exercises/{name}.md"))
        raise click.exceptions.Exit(1)
    if missing is not None:
        say(paragraph(f"Next: {missing.name}. {missing.goal}"))
        say(paragraph(f"def {missing.name}{missing.signature}:"))
        return
    say(paragraph("All right: that is a tokenizer. Compare it with ours, jeton.learn.reference."))


def _show(it: Grade) -> None:
    sign, colour = _SIGNS[it.outcome]
    fast = "" if it.times_as_fast is None else f", {it.times_as_fast:.0f} times as fast as the page"
    summary = {
        "right": counted(it.calls, "call") + fast,
        "slow": "too slow:",
        "missing": "to be written",
        "too long": f"call {it.calls:,} takes too long:",
    }.get(it.outcome, f"call {it.calls:,} goes wrong:")
    say(f"  {styled(sign, fg=colour)} {styled(it.task.name.ljust(14), bold=True)} {summary}")
    if it.outcome in ("right", "missing"):
        return
    if it.outcome != "slow":
        _show_call(it)
    if it.why:
        say(styled(paragraph(it.why, " " * 6), fg="yellow"))


def _show_call(it: Grade) -> None:
    """The smallest call that goes wrong, and both answers."""
    arguments = ", ".join(map(repr, it.arguments))
    width = columns() - 6
    say(f"      {shorten(f'{it.task.name}({arguments})', width)}")
    if it.outcome not in ("too long", "ended"):
        say(f"      yours  {shorten(it.got, width - 7)}")
    say(f"      right  {shorten(repr(it.right), width - 7)}")
