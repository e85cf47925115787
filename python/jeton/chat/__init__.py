"""Chats: messages through a template to ids, in which no message forges a control token.

`tok.chat(messages)` is the way in. Where to look:

- `chat.py`: the conversation, `Chat`, and its arguments, `Request`; `rollout.py`: how it continues
  with the ids that a model wrote (`extend`); `prefixes.py`: whether earlier ids stay the same.
- `messages.py`: what a message may be; `message_arguments.py`: arguments of its calls that come as
  JSON; `schemas.py`: functions as tools; `message_counts.py`: how many tokens messages have.
- `templates`: from messages to text that knows who wrote it, in a sandbox; where a turn of a
  template begins and ends (`turn_shape.py`), which all others ask.
- `control.py`: which tokens are control tokens; `encoding.py`: from that text to ids.
- `unprinted.py`: what a template left out; `showing.py`: a chat in a terminal.
- `answers`: from a model's ids to a message: where an answer begins and ends, its calls.
- `training`: which tokens are learnt, and which messages fit.
"""

from __future__ import annotations

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
