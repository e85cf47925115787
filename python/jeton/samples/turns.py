"""The question, the answer and the tool with which chat templates are tried.

They show how a template writes answers (`jeton.chat.templates.turn_shape`), and its faults
(`jeton.analysis.health.template_rules`).
"""

from __future__ import annotations

from typing import Any, Final

QUESTION: Final = "What is it like there?"
ANSWER: Final = "It is as they say."
ARGUMENTS: Final[dict[str, Any]] = {
    "place": 'Vik "by" the fjord',
    "days": 3,
    "more": {"list": [1, None, True, "a"]},
}
"""What a call of `TOOL` passes: text with quotes, a number, nested values; keys out of order."""
TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks something up.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "Where."},
                "days": {"type": "integer", "description": "How long."},
                "more": {"type": "object", "description": "What else."},
            },
        },
    },
}
