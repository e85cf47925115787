"""Servers for the tests of object stores: S3, Google Cloud Storage, the Hugging Face Hub, and a web
server that misbehaves."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote

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


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server of this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


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

    with _serving(Handler) as web.url:
        yield web


@contextmanager
def gs_server() -> Iterator[dict[str, str]]:
    """The environment variables with which gcsfs finds a server of this process."""
    from gcp_storage_emulator.server import create_server

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = create_server("127.0.0.1", port, in_memory=True)
    server.start()
    try:
        yield {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
    finally:
        server.stop()


class Hub:
    """The files of a data set `me/texts` on a server that answers as the Hugging Face Hub does."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.url = ""

    def entries(self, folder: str, *, recursive: bool) -> list[dict[str, Any]]:
        """The files and folders in a folder, as the Hub lists them."""
        inside = folder and f"{folder}/"
        found = {}
        for name in sorted(self.files):
            if not name.startswith(inside):
                continue
            parts = name[len(inside) :].split("/")
            for depth in range(1, len(parts) if recursive else min(len(parts), 2)):
                path = inside + "/".join(parts[:depth])
                found[path] = {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}
            if recursive or len(parts) == 1:
                found[name] = self.entry(name)
        return list(found.values())

    def entry(self, name: str) -> dict[str, Any]:
        content = self.files[name]
        oid = hashlib.sha1(content).hexdigest()
        return {"type": "file", "path": name, "oid": oid, "size": len(content)}


@contextmanager
def hub_server() -> Iterator[Hub]:
    """A server of this process that lists, gives and takes the files of one data set."""
    hub = Hub()
    api, resolve = "/api/datasets/me/texts", "/datasets/me/texts/resolve/main/"

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            path = unquote(path)
            if path.startswith(resolve):
                self._give(hub.files.get(path.removeprefix(resolve)))
            elif path.startswith(f"{api}/tree/main"):
                folder = path.removeprefix(f"{api}/tree/main").strip("/")
                entries = hub.entries(folder, recursive="recursive=true" in query.lower())
                self._say(entries if entries or not folder else None)
            elif path in (api, f"{api}/revision/main"):
                self._say({"id": "me/texts", "sha": "0" * 40, "siblings": []})
            else:
                self._say(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = unquote(self.path.partition("?")[0])
            if path == f"{api}/paths-info/main":
                names = self._paths(body)
                found = [
                    entry for entry in hub.entries("", recursive=True) if entry["path"] in names
                ]
                self._say(found)
            elif path == f"{api}/preupload/main":
                names = [it["path"] for it in json.loads(body)["files"]]
                mode = {"uploadMode": "regular", "shouldIgnore": False}
                self._say({"files": [{"path": name, **mode} for name in names]})
            elif path == f"{api}/commit/main":
                for line in map(json.loads, body.splitlines()):
                    value = line["value"]
                    if line["key"] == "file":
                        hub.files[value["path"]] = base64.b64decode(value["content"])
                    elif line["key"] == "deletedFile":
                        del hub.files[value["path"]]
                self._say(
                    {"commitUrl": f"{hub.url}/datasets/me/texts/commit/0", "commitOid": "0" * 40}
                )
            else:
                self._say(None)

        def _paths(self, body: bytes) -> list[str]:
            if "json" in self.headers.get("Content-Type", ""):
                return list(json.loads(body)["paths"])
            return parse_qs(body.decode())["paths"]

        def _say(self, value: object) -> None:
            self._give(None if value is None else json.dumps(value).encode(), "application/json")

        def _give(self, content: bytes | None, kind: str = "application/octet-stream") -> None:
            if content is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                content = b""
            elif (part := self.headers.get("Range")) is not None:
                first, last = part.removeprefix("bytes=").split("-")
                self.send_response(206)
                content = content[int(first) : int(last or len(content) - 1) + 1]
            else:
                self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Handler) as hub.url:
        yield hub
