"""`jeton check`: what is wrong with a tokenizer, for people and for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from jeton import saved_json
from jeton.analysis import RULES, Case, Finding, Health
from jeton.analysis import check as check_health
from jeton.analysis.health.rules import SEVERITIES, Severity, chosen_rules
from jeton.cli.command import Command, format_option, refuse_passed
from jeton.cli.documents import invalid_option
from jeton.cli.printing import say, styled
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_target, force_option, give, output_option
from jeton.cli.terminal import columns, heading, lines_of, shorten, table
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.display.human_readable import counted, visible
from jeton.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType

HELP = """Find faults of a tokenizer before you train a model with it.

Finds tokens that no text can produce, with the text that was tried; gaps and duplicates; bytes
without a token; special tokens that text can spell; remains of mark-up and of damaged text; and
what each file format would lose. With --corpus, also tokens that it never uses; with --embeddings,
rows that look untrained.

Exit codes: 0 if there is no finding as severe as --fail-on, 1 if there is (or if the check
failed), 2 for a wrong command line. With --baseline FILE, a result of --format json, only new
findings count.

\b
Examples:
  jeton check tokenizer.json
  jeton check tokenizer.json --corpus corpus/ --ignore url --ignore markup
  jeton check tokenizer.json --format json -o known.json --fail-on never
  jeton check tokenizer.json --baseline known.json --fail-on warning
  jeton check ./model --embeddings ./model/model.safetensors
  jeton check --rules
"""


def _list_rules(ctx: click.Context, _: click.Parameter, is_set: bool) -> None:
    if is_set and not ctx.resilient_parsing:
        say(rules_table())
        ctx.exit()


def _rule(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        try:
            chosen_rules([name], ())
        except ArgumentError as error:
            raise click.BadParameter(str(error).removeprefix("only: ")) from None
    return names


@click.command(cls=Command, help=HELP, short_help="Find faults of a tokenizer.")
@tokenizer_options
@click.option(
    "--corpus",
    type=FilePath(),
    multiple=True,
    metavar="PATH",
    help="Find tokens that a file or folder never uses. Repeatable.",
)
@invalid_option
@click.option(
    "--embeddings",
    type=FilePath(),
    metavar="FILE",
    help="Find rows that look untrained in a model's safetensors.",
)
@click.option("--tensor", metavar="NAME", help="The name of the embedding, if it is unusual.")
@format_option(
    "table",
    "plain",
    "json",
    "sarif",
    help="A table for people, lines for grep, JSON with everything, or SARIF 2.1.0.",
)
@output_option
@force_option
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="error",
    help="How severe a finding must be for exit code 1.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="RULE",
    callback=_rule,
    help="Check only this rule. Repeatable.",
)
@click.option(
    "--ignore", multiple=True, metavar="RULE", callback=_rule, help="Skip this rule. Repeatable."
)
@click.option(
    "--baseline",
    type=FilePath(),
    metavar="FILE",
    help="An earlier result (JSON), to show only what is new.",
)
@click.option("--all", "everything", is_flag=True, help="Show every token of every finding.")
@click.option(
    "--rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_rules,
    help="List the rules.",
)
def check(
    source: TokenizerSource,
    corpus: tuple[str, ...],
    invalid: Literal["strict", "replace"],
    embeddings: str | None,
    tensor: str | None,
    form: str,
    output: str | None,
    force: bool,
    fail_on: str,
    only: tuple[str, ...],
    ignore: tuple[str, ...],
    baseline: str | None,
    everything: bool,
) -> None:
    if tensor is not None and embeddings is None:
        raise click.UsageError("--tensor goes with --embeddings.")
    if not corpus:
        refuse_passed("--corpus", "invalid")
    inputs = [*source.files, *corpus, *filter(None, (embeddings, baseline))]
    check_target(output, inputs=inputs, force=force, stream=True)
    earlier = None if baseline is None else Health.load(baseline)
    tok = source.load()
    usage = None
    if corpus:
        with ProgressBar("counting", None) as progress:
            files = [Path(path) for path in corpus]
            usage = tok.usage(files, errors=invalid, watch=progress.follow)
    health = check_health(
        tok, corpus=usage, embeddings=embeddings, tensor=tensor, only=only, ignore=ignore
    )
    new = health if earlier is None else health.since(earlier)
    text = _formatted(new, source.name, form, everything, earlier is not None)
    give(text, output, force=force)
    if fail_on != "never":
        failing = SEVERITIES[: SEVERITIES.index(cast(Severity, fail_on)) + 1]
        if any(finding.severity in failing for finding in new):
            raise click.exceptions.Exit(1)


def _formatted(health: Health, name: str, form: str, everything: bool, of_new: bool) -> str:
    if form == "json":
        return saved_json.dumps(health.to_dict(), indent=1)
    if form == "sarif":
        from jeton.analysis.health.sarif import to_sarif

        return saved_json.dumps(to_sarif(health, name), indent=1)
    if form == "plain":
        return plain(health, name, everything)
    return findings_table(health, name, everything, of_new)


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
        counted(number, severity) for severity in SEVERITIES if (number := health.count(severity))
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
