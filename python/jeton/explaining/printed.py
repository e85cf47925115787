"""An explanation as text, for `print`."""

from __future__ import annotations

from jeton.explaining.steps import Explanation

__all__ = ["printed"]


def printed(explanation: Explanation) -> str:
    """All steps, one below the other, without colours."""
    from jeton.learn.encoding import frames_of_encoding
    from jeton.learn.printed import text_of

    return text_of(frames_of_encoding(explanation))
