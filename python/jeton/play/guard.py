"""Who may ask the page's server: only the page itself, which knows a secret in its address.

A page of another site can make a browser send requests to this machine, and a name on the internet
can be made to resolve to it. So each request has to name this server as its host, come from the
page's own origin, and have the secret as the first part of its path. Everything else gets an
error without a body. Answers forbid the browser to load anything from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from typing import Any, Final

MAX_BODY: Final = 256 << 20
"""Bytes of a request: a tokenizer file, or a text with an edit."""

_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        # A notebook shows the page in a frame.
        "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
    ]
)

_HEADERS: Final = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class _TooLarge(Exception):
    """A request is too large."""


class Guard:
    """An ASGI application before another, which gets only the questions of the page."""

    def __init__(self, app: Any, secret: str, hosts: Iterable[str]) -> None:
        self._app = app
        self._secret = secret.encode()
        self._hosts = {host.encode() for host in hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        status = self._refusal(scope, dict(scope["headers"]))
        if status:
            await _refuse(send, status)
            return
        rest = scope["path"].split("/", 2)[2]
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode(), "root_path": ""}
        started = False
        size = 0

        async def receive_some() -> Any:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise _TooLarge
            return message

        async def send_guarded(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        try:
            await self._app(inner, receive_some, send_guarded)
        except _TooLarge:
            if not started:
                await _refuse(send, 413)
        except asyncio.CancelledError:  # The page is closed.
            if not started:
                await _refuse(send, 503)

    def _refusal(self, scope: Any, headers: dict[bytes, bytes]) -> int:
        """The status of the refusal; 0 if the request is the page's."""
        host = headers.get(b"host")
        # A name on the internet can resolve to this machine, but is not one of its addresses.
        if host not in self._hosts:
            name, port = scope["server"]
            address = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
            if host != address.encode():
                return 421
        origin = headers.get(b"origin")
        if origin is not None and origin != b"http://" + host:
            return 403
        parts = scope["path"].split("/", 2)
        if len(parts) < 3 or not hmac.compare_digest(parts[1].encode(), self._secret):
            return 404
        is_page = scope["method"] == "GET" and not parts[2].startswith("api/")
        site = headers.get(b"sec-fetch-site", b"none")
        if not is_page and site not in (b"same-origin", b"none"):
            return 403
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 12 or int(length) > MAX_BODY:
            return 413
        return 0


async def _refuse(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": b""})
