"""The server of the page: a route per question, an answer in JSON or in columns.

Look here for what the browser may ask. Questions run on threads, so that a slow one (a large file,
a regular expression) leaves the others alone; what is wrong with a question is an answer, too: the
message of the exception, with status 400.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jeton import cost, palette, samples
from jeton._core import __version__
from jeton.chat import TEMPLATES
from jeton.errors import ArgumentError, JetonError, UnsupportedError
from jeton.known_names import names
from jeton.play.chats import parsed_answer, shown_chat
from jeton.play.documents import Document, Documents, Tokens
from jeton.play.guard import Guard
from jeton.play.ids import decoded
from jeton.play.shelf import Shelf
from jeton.play.steps import steps
from jeton.play.token_details import details, neighbours
from jeton.play.training import trained
from jeton.play.vocabulary import Table

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from jeton.tokenizer import Tokenizer

__all__ = ["Page"]

WHOLE: Final = 200_000
"""Tokens of a text that are sent at once; of a longer text, those that are on the screen."""

_MAX_GOTCHAS: Final = 100_000
"""Characters that are looked through for gotchas."""

_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

Asked = dict[str, Any]


class Page:
    """A page of tokenizers, served on this machine until it is closed.

    Args:
        tokenizers: The tokenizers to begin with, by the names that their cards show.
        text: The text to begin with.
        host: Where to listen. Anything but this machine's own address lets others on the network
            ask, if they know the address with its secret.
        port: The port; 0 takes a free one.

    Attributes:
        url: The address of the page, with its secret.

    Raises:
        UnsupportedError: starlette or uvicorn is not installed.
        OSError: The port is taken.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("hello")
        >>> with Page({"mine": tok}) as page:
        ...     page.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        tokenizers: Mapping[str, Tokenizer],
        *,
        text: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        try:
            import uvicorn
        except ImportError:
            raise UnsupportedError(
                "the page needs starlette and uvicorn: pip install 'jeton[play]'"
            ) from None
        secret = secrets.token_urlsafe(16)
        self._socket = socket.create_server((host, port))
        port = self._socket.getsockname()[1]
        hosts = {f"{name}:{port}" for name in (host, "127.0.0.1", "localhost")}
        app = Guard(_Answers(tokenizers, text).app(), secret, hosts)
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
        )
        self._thread: threading.Thread | None = None
        self.url = f"http://{host}:{port}/{secret}/"

    def serve(self) -> None:
        """Serves the page until it is closed or interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def start(self) -> Self:
        """Serves the page from a thread of its own."""
        self._thread = threading.Thread(target=self.serve, name="jeton play", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Ends the server."""
        self._server.should_exit = True
        if self._thread is None:
            self._socket.close()
        else:
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Page at {self.url}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{escape(self.url, quote=True)}" title="jeton play" '
            'style="width:100%;height:48rem;border:1px solid #8884;border-radius:8px"></iframe>'
        )


