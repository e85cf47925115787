"""Types the whole course as printed: every chapter in order, in one folder, at two prompts.

    python tests/newcomer.py                            # in a fresh environment, by pip install
    python tests/newcomer.py --python .venv/bin/python  # with what is installed there

The first installs jeton with PyTorch from this folder, which takes minutes. `make newcomer` runs
it. Commands go to one bash, lines behind `>>>` to one interactive Python, programs into a file that
is run there, as chapter 0 says; what comes back is held against the page. Look here if the course
works page by page (`test_docs.py`) and not as a whole.
"""

from __future__ import annotations

import argparse
import doctest
import functools
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "support"))
from guide import FENCED, OPTIONS, steps

ROOT = Path(__file__).parent.parent
COURSE = ROOT / "docs" / "course"
END = "\x1e"
"""Ends each answer: the record separator of ASCII."""


class Prompt:
    """A program that reads lines and answers."""

    def __init__(self, command: list[str], folder: Path, path: str, mute: bool) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if mute else subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PATH": path, "COLUMNS": "88", "PYTHONUTF8": "1"},
            encoding="utf-8",
        )

    def type(self, lines: str, end: str) -> str:
        """Types lines, then one that prints the end of the answer; returns the answer."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(f"{lines}\n{end}\n")
        stdin.flush()
        answer = ""
        while not answer.endswith(END):
            character = stdout.read(1)
            if not character:
                raise SystemExit(f"the prompt was left after: {lines}\n{answer}")
            answer += character
        return answer[:-1]

    def close(self) -> None:
        """Ends the program."""
        self.process.communicate()


class Course:
    """Both prompts, and what went wrong at them."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.folder, self.executable = folder / "course", python
        self.path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        self.bash = Prompt(["bash"], folder, self.path, mute=True)
        self.typed, self.wrong = 0, 0

    @functools.cached_property
    def python(self) -> Prompt:
        """Python's prompt, in the folder of the course."""
        prompt = Prompt([str(self.executable), "-i", "-q"], self.folder, self.path, mute=False)
        prompt.type("import sys; sys.ps1 = sys.ps2 = ''", f"print(end={END!r})")
        return prompt

    def page(self, path: Path) -> None:
        """Types a chapter."""
        for block in FENCED.finditer(path.read_text(encoding="utf-8")):
            if block["kind"] == "console":
                for command, shown in steps(block["code"]):
                    answer = self.bash.type(f"{{ {command}\n}} < /dev/null", f"printf '{END}'")
                    self.check(path, command, shown.strip("\n"), answer.strip("\n"))
            elif block["kind"] == "python":
                (self.folder / "step.py").write_text(block["code"], encoding="utf-8")
                self.say(path, 'exec(open("step.py").read())\n', "")
            else:
                for example in doctest.DocTestParser().get_examples(block["code"]):
                    self.say(path, example.source, example.want)

    def say(self, path: Path, source: str, want: str) -> None:
        """Types a statement, with the empty line that ends a longer one."""
        answer = self.python.type(
            source, f"import sys; _ = sys.stdout.write({END!r}); sys.stdout.flush()"
        )
        if "Traceback" in want:
            want, answer = (text.strip().split("\n")[-1] for text in (want, answer))
        self.check(path, source.rstrip(), want, answer)

    def check(self, path: Path, typed: str, want: str, answer: str) -> None:
        """Holds an answer against what the page shows; of commands that show none, nothing is."""
        self.typed += 1
        is_command = not want.endswith("\n") and not typed.startswith(("exec(", "import"))
        if is_command and not want:
            return
        pattern = re.sub(r"^\.\.\.$", "...", want, flags=re.MULTILINE)
        if not doctest.OutputChecker().check_output(
            pattern + "\n" * is_command, answer + "\n" * is_command, OPTIONS
        ):
            self.wrong += 1
            print(f"{path.name}: {typed}\n  should give: {want}\n  and gave: {answer}")


def fresh(folder: Path) -> Path:
    """The Python of a new environment with jeton in it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{ROOT}[torch]"], check=True)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--python", type=Path, help="of an environment that has jeton and PyTorch")
    parser.add_argument("--without", type=int, nargs="*", default=[], help="chapters to leave out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "home"
        folder.mkdir()
        python = fresh(Path(name) / "venv") if given.python is None else given.python.absolute()
        course = Course(python, folder)
        chapters = {int(re.match(r"\d+", path.name)[0]): path for path in COURSE.glob("[0-9]*.md")}  # type: ignore[index]
        for number, path in [(0, COURSE / "index.md"), *sorted(chapters.items())]:
            if number in given.without:
                print(f"{path.name}: left out")
                continue
            course.page(path)
            print(f"{path.name}: typed", flush=True)
        course.bash.close()
        course.python.close()
    print(f"{course.typed} typed, {course.wrong} otherwise than the page says")
    sys.exit(course.wrong > 0)


if __name__ == "__main__":
    main()
