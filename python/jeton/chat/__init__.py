"""Chats: messages through a template to ids, in which no message forges a control token.

`tok.chat(messages)` is the way in. Look here for the names of the templates that jeton has, for
the parts of its result, and for the limits under which templates run.
"""

from __future__ import annotations

from jeton.chat.chat import Chat, Request
from jeton.chat.fitting import Fitted
from jeton.chat.limits import limits
from jeton.chat.origins import Origin
from jeton.chat.parsing import Event, Parsed, ParsedCall, ParseStream, Part, Problem
from jeton.chat.parsing.answer_formats import FORMATS
from jeton.chat.prefixes import Prefixes, Step
from jeton.chat.rollout import Rewritten, Rollout
from jeton.chat.templates import TEMPLATES

__all__ = [
    "FORMATS",
    "TEMPLATES",
    "Chat",
    "Event",
    "Fitted",
    "Origin",
    "ParseStream",
    "Parsed",
    "ParsedCall",
    "Part",
    "Prefixes",
    "Problem",
    "Request",
    "Rewritten",
    "Rollout",
    "Step",
    "limits",
]
