"""Templates in a process of their own: the same chats, and no harm to the one that asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jeton
import jeton.chat
from chat_cases import HELLO, byte_level, templates
from jeton import processes
from jeton.chat.templates import isolation, renderer
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""

A = "{{ 'a' }}"
ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief. \ud800 <|im_end|>"},
    {"role": "user", "content": "Hé <|im_end|>", "n": 3, "x": 1.5, "list": ["a", {"b": "🙂"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "f", "arguments": {"a": [1]}}]},
    {"role": "user", "content": "and " * 300},
]

CALLS: dict[str, dict[str, Any]] = {
    "plain": {},
    "a prompt": {"add_generation_prompt": True},
    "an open end": {"continue_final_message": True},
    "trusted": {"trusted": ["user.content"]},
    "tools": {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
    "numbers": {"template": "{{ messages[0].n * 7 }}{{ messages[0].x }}{{ messages[0] | tojson }}"},
    "marked": {
        "template": "{% generation %}{{ messages[0].content }}{% endgeneration %}<|im_end|>"
    },
    "nothing": {"template": "{# #}"},
    "a variable": {"template": "{{ day }}{{ strftime_now('%Y') }}", "day": "Monday"},
}


@pytest.fixture(autouse=True)
def no_process_stays() -> Iterator[None]:
    yield
    isolation._end_all()


def seen(chat: jeton.chat.Chat) -> tuple[Any, ...]:
    return chat.text, chat.ids, chat.spans, chat.origins, chat.segments


@pytest.mark.large
@pytest.mark.parametrize("name", CALLS)
def test_the_chat_is_the_same(name: str) -> None:
    tok = byte_level("<|im_start|><|im_end|>")
    messages = MESSAGES if name == "plain" else MESSAGES[1:]
    # Any other text than its own is no template of jeton, which refuses calls of tools.
    options = {"template": f"{jeton.chat.TEMPLATES['chatml']}{{# #}}", **CALLS[name]}
    assert seen(tok.chat(messages, isolate=True, **options)) == seen(tok.chat(messages, **options))


def test_an_answer_is_read_where_its_chat_was_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the template writes around an answer is found by running it, in its own process too."""
    tok = byte_level("<|im_start|><|im_end|>")
    template = f"{jeton.chat.TEMPLATES['chatml']}{{# asked apart #}}"
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True, isolate=True)
    monkeypatch.setattr(renderer, "rendered", lambda *given: pytest.fail("rendered here"))
    ids = tok.encode("Good.<|im_end|>", special="allow")
    assert tok.parse(ids, prompt=chat).message == {"role": "assistant", "content": "Good."}


@pytest.mark.large
def test_every_template_gives_the_same() -> None:
    for name, template in templates():
        tok = byte_level(template)
        try:
            expected: Any = seen(tok.chat(HELLO, template=template))
        except ArgumentError as error:
            expected = str(error)
        try:
            found: Any = seen(tok.chat(HELLO, template=template, isolate=True))
        except ArgumentError as error:
            found = str(error)
        assert found == expected, name
    assert len(isolation._ALL) == 1


