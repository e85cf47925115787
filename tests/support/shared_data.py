"""The data beside the project, in `../shared/data`, and what a test does where it is absent.

Published vocabularies, templates and text are not part of jeton. A test that needs them asks here:
where they are absent it is skipped with a reason that `conftest.py` counts at the end of the run.
`JETON_SHARED` names another folder than `../shared`, or one that does not exist.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["SHARED", "VOCABULARIES", "needed", "needs"]

_BESIDE = Path(__file__).resolve().parents[3] / "shared"
SHARED = Path(os.environ.get("JETON_SHARED") or _BESIDE).absolute() / "data"
VOCABULARIES = SHARED / "vocab"


def needed(path: Path) -> Path:
    """A file or folder of `SHARED`; the test is skipped where it is absent."""
    if not path.exists():
        pytest.skip(_reason(path))
    return path


def needs(path: Path) -> pytest.MarkDecorator:
    """Marks a test that needs a file or folder of `SHARED`."""
    return pytest.mark.skipif(not path.exists(), reason=_reason(path))


def _reason(path: Path) -> str:
    return f"needs ../shared/data/{path.relative_to(SHARED).as_posix()}"
