"""What holds for every test: properties have all the time that they take, examples of modules that
stand on a framework are left out where that is not installed, tests of absent data are counted, and
Ctrl-C is heard."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

settings.register_profile("jeton", deadline=None)
settings.load_profile("jeton")

# A shell has what it starts in the background ignore Ctrl-C, and so would what tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = [] if find_spec("torch") else ["python/jeton/nn/__init__.py"]


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Counts what was not tested for want of data, so that none of it passes for tested."""
    reports = terminalreporter.stats.get("skipped", [])
    absent = sum("needs ../shared" in str(report.longrepr) for report in reports)
    if absent:
        tests = "test needs" if absent == 1 else "tests need"
        terminalreporter.write_line(f"{absent} {tests} ../shared, which is not here", yellow=True)
