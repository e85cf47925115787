"""The server of the page: a route per question, an answer in JSON or in columns.

Look here for what the browser may ask. Questions run on threads, so that a slow one (a large file,
a regular expression) does not delay the others; a wrong question is answered too, by the
message of the exception, with status 400. The threads are daemons: a question that is still running
does not keep the server, or the program, from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import itertools
import json
import logging
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from jeton import samples
from jeton.arguments import check_named, check_text
from jeton.chat import TEMPLATES
from jeton.display import palette
from jeton.encoding.base_tokenizer import BaseTokenizer
from jeton.errors import ArgumentError, JetonError, UnsupportedError
from jeton.loading.known_names import names
from jeton.play.chats import parsed_answer, shown_chat
from jeton.play.documents import TabText, TabTexts
from jeton.play.guard import Guard
from jeton.play.guessing import round_of_game
from jeton.play.heat import heat
from jeton.play.ids import decoded
from jeton.play.questions import Question
from jeton.play.shelf import Card, Shelf
from jeton.play.steps import steps
from jeton.play.token_details import details, neighbours
from jeton.play.tokens import utf16_places
from jeton.play.training import trained
from jeton.play.vocabulary import TokenTable

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from jeton.argument_types import SpecialPolicy
    from jeton.tokenizer import Tokenizer

T = TypeVar("T")

MAX_SHOWN: Final = 6
"""Cards that the page shows at once."""

WHOLE: Final = 200_000
"""Tokens of a text that are sent at once; of a longer text, those that are on the screen."""

_MAX_RUNNING: Final = 16
"""How many quick questions are answered at a time."""

_SLOW: Final = frozenset("answer chat load train unreachable upload".split())
"""Routes that may take seconds. They have places of their own: no other question waits."""

_MAX_SLOW: Final = 4

_MAX_FILES: Final = 32
"""Files of an upload."""

_MAX_TABLES: Final = 6
"""Vocabularies that are kept as tables."""

_MAX_GOTCHAS: Final = 100_000
"""Characters that are looked through for gotchas."""

_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Page:
    """A page of tokenizers, served on this machine until it is closed.

    Args:
        tokenizers: The tokenizers to begin with, by the names that their cards show: up to six.
        text: The text to begin with.
        host: Where to listen. Anything but this machine's own address lets others on the network
            ask, if they know the address with its secret; `"0.0.0.0"` and `"::"` are all addresses.
        port: The port; 0 takes a free one.

    Attributes:
        url: The address of the page, with its secret.

    Raises:
        ArgumentTypeError: `tokenizers` does not map names to tokenizers, or `text` is not a `str`.
        ArgumentError: There are more tokenizers than the page shows, or no such port.
        UnsupportedError: starlette or uvicorn is not installed.
        OSError: The port is taken, or `host` is no address of this machine.

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
            import starlette  # noqa: F401  (its parts are imported where they are used)
            import uvicorn
        except ImportError:
            raise UnsupportedError(
                "the page needs starlette and uvicorn: pip install 'jeton[play]'"
            ) from None
        check_named("tokenizers", tokenizers, BaseTokenizer, "a Tokenizer")
        check_text("text", text)
        if len(tokenizers) > MAX_SHOWN:
            raise ArgumentError(
                f"the page shows up to {MAX_SHOWN} tokenizers, not {len(tokenizers)}"
            )
        if not 0 <= port <= 65535:
            raise ArgumentError(f"port must be 0 to 65535, not {port}")
        secret = secrets.token_urlsafe(16)
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self._socket = socket.create_server(address[:2], family=family)
        except OSError as error:
            reason = str(error.strerror).partition(" (while")[0]
            message = f"cannot listen on {host!r}, port {port}: {reason}"
            raise OSError(error.errno, message) from None
        port = self._socket.getsockname()[1]
        host_here = _here(host)
        hosts = {f"{name}:{port}" for name in (host_here, "127.0.0.1", "[::1]", "localhost")}
        app = Guard(_RouteAnswers(tokenizers, text).app(), secret, hosts)
        self._server = uvicorn.Server(
            # A question that still runs is cancelled; uvicorn would log that as an error.
            uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=0)
        )
        self._thread: threading.Thread | None = None
        self.url = f"http://{host_here}:{port}/{secret}/"

    def serve(self) -> None:
        """Serves the page until it is closed or interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def start(self) -> Self:
        """Serves the page from a separate thread."""
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


class _RouteAnswers:
    """The answers of the routes."""

    def __init__(self, tokenizers: Mapping[str, Tokenizer], text: str) -> None:
        self.shelf = Shelf(tokenizers)
        self.documents = TabTexts()
        self.table = functools.lru_cache(_MAX_TABLES)(TokenTable)
        self.text = text

    def app(self) -> Any:
        """The routes."""
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import Response
        from starlette.routing import Route

        async def static(request: Request) -> Response:
            name = request.path_params.get("name") or "index.html"
            answer_body = _files().get(name)
            if answer_body is None:
                return Response(status_code=404)
            kind, content = answer_body
            return Response(content, media_type=kind)

        quick, slow = asyncio.Semaphore(_MAX_RUNNING), asyncio.Semaphore(_MAX_SLOW)

        def responding(
            name: str, answer: Callable[[bytes], object]
        ) -> Callable[[Request], Awaitable[Response]]:
            def respond(body: bytes) -> Response:
                try:
                    answer_body, status = answer(body), 200
                except (JetonError, ValueError, OSError, MemoryError) as error:
                    answer_body, status = {"error": str(error) or type(error).__name__}, 400
                except Exception:
                    logging.getLogger(__name__).exception("a question has no answer")
                    answer_body = {"error": "this is a fault of jeton: the terminal says more"}
                    status = 500
                if isinstance(answer_body, bytes):
                    return Response(answer_body, media_type="application/octet-stream")
                content = json.dumps(answer_body, allow_nan=False, separators=(",", ":"))
                return Response(content, status, media_type="application/json")

            async def endpoint(request: Request) -> Response:
                body = await request.body()
                async with slow if name in _SLOW else quick:
                    return await _on_daemon_thread(lambda: respond(body))

            return endpoint

        def answering(answer: Callable[[Question], object]) -> Callable[[bytes], object]:
            return lambda body: answer(Question(body))

        routes = [
            Route(
                f"/api/{name}", responding(name, answering(getattr(self, name))), methods=["POST"]
            )
            for name in (
                "start load encode window token neighbours gotchas heat guess steps vocabulary "
                "unreachable chat answer train decode save"
            ).split()
        ]
        return Starlette(
            routes=[
                *routes,
                Route("/api/upload", responding("upload", self.upload), methods=["POST"]),
                Route("/", static, methods=["GET"]),
                Route("/{name}", static, methods=["GET"]),
            ]
        )

    # Each method answers the route of its name.

    def start(self, question: Question) -> object:
        del question
        return {
            "cards": [card.summary() for card in self.shelf],
            "first": self.shelf.first,
            "names": [{"name": name, "what": what} for name, what in names().items()],
            "templates": sorted(TEMPLATES),
            "samples": samples.read_all(),
            "text": self.text,
        }

    def load(self, question: Question) -> object:
        return self.shelf.known(question.text("name")).summary()

    def upload(self, body: bytes) -> object:
        return self.shelf.uploaded(_parts(body)).summary()

    def _card(self, question: Question) -> Card:
        return self.shelf[question.number("card")]

    def _document(self, question: Question) -> TabText:
        return self.documents[question.text("document")]

    def encode(self, question: Question) -> object:
        name, version = question.text("document"), question.number("version")
        document: TabText | None
        if "text" in question:
            document = self.documents.whole(name, version, question.text("text"))
        else:
            base, start, removed = map(question.number, ("base", "start", "removed"))
            inserted = question.text("inserted")
            document = self.documents.edited(name, version, base, start, removed, inserted)
        if document is None:
            return {"resend": True}
        return self._columns(document, question, 0, WHOLE)

    def window(self, question: Question) -> object:
        start, stop = question.number("start"), question.number("stop")
        return self._columns(self._document(question), question, start, stop)

    def _columns(self, document: TabText, question: Question, start: int, stop: int) -> bytes:
        """A head in JSON with an entry per card, and then the columns of each card."""
        special = _policy(question)
        heads: list[dict[str, object]] = []
        columns = b""
        for number in question.numbers("cards")[:MAX_SHOWN]:
            try:
                tokens = document.tokens(self.shelf[number], special)
            except (JetonError, MemoryError) as error:
                heads.append({"card": number, "error": str(error) or type(error).__name__})
                continue
            first = max(0, start)
            last = max(first, min(stop, first + WHOLE, len(tokens)))
            heads.append({"card": number, "count": len(tokens), "start": first, "stop": last})
            columns += tokens.columns(first, last)
        head = json.dumps(
            {"bytes": document.utf8, "characters": document.characters, "cards": heads}
        ).encode()
        head += b" " * (-len(head) % 4)
        return len(head).to_bytes(4, "little") + head + columns

    def heat(self, question: Question) -> object:
        cards = [self.shelf[number] for number in question.numbers("cards")[:MAX_SHOWN]]
        return heat(self._document(question), cards, _policy(question))

    def guess(self, question: Question) -> object:
        return round_of_game(self._document(question).text, question.number("merges"))

    def token(self, question: Question) -> object:
        return details(self._card(question), question.number("id"))

    def neighbours(self, question: Question) -> object:
        return neighbours(self._card(question), question.number("id"))

    def gotchas(self, question: Question) -> object:
        document, card = self._document(question), self._card(question)
        units = document.units
        text = units.text(0, units.between_characters(_MAX_GOTCHAS))
        gotchas = card.tokenizer.gotchas(text, limit=5)
        # Spans count characters; the browser counts UTF-16.
        place = utf16_places(text)
        return {
            "found": [
                {
                    "name": it.name,
                    "start": place(it.span[0]),
                    "end": place(it.span[1]),
                    "times": it.times,
                    "what": it.what,
                    "effect": it.effect,
                    "do": it.do,
                    "text": it.text,
                    "spelling": it.spelling,
                    "instead": it.instead,
                    "tokens": [len(it.ids), len(it.instead_ids)],
                }
                for it in gotchas
            ],
            "looked": len(text),
            "of": document.characters,
        }

    def steps(self, question: Question) -> object:
        return steps(
            self._card(question), question.text("text"), question.text("special", "ignore")
        )

    def vocabulary(self, question: Question) -> object:
        table = self.table(self._card(question))
        uses = np.zeros(0, np.int64)
        with contextlib.suppress(ArgumentError):
            document = self._document(question)
            uses = np.bincount(
                document.tokens(table.card, "ignore").ids,
                minlength=table.card.tokenizer.vocab.max_id + 1,
            )
        return table.rows(
            question.text("query", ""),
            question.text("kind", "text"),
            question.text("sort", "id"),
            bool(question.value("descending", False)),
            question.number("start", 0),
            question.number("stop", 100),
            uses,
        )

    def unreachable(self, question: Question) -> object:
        return {"found": len(self.table(self._card(question)).unreachable)}

    def chat(self, question: Question) -> object:
        return shown_chat(self._card(question), question)

    def answer(self, question: Question) -> object:
        return parsed_answer(self._card(question), question)

    def train(self, question: Question) -> object:
        text = question.text("text") if "text" in question else self._document(question).text
        return trained(self.shelf, text, question.text("kind"), question.number("size"))

    def decode(self, question: Question) -> object:
        return decoded(self._card(question), question.text("ids"))

    def save(self, question: Question) -> object:
        return self._card(question).tokenizer.to_json().encode()


async def _on_daemon_thread(work: Callable[[], T]) -> T:
    """The result of `work`, which raises nothing, on a thread that the program's end leaves."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T) -> None:
        if not result.done():  # It is if the question was cancelled.
            result.set_result(value)

    def run() -> None:
        value = work()
        with contextlib.suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(settle, value)

    threading.Thread(target=run, name="jeton play question", daemon=True).start()
    return await result


