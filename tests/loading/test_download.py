"""Fetching against a server on loopback that is slow, broken, lying or well-behaved."""

from __future__ import annotations

import errno
import hashlib
import http.server
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jeton.errors import ChecksumError, DownloadError, FileError
from jeton.loading import download

CONTENT = bytes(range(256)) * 2_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by the server's script: one answer a request, the last one again and again."""

    server: Server

    def do_GET(self) -> None:
        requests = self.server.requests
        requests.append(self.headers.get("Range"))
        script = self.server.script
        script[min(len(requests), len(script)) - 1](self)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server on loopback, with what it was asked and what it is to answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Answer] = []
        self.requests: list[str | None] = []

    def handle_error(self, request: object, client_address: object) -> None:
        pass

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/vocabulary"


Answer = Callable[[Handler], None]


def send(content: bytes, announced: int | None = None) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(announced or len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def status(code: int) -> Answer:
    return lambda handler: handler.send_error(code)


def redirect(location: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(302)
        handler.send_header("Location", location)
        handler.end_headers()

    return answer


def rest(handler: Handler) -> None:
    """What was asked for with a Range header."""
    start = int(handler.headers["Range"].removeprefix("bytes=").removesuffix("-"))
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
    handler.send_header("Content-Length", str(len(CONTENT) - start))
    handler.end_headers()
    handler.wfile.write(CONTENT[start:])


whole = send(CONTENT)
half = send(CONTENT[: len(CONTENT) // 2], announced=len(CONTENT))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def fetch(server: Server, path: Path, *, timeout: float = 10, limit: int = download.LIMIT) -> None:
    download.fetch(server.url, path, SHA256, pause=0.001, timeout=timeout, limit=limit)


def announce(length: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", length)
        handler.end_headers()
        handler.wfile.write(CONTENT)

    return answer


@pytest.mark.parametrize("length", ["9" * 5000, "1" * 20, "9" * 4301])
def test_a_length_of_many_digits_is_too_large(server: Server, tmp_path: Path, length: str) -> None:
    server.script = [announce(length)]
    with pytest.raises(DownloadError, match="more than the limit"):
        fetch(server, tmp_path / "vocabulary")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["-1", "x", "", "0" * 5000 + str(len(CONTENT)), "²"])
def test_a_length_that_is_none_is_passed_over(server: Server, tmp_path: Path, length: str) -> None:
    server.script = [announce(length)]
    fetch(server, tmp_path / "vocabulary")
    assert (tmp_path / "vocabulary").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "location",
    ["http://[", "http://\x80/", "http://a b/"],
)
def test_addresses_that_are_none(server: Server, tmp_path: Path, location: str) -> None:
    server.script = [redirect(location)]
    with pytest.raises(DownloadError):
        fetch(server, tmp_path / "vocabulary")
    assert list(tmp_path.iterdir()) == []


def test_a_file_arrives_whole(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    seen: list[tuple[int, int | None]] = []
    path = tmp_path / "cache" / "vocabulary"
    download.fetch(server.url, path, SHA256, progress=lambda *at: seen.append(at))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert list(path.parent.iterdir()) == [path]


def test_a_wrong_file_is_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.script = [send(b"<html>log in to the network</html>")]
    with pytest.raises(ChecksumError, match="not the published file"):
        fetch(server, tmp_path / "vocabulary")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "script", "requests"),
    [
        ("trouble that passes", [status(500), status(503), whole], 3),
        ("broken off, taken up", [half, rest], 2),
        ("broken off, no ranges", [half, whole], 2),
        ("broken off, part refused", [half, status(416), whole], 3),
        ("redirected", [redirect("/elsewhere"), whole], 2),
    ],
)
def test_available_files_are_downloaded(
    server: Server, tmp_path: Path, name: str, script: list[Answer], requests: int
) -> None:
    server.script = script
    fetch(server, tmp_path / "vocabulary")
    assert (tmp_path / "vocabulary").read_bytes() == CONTENT
    assert len(server.requests) == requests
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        OSError(errno.ENETUNREACH, "Network is unreachable"),
    ],
)
def test_without_a_network_nothing_is_tried_again(
    trouble: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def look_up(*_: object) -> None:
        tried.append(1)
        raise trouble

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    path = tmp_path / "cache" / "vocabulary"
    told = re.escape(f"{trouble} (fetch it by other means to {path}, or name a folder")
    with pytest.raises(DownloadError, match=f"cannot be reached from here: {told}"):
        download.fetch("https://example.invalid/x", path, SHA256)
    assert tried == [1] and list(path.parent.iterdir()) == []


def test_a_broken_connection_is_taken_up_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.script = [half, rest]
    fetch(server, tmp_path / "vocabulary")
    assert server.requests == [None, f"bytes={len(CONTENT) // 2}-"]


@pytest.mark.parametrize(
    ("script", "message", "requests"),
    [
        ([status(404)], "answers 404", 1),
        ([status(500)], "gave up after 4 attempts.*500", 4),
        ([half], r"broke off after \d+ of \d+ bytes", 4),
        ([redirect("/round")], "answers 302", None),
        ([redirect("ftp://127.0.0.1/x")], "refused the redirect|302", 1),
        ([redirect("file:///etc/passwd")], "refused the redirect|302", 1),
    ],
)
def test_failed_downloads_leave_no_files(
    server: Server,
    tmp_path: Path,
    script: list[Answer],
    message: str,
    requests: int | None,
) -> None:
    server.script = script
    with pytest.raises(DownloadError, match=message):
        fetch(server, tmp_path / "vocabulary")
    assert requests is None or len(server.requests) == requests
    assert list(tmp_path.iterdir()) == []


def test_silence_is_not_waited_out(server: Server, tmp_path: Path) -> None:
    done = threading.Event()

    def silence(handler: Handler) -> None:
        done.wait(5)

    server.script = [silence]
    with pytest.raises(DownloadError, match="timed out"):
        fetch(server, tmp_path / "vocabulary", timeout=0.05)
    done.set()
    assert list(tmp_path.iterdir()) == []


def test_too_much_is_refused_announced_or_not(server: Server, tmp_path: Path) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(bytes(1000))

    for answer in (whole, endless):
        server.script = [answer]
        with pytest.raises(DownloadError, match="more than the limit of 1000"):
            fetch(server, tmp_path / "vocabulary", limit=1000)
    assert list(tmp_path.iterdir()) == []


def test_many_at_once_do_not_disturb_each_other(server: Server, tmp_path: Path) -> None:
    server.script = [whole]
    path = tmp_path / "vocabulary"
    threads = [threading.Thread(target=fetch, args=(server, path)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == CONTENT
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_named(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match="JETON_CACHE_DIR"):
        fetch(server, tmp_path / "file" / "vocabulary")


def test_progress_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    assert download.show_progress("x") is None
    assert capsys.readouterr().err == ""
