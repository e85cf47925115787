"""Paths on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

__all__ = ["PATH"]


class _Path(click.Path):
    """A path; an empty one is no name of this folder, but of a variable that is not set."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> Any:
        if value == "":
            self.fail("the path is empty", param, context)
        return super().convert(value, param, context)


PATH = _Path(path_type=Path)
