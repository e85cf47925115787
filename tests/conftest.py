"""What a run of the tests says at its end: what was left out, and why."""

from __future__ import annotations

from collections import defaultdict

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each reason, with how many tests it concerns and in which files."""
    places: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.getreports("skipped"):
        if isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2]).removeprefix("Skipped: ")
            places[reason].append(report.nodeid.partition("::")[0])
    if places:
        terminalreporter.section("left out")
    for reason, files in sorted(places.items()):
        terminalreporter.line(f"{len(files)}: {reason} ({', '.join(dict.fromkeys(files))})")
