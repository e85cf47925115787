"""Chats: messages through a template to ids, in which no message forges a control token.

`tok.chat(messages)` is the way in. Look here for the names of the templates that jeton has, for
the parts of its result, and for the limits under which templates run.
"""

from __future__ import annotations

import importlib.util

from jeton.errors import UnsupportedError

if importlib.util.find_spec("jinja2") is None:
    raise UnsupportedError("chats need jinja2: pip install 'jeton[chat]'")

from jeton.chat.answers import Event, Parsed, ParsedCall, ParseStream, Part, Problem
from jeton.chat.answers.formats import FORMATS
from jeton.chat.chat import Chat, Request
from jeton.chat.prefixes import Prefixes, Step
from jeton.chat.rollout import Rewritten, Rollout
from jeton.chat.templates.finding import TEMPLATES
from jeton.chat.templates.limits import limits
from jeton.chat.templates.origins import Origin
from jeton.chat.training.fitting import Fitted

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
