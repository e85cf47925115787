"""Servers for the tests of object stores: one that speaks S3, and a web server that misbehaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

KEYS = {"AWS_ACCESS_KEY_ID": "testing-key", "AWS_SECRET_ACCESS_KEY": "testing-secret"}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """The environment variables with which s3fs finds a server of this process."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        yield {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_DEFAULT_REGION": "us-east-1",
            **KEYS,
        }
    finally:
        server.stop()


class WebFiles:
    """Files of a web server, by path, and how it misbehaves."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.status: dict[str, int] = {}
        """Paths that are answered with a status."""
        self.truncated: dict[str, int] = {}
        """How many answers to a path break off in the middle."""
        self.without_size: set[str] = set()
        """Paths whose size is not said."""
        self.changing: set[str] = set()
        """Paths whose file changes whenever it was read."""
        self.url = ""


@contextmanager
def web_server() -> Iterator[WebFiles]:
    """A web server of this process."""
    web = WebFiles()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = unquote(self.path.partition("?")[0])
            if path in web.status:
                self.send_error(web.status[path])
                return
            content = web.files.get(path)
            if content is None and path.endswith("/"):
                inside = [name for name in web.files if name.startswith(path)]
                parts = [name[len(path) :].partition("/") for name in inside]
                names = {first + slash for first, slash, _ in parts}
                content = "".join(f'<a href="{quote(name)}">x</a>\n' for name in names).encode()
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            if path not in web.without_size:
                self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hash(content)}"')
            self.end_headers()
            if not with_body:
                return
            if web.truncated.get(path, 0) > 0:
                web.truncated[path] -= 1
                content = content[: len(content) // 2]
                self.close_connection = True
            self.wfile.write(content)
            if path in web.changing:
                web.files[path] += b"\nmore"

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    web.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
