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

LEFT_OUT: list[int] = []
"""How many tests each process of a run left out for their size: the same in each."""
PASSED = "jeton/passed"
"""Where pytest's cache holds what passed in the last run without `--rest`."""

settings.register_profile("large", deadline=None)
settings.register_profile("small", deadline=None, max_examples=25)

# A shell has what it starts in the background ignore Ctrl-C, and so would what tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Its examples need torch.
collect_ignore = [] if find_spec("torch") else ["python/jeton/nn/__init__.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--size",
        choices=("small", "large"),
        default="large",
        help="small: run no test that is marked large, and try properties on fewer examples",
    )
    parser.addoption(
        "--rest",
        action="store_true",
        help="run only what did not pass in the last run without this: what that run left out",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(config.getoption("size"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("rest") and (cache := _cache(config)):
        passed = set(cache.get(PASSED, []))
        items[:] = [item for item in items if item.nodeid not in passed]
    everything = len(items)
    if config.getoption("size") == "small":
        items[:] = [item for item in items if not item.get_closest_marker("large")]
    left_out = everything - len(items)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = left_out
    else:
        LEFT_OUT.append(left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    LEFT_OUT.append(getattr(node, "workeroutput", {}).get("left_out", 0))


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """Where pytest keeps what passed; `None` with `-p no:cacheprovider`."""
    return getattr(config, "cache", None)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Keeps what passed, and counts at the very end what was not tested, and why."""
    reporter: TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    if not config.getoption("rest") and (cache := _cache(config)):
        cache.set(PASSED, [report.nodeid for report in reporter.stats.get("passed", [])])
    reasons = [str(report.longrepr) for report in reporter.stats.get("skipped", [])]
    missing = Counter(
        name
        for reason in reasons
        for name in re.findall(r"(?:could not import '|stands on )([a-z_]+)", reason)
    )
    packages = ", ".join(f"{name} {count}" for name, count in missing.most_common())
    not_run = {
        "large tests": max(LEFT_OUT, default=0),
        f"tests and files of tests for want of packages ({packages})": missing.total(),
        "tests for want of ../shared, which is not part of jeton": sum(
            "needs ../shared" in reason for reason in reasons
        ),
    }
    for what, count in not_run.items():
        if count:
            reporter.write_line(f"NOT run: {count} {what}", yellow=True)
