"""Findings of `jeton check` as a table in a terminal, or as lines for other programs.

Look here for how many tokens of a finding are shown, and for the colours of severities.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jeton.analysis import RULES, Case, Finding, Health
from jeton.cli.printing import styled
from jeton.cli.terminal import columns, heading, lines_of, shorten, table
from jeton.display.human_readable import counted, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_EXAMPLES = 3
"""How many cases of a finding a table shows without `--all`."""


def rules_table() -> str:
    """All rules with their severities."""
    rows = [
        (styled(rule.severity, fg=_COLOURS[rule.severity]), rule.name, rule.title)
        for rule in RULES.values()
    ]
    return table(rows, "<<<", indent="")


def plain(health: Health, name: str, everything: bool) -> str:
    """A line for each finding, or for each of its cases, with tabs between the columns."""
    return "\n".join(_lines(health, name, everything)) or f"{name}\tnothing found"


def _lines(health: Health, name: str, everything: bool) -> Iterator[str]:
    for finding in health:
        start = f"{name}\t{finding.severity}\t{finding.rule}"
        if not everything:
            yield f"{start}\t{finding.message}"
            continue
        for case in finding.cases:
            id = "-" if case.id is None else str(case.id)
            yield f"{start}\t{id}\t{case}\t{' '.join(case.told.split())}"


def findings_table(health: Health, name: str, everything: bool, of_new: bool) -> str:
    """The table, with why each finding matters and what to do."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    for finding in health:
        mark = Text(f" {finding.severity:7}", style=f"bold {_COLOURS[finding.severity]}")
        grid.add_row(mark, _about(finding, everything))
        grid.add_row("", "")
    lines = lines_of([grid], columns())[:-1]
    title = heading(f"{name} · {_summary(health, of_new)}")
    body = ["", *lines, ""] if len(health) else []
    skipped: dict[str, list[str]] = {}
    for rule, why in health.skipped.items():
        skipped.setdefault(why, []).append(rule)
    footer = [
        styled(shorten(f"  not checked: {', '.join(rules)} ({why})", columns()), dim=True)
        for why, rules in skipped.items()
    ]
    return "\n".join([title, *body, *footer])


def _summary(health: Health, of_new: bool) -> str:
    counts = [
        counted(number, severity)
        for severity in ("error", "warning", "note")
        if (number := sum(finding.severity == severity for finding in health))
    ]
    new = " that are new" if of_new and counts else ""
    nothing = "nothing new" if of_new else "nothing found"
    return f"{health.vocab_size:,} tokens · {', '.join(counts) or nothing}{new}"


def _about(finding: Finding, everything: bool) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    rule = RULES[finding.rule]
    parts: list[RenderableType] = [
        Text.assemble(
            (finding.rule, "bold"), "  ", finding.message, (f" · {finding.evidence}", "dim")
        ),
    ]
    most = len(finding.cases) if everything else _EXAMPLES
    parts += [Padding(_case(case), (0, 0, 0, 2)) for case in finding.cases[:most]]
    if len(finding.cases) > most:
        parts.append(Text(f"  … {len(finding.cases) - most:,} more (--all)", style="dim"))
    parts.append(Text(rule.why, style="dim"))
    parts.append(Text.assemble(("→ ", "green"), rule.remedy))
    return Group(*parts)


def _case(case: Case) -> RenderableType:
    from rich.text import Text

    line = Text()
    if case.id is not None:
        line.append(f"{case.id:,} ", style="dim")
    line.append(shorten(str(case), 32), style="black on color(153)" if case.id is not None else "")
    if case.told:
        line.append(f"  {case.told}")
    if case.tried is not None and case.gave is not None and case.told.count(";") < 2:
        line.append(f"  tried {shorten(visible(case.tried.encode()), 24)}", style="dim")
        gave = ", ".join(map(str, case.gave[:6])) + (" …" if len(case.gave) > 6 else "")
        line.append(f" → {gave or 'nothing'}", style="dim")
    return line