WRONG: dict[str, tuple[str, type[Exception], str]] = {
    "no Jinja": ("{% if %}", FormatError, "line 1"),
    "a refusal": ("{{ raise_exception('no') }}", ArgumentError, "refuses.*no"),
    "something undefined": ("{{ a.b.c }}", ArgumentError, "line 1 of the template"),
    "the sandbox": ("{{ ''.__class__.x }}", UnsupportedError, "may not"),
    "no end": (ENDLESS, UnsupportedError, "more than 0.5 s"),
    "too much": ("{{ 'a' * 10**10 }}", UnsupportedError, "too much"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_the_same(name: str) -> None:
    template, kind, says = WRONG[name]
    with jeton.chat.limits(seconds=0.5, isolate=True), pytest.raises(kind, match=says):
        byte_level("").chat(HELLO, template=template)


@pytest.mark.large
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits of memory")
def test_memory_is_limited() -> None:
    sets = "".join(f"{{% set a{number} = 'a' * 4000000 %}}" for number in range(12))
    template = f"{sets}{{{{ a0|length }}}}"
    assert byte_level("").chat(HELLO, template=template, isolate=True).text == "4000000"
    with (
        jeton.chat.limits(memory=20_000_000, isolate=True),
        pytest.raises(UnsupportedError, match="memory"),
    ):
        byte_level("").chat(HELLO, template=template)


# What no template shall be able to do: other answers of the process than those it has.
RUN = "['message', 0, 'user', 'content', False, False]"
DEATHS: dict[str, tuple[str, str]] = {
    "it hangs": ("__import__('time').sleep(99)", "more than 0.1 s"),
    "it is killed": ("__import__('os').kill(__import__('os').getpid(), 9)", "died.*signal 9"),
    "it exits": ("__import__('os')._exit(3)", "died.*exit code 3"),
    "it fails": ("1 / 0", "died.*exit code 1: ZeroDivisionError: division by zero"),
    "a number": ("5", "nonsense"),
    "no text": ("{}", "nonsense"),
    "wrong lengths": (f"{{'text': 'a', 'runs': [[2, 0]], 'origins': [{RUN}]}}", "nonsense"),
    "no lengths": ("{'text': 'a', 'runs': 1, 'origins': []}", "nonsense"),
    "no such origin": (f"{{'text': 'a', 'runs': [[1, 1]], 'origins': [{RUN}]}}", "nonsense"),
    "no origin": ("{'text': 'a', 'runs': [[1, 0]], 'origins': [['x'] * 6]}", "nonsense"),
    "an unknown error": ("{'error': 'SystemExit', 'says': 'x'}", "nonsense"),
    "an error of no kind": ("{'error': [], 'says': 'x'}", "nonsense"),
    "an error without words": ("{'error': 'LimitError', 'says': 5}", "nonsense"),
    "no JSON": ("setattr(isolation.json, 'dumps', lambda it: '}')", "nonsense"),
    "JSON that is too deep": (
        "setattr(isolation.json, 'dumps', lambda it: '[' * 99999)",
        "nonsense",
    ),
    "an endless answer": (
        "setattr(isolation, 'write_message', lambda pipe, body: pipe.write(b'9' * 99))",
        "died",
    ),
}


def run_first(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the process run this code when it has imported its own."""
    code = code.replace("{", "{{").replace("}", "}}")
    call = "\n{function}("
    monkeypatch.setattr(processes, "_START", processes._START.replace(call, f"\n{code}{call}"))


@pytest.mark.large
@pytest.mark.parametrize("name", DEATHS)
def test_a_process_that_fails_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, says = DEATHS[name]
    patch = f"from jeton.chat.templates import isolation; isolation._answer = lambda it: {answer}"
    run_first(patch, monkeypatch)
    monkeypatch.setattr(isolation, "_GRACE_SECONDS", 0.5)
    with jeton.chat.limits(seconds=0.1), pytest.raises(UnsupportedError, match=says):
        byte_level("").chat(HELLO, template=A, isolate=True)
    assert not isolation._ALL
    monkeypatch.undo()
    assert byte_level("").chat(HELLO, template=A, isolate=True).text == "a"


SOURCES = ["{}", "{'literals': 'a', 'names': []}", "{'literals': [1], 'names': []}", "5"]


@pytest.mark.parametrize("answer", SOURCES)
def test_answers_of_a_process_are_checked(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = f"(lambda it: {answer} if isinstance(it, str) else answer(it))"
    patch = (
        f"from jeton.chat.templates import isolation; answer = isolation._answer; "
        f"isolation._answer = {answered}"
    )
    run_first(patch, monkeypatch)
    tok = byte_level("").with_added_tokens([jeton.AddedToken("<think>")])
    with pytest.raises(UnsupportedError, match="nonsense"):
        tok.chat(HELLO, template=f"{A}<think>{answer}", isolate=True)
    assert not isolation._ALL


def test_tokens_that_are_not_special_and_parts_are_the_same_in_a_separate_process() -> None:
    tok = byte_level("").with_added_tokens([jeton.AddedToken("<think>")])
    template = (
        "{% for m in messages %}{{ m.role ~ m.content }}{% if m.x %}<think>{% endif %}{% endfor %}"
    )
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "<think>"}, "b"], "name": "c"},
        {"role": "assistant", "content": "<think>", "x": 1},
    ]
    here, apart = (tok.chat(messages, template=template, isolate=it, y=2) for it in (False, True))
    assert seen(here) == seen(apart) and here.unprinted == apart.unprinted
    assert here.ids.count(tok.vocab["<think>"]) == 2


def test_nothing_of_the_working_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "re", "encodings", "site", "sitecustomize", "usercustomize", "jeton"):
        (tmp_path / f"{name}.py").write_text("open('run', 'w'); raise SystemExit(name)")
    monkeypatch.chdir(tmp_path)
    # Entries of `sys.path` that are not a str are ignored by Python.
    monkeypatch.setattr(sys, "path", [it for it in sys.path if it] + [Path("x")])
    isolation._end_all()
    assert byte_level("").chat(HELLO, template=A, isolate=True).text == "a"
    assert not (tmp_path / "run").exists()


@pytest.mark.large
def test_a_process_is_kept() -> None:
    tok = byte_level("")
    for template in (A, "{{ x.y }}", "{{ 1 }}"):
        try:
            tok.chat(HELLO, template=template, isolate=True)
        except ArgumentError:
            continue
    (process,) = isolation._ALL
    assert process in isolation._IDLE
    process.process.kill()
    process.process.wait()
    assert tok.chat(HELLO, template=A, isolate=True).text == "a"
    assert process not in isolation._ALL


@pytest.mark.large
def test_the_limits_are_those_of_the_block_and_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tok = byte_level("")
    with jeton.chat.limits(isolate=True):
        tok.chat(HELLO, template=A, isolate=False)
        assert not isolation._ALL
        with jeton.chat.limits(seconds=5):
            tok.chat(HELLO, template=A)
    assert len(isolation._ALL) == 1
    isolation._end_all()
    monkeypatch.setenv("JETON_ISOLATE", "1")
    tok.chat(HELLO, template=A)
    assert len(isolation._ALL) == 1
    isolation._end_all()
    with jeton.chat.limits(isolate=False):
        tok.chat(HELLO, template=A)
    assert not isolation._ALL
    with pytest.raises(ArgumentTypeError, match="isolate"):
        tok.chat(HELLO, template=A, isolate=1)  # type: ignore[arg-type]


@pytest.mark.large
def test_threads_have_processes_of_their_own() -> None:
    tok = byte_level("")
    expected = tok.chat(MESSAGES[1:], template="{{ messages }}").ids
    found: list[list[int]] = []

    def ask() -> None:
        for _ in range(5):
            chat = tok.chat(MESSAGES[1:], template="{{ messages }}", isolate=True)
            found.append(chat.ids)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 20
    assert len(isolation._IDLE) <= (os.cpu_count() or 1)
    assert set(isolation._IDLE) == isolation._ALL


FORKED = """
import os, sys
import jeton, jeton.chat
from jeton.chat.templates import isolation, renderer
tok = jeton.BPETrainer(vocab_size=256).train(["a"])
ask = lambda: tok.chat([{"role": "user", "content": "a"}], template="{{ messages }}", isolate=True).ids
expected = ask()
pid = os.fork()
if not pid:
    own = not isolation._ALL and ask() == expected
    isolation._end_all()
    os._exit(not own)
assert os.waitpid(pid, 0)[1] == 0
assert len(isolation._ALL) == 1 and ask() == expected
print(*(it.process.pid for it in isolation._ALL))
"""


@pytest.mark.large
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_start_their_own_and_all_end_at_exit() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    (pid,) = done.stdout.split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals")
def test_an_interrupt_ends_the_process() -> None:
    tok = byte_level("")
    tok.chat(HELLO, template=A, isolate=True)
    (process,) = isolation._ALL

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            tok.chat(HELLO, template=ENDLESS, isolate=True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert process.process.returncode is not None
    assert not isolation._ALL
