"""The browser in which pages are tested: `BROWSER`, and the mark of tests that need one."""

from __future__ import annotations

import shutil

import pytest

__all__ = ["BROWSER", "in_a_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
in_a_browser = pytest.mark.skipif(
    BROWSER is None, reason="no browser here (chromium, chromium-browser or google-chrome)"
)