class _Answers:
    """What the routes answer with."""

    def __init__(self, tokenizers: Mapping[str, Tokenizer], text: str) -> None:
        self.shelf = Shelf(tokenizers)
        self.documents = Documents()
        self.tables: dict[int, Table] = {}
        self.text = text

    def app(self) -> Any:
        """The routes."""
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import Response
        from starlette.routing import Route

        async def static(request: Request) -> Response:
            name = request.path_params.get("name") or "index.html"
            found = _files().get(name)
            if found is None:
                return Response(status_code=404)
            kind, content = found
            return Response(content, media_type=kind)

        def answering(answer: Callable[[Asked], Any]) -> Callable[[Request], Awaitable[Response]]:
            async def respond(request: Request) -> Response:
                try:
                    asked = _object(await request.body())
                    found = await asyncio.to_thread(answer, asked)
                except (JetonError, ValueError, KeyError, TypeError, MemoryError) as error:
                    return _json({"error": _message(error)}, 400)
                if isinstance(found, bytes):
                    return Response(found, media_type="application/octet-stream")
                return _json(found)

            return respond

        async def upload(request: Request) -> Response:
            try:
                content = _parts(await request.body())
                card = await asyncio.to_thread(self.shelf.uploaded, content)
            except (JetonError, ValueError, OSError) as error:
                return _json({"error": _message(error)}, 400)
            return _json(card.summary())

        def _json(value: Any, status: int = 200) -> Response:
            content = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
            return Response(content, status, media_type="application/json")

        routes = [
            Route(f"/api/{name}", answering(getattr(self, name)), methods=["POST"])
            for name in (
                "start load drop encode window token neighbours gotchas price steps vocabulary "
                "unreachable chat answer train decode save"
            ).split()
        ]
        return Starlette(
            routes=[
                *routes,
                Route("/api/upload", upload, methods=["POST"]),
                Route("/", static, methods=["GET"]),
                Route("/{name}", static, methods=["GET"]),
            ]
        )

    # Each method answers the route of its name.

    def start(self, asked: Asked) -> Any:
        del asked
        prices = cost.shipped()
        return {
            "version": __version__,
            "cards": [card.summary() for card in self.shelf],
            "names": [{"name": name, "what": what} for name, what in names().items()],
            "templates": sorted(TEMPLATES),
            "models": sorted(prices),
            "samples": {name: text[:4000] for name, text in samples.read_all().items()},
            "text": self.text,
        }

    def load(self, asked: Asked) -> Any:
        return self.shelf.known(str(asked["name"])).summary()

    def drop(self, asked: Asked) -> Any:
        self.shelf.drop(asked["card"])
        self.tables.pop(asked["card"], None)
        return {}

    def encode(self, asked: Asked) -> Any:
        name, version = str(asked["document"]), int(asked["version"])
        document: Document | None
        if "text" in asked:
            document = self.documents.whole(name, version, asked["text"])
        elif "edit" in asked:
            document = self.documents.edited(name, version, asked["edit"])
        else:
            document = self.documents[name]
        if document is None:
            return {"resend": True}
        return self._columns(document, asked, lambda tokens: (0, min(len(tokens), WHOLE)))

    def window(self, asked: Asked) -> Any:
        start, stop = int(asked["start"]), int(asked["stop"])
        if asked.get("by") == "offset":

            def part(tokens: Tokens) -> tuple[int, int]:
                return tokens.at(start), tokens.at(stop) + 1

        else:

            def part(tokens: Tokens) -> tuple[int, int]:
                return start, stop

        return self._columns(self.documents[str(asked["document"])], asked, part)

    def _columns(
        self, document: Document, asked: Asked, part: Callable[[Tokens], tuple[int, int]]
    ) -> bytes:
        """For each card, what is said of it in JSON, and its columns behind all that."""
        special = str(asked.get("special", "ignore"))
        heads: list[Asked] = []
        columns = b""
        for number in asked["cards"][:6]:
            try:
                tokens = document.tokens(self.shelf[number], special)
            except (JetonError, MemoryError) as error:
                heads.append({"card": number, "error": _message(error)})
                continue
            start, stop = part(tokens)
            start = max(0, start)
            stop = max(start, min(stop, start + WHOLE, len(tokens)))
            heads.append({"card": number, "count": len(tokens), "start": start, "stop": stop})
            columns += tokens.columns(start, stop)
        head = json.dumps(
            {
                "version": document.version,
                "units": len(document),
                "bytes": len(document.text.encode("utf-8", "surrogatepass")),
                "characters": len(document.text),
                "cards": heads,
            }
        ).encode()
        head += b" " * (-len(head) % 4)
        return len(head).to_bytes(4, "little") + head + columns

    def token(self, asked: Asked) -> Any:
        return details(self.shelf[asked["card"]], int(asked["id"]))

    def neighbours(self, asked: Asked) -> Any:
        return neighbours(self.shelf[asked["card"]], int(asked["id"]))

    def gotchas(self, asked: Asked) -> Any:
        document, card = self.documents[str(asked["document"])], self.shelf[asked["card"]]
        text = document.text[:_MAX_GOTCHAS]
        found = card.tokenizer.gotchas(text, limit=5)
        # Spans count characters; the browser counts UTF-16.
        units = _units(text)
        return {
            "found": [
                {
                    "name": it.name,
                    "start": units(it.span[0]),
                    "end": units(it.span[1]),
                    "times": it.times,
                    "what": it.what,
                    "effect": it.effect,
                    "do": it.do,
                    "text": it.text,
                    "spelling": it.spelling,
                    "instead": it.instead,
                    "tokens": [len(it.ids), len(it.instead_ids)],
                }
                for it in found
            ],
            "looked": len(text),
            "of": len(document.text),
        }

    def price(self, asked: Asked) -> Any:
        model = str(asked["model"])
        prices = [cost.estimate(model, int(count)) for count in asked["counts"]]
        return {
            "prices": [str(it) for it in prices],
            "tokenizer": cost.tokenizer_of(model),
            "notes": list(prices[0].notes) if prices else [],
            "today": datetime.date.today().isoformat(),
        }

    def steps(self, asked: Asked) -> Any:
        return steps(self.shelf[asked["card"]], str(asked["text"]), str(asked.get("special")))

    def _table(self, number: int) -> Table:
        card = self.shelf[number]
        return self.tables.setdefault(number, Table(card))

    def vocabulary(self, asked: Asked) -> Any:
        table = self._table(asked["card"])
        used = np.zeros(0, np.int64)
        with contextlib.suppress(ArgumentError):
            document = self.documents[str(asked.get("document"))]
            used = np.bincount(
                document.tokens(table.card, "ignore").ids, minlength=table.card.tokenizer.max_id + 1
            )
        return table.rows(
            str(asked.get("query", "")),
            str(asked.get("kind", "text")),
            str(asked.get("sort", "id")),
            bool(asked.get("descending")),
            int(asked.get("start", 0)),
            int(asked.get("stop", 100)),
            used,
        )

    def unreachable(self, asked: Asked) -> Any:
        return {"found": len(self._table(asked["card"]).unreachable)}

    def chat(self, asked: Asked) -> Any:
        return shown_chat(self.shelf[asked["card"]], asked)

    def answer(self, asked: Asked) -> Any:
        return parsed_answer(self.shelf[asked["card"]], asked)

    def train(self, asked: Asked) -> Any:
        text = asked.get("text")
        if text is None:
            text = self.documents[str(asked["document"])].text
        return trained(self.shelf, text, str(asked["kind"]), int(asked["size"]))

    def decode(self, asked: Asked) -> Any:
        return decoded(self.shelf[asked["card"]], str(asked["ids"]))

    def save(self, asked: Asked) -> Any:
        return self.shelf[asked["card"]].tokenizer.to_json().encode()


