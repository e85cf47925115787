"""An explanation as HTML, for notebooks."""

from __future__ import annotations

from jeton.explaining.steps import Explanation

__all__ = ["as_html"]


def as_html(explanation: Explanation) -> str:
    """All steps, one below the other."""
    from jeton.learn.encoding import frames_of_encoding
    from jeton.learn.page import fragment

    return fragment(frames_of_encoding(explanation))