def _files() -> dict[str, tuple[str, bytes]]:
    """The files of the page, by name."""
    folder = files(__package__).joinpath("page")
    contents = {
        it.name: (_KINDS[it.name.rsplit(".", 1)[-1]], it.read_bytes())
        for it in folder.iterdir()
        if it.name.rsplit(".", 1)[-1] in _KINDS
    }
    return contents | {"palette.css": (_KINDS["css"], palette.css().encode())}


def _here(host: str) -> str:
    """How this machine's browser names a server that listens on `host`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return host if address.version == 4 else f"[{host}]"


def _parts(body: bytes) -> dict[str, bytes]:
    """The files of an upload: a line of JSON with their names and sizes, then their bytes."""
    line = body.find(b"\n") + 1
    head = Question(body[:line])
    names, sizes = head.texts("names"), head.numbers("sizes")
    if not 0 < len(names) <= _MAX_FILES:
        raise ArgumentError(f"a tokenizer is 1 to {_MAX_FILES} files, not {len(names)}")
    if len(sizes) != len(names) or min(sizes) < 0 or sum(sizes) != len(body) - line:
        raise ArgumentError("the sizes of the files do not fit the upload: send it again")
    ends = [*itertools.accumulate(sizes, initial=line)]
    return {name: body[ends[at] : ends[at + 1]] for at, name in enumerate(names)}


def _policy(question: Question) -> SpecialPolicy:
    return "allow" if question.text("special", "ignore") == "allow" else "ignore"