def _files() -> dict[str, tuple[str, bytes]]:
    """The files of the page, by name."""
    folder = files(__package__).joinpath("page")
    found = {
        it.name: (_KINDS[it.name.rsplit(".", 1)[-1]], it.read_bytes())
        for it in folder.iterdir()
        if it.name.rsplit(".", 1)[-1] in _KINDS
    }
    return found | {"palette.css": (_KINDS["css"], palette.css().encode())}


def _object(body: bytes) -> Asked:
    asked = json.loads(body or b"{}")
    if not isinstance(asked, dict):
        raise ArgumentError("a question is a JSON object")
    return asked


def _message(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"the question lacks {error}"
    return str(error) or type(error).__name__


def _parts(body: bytes) -> dict[str, bytes]:
    """The files of an upload: a line of JSON with their names and sizes, then their bytes."""
    head, _, rest = body.partition(b"\n")
    found: dict[str, bytes] = {}
    for entry in json.loads(head):
        size = int(entry["size"])
        found[str(entry["name"])] = rest[:size]
        rest = rest[size:]
    return found


def _units(text: str) -> Callable[[int], int]:
    """From characters to UTF-16 code units."""
    if text.isascii() or max(text, default="") < "\U00010000":
        return lambda place: place
    wide = np.fromiter((ord(it) > 0xFFFF for it in text), np.int64, len(text))
    sums = np.concatenate([[0], np.cumsum(wide)])
    return lambda place: place + int(sums[place])
