"""`jeton play`: a page on this machine that shows what tokenizers do with a text.

Look here for `Page`, which serves it. The browser holds what is on the screen; this package
answers its questions: `server.py` has a route per question and `guard.py` says who may ask.
`shelf.py` keeps the tokenizers, `documents.py` the texts, and a file per tab turns what jeton
finds into JSON. The page itself is plain HTML, CSS and JavaScript in `page/`; nothing builds it.

Needs the extra `jeton[play]`: starlette and uvicorn.
"""

from __future__ import annotations

from jeton.play.server import Page

__all__ = ["Page"]
