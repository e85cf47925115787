"""What holds for every test: its size, that properties take their time, that Ctrl-C is heard, and
that a run says at its end what it did not test, and what would."""

from __future__ import annotations

import re
import signal
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

SIZES = ("small", "medium", "large")
"""Tests that are marked neither medium nor large are small."""
LEFT_OUT: list[int] = []
"""How many tests each process of a run left out for their size: the same in each."""

settings.register_profile("large", deadline=None)
settings.register_profile("medium", deadline=None, max_examples=25)

# A shell has what it starts in the background ignore Ctrl-C, and so would what tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Its examples need torch.
collect_ignore = [] if find_spec("torch") else ["python/jeton/nn/__init__.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--size",
        choices=SIZES,
        default="large",
        help="run no test that is larger, and try properties on fewer examples if it is not large",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("large" if config.getoption("size") == "large" else "medium")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    larger = SIZES[SIZES.index(config.getoption("size")) + 1 :]
    kept = [item for item in items if not any(map(item.get_closest_marker, larger))]
    left_out = len(items) - len(kept)
    items[:] = kept
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = left_out
    else:
        LEFT_OUT.append(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    LEFT_OUT.append(getattr(node, "workeroutput", {}).get("left_out", 0))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Counts at the very end what was not tested, so that none of it passes for tested."""
    reporter: TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    reasons = [str(report.longrepr) for report in reporter.stats.get("skipped", [])]
    missing = Counter(
        name
        for reason in reasons
        for name in re.findall(r"(?:could not import '|stands on )([a-z_]+)", reason)
    )
    packages = ", ".join(f"{name} {count}" for name, count in missing.most_common())
    size = config.getoption("size")
    not_run = {
        f"tests larger than {size}": max(LEFT_OUT, default=0),
        f"tests and files of tests for want of packages ({packages})": missing.total(),
        "tests for want of ../shared, which is not part of jeton": sum(
            "needs ../shared" in reason for reason in reasons
        ),
    }
    for what, count in not_run.items():
        if count:
            reporter.write_line(f"NOT run: {count} {what}", yellow=True)
