"""How much memory tokenizers use for the words that they have met."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

import jeton
from jeton.errors import ArgumentError, ArgumentTypeError


@pytest.fixture(autouse=True)
def _limit_as_it_was() -> Iterator[None]:
    before = jeton.cache_limit()
    yield
    jeton.set_cache_limit(before)


def test_ids_do_not_depend_on_the_limit() -> None:
    tok = jeton.BPETrainer(300).train(["to be or not to be"] * 3)
    letters = str.maketrans("0123456789", "abcdefghij")
    words = [str(n).translate(letters) for n in range(40_000)]
    texts = [" ".join(words), " ".join(reversed(words)), "to be" * 200, "ab" * 50_000]
    expected = [tok.encode(text) for text in texts]
    for limit in (0, 1, 1 << 20, 2**80, jeton.cache_limit()):
        jeton.set_cache_limit(limit)
        assert [tok.encode(text) for text in texts] == expected


def test_no_ids_are_lost_when_a_piece_is_forgotten_meanwhile() -> None:
    tok = jeton.BPETrainer(258).train(["aa b"] * 9)
    expected = {count: tok.encode("a" * count) for count in (40, 41)}
    jeton.set_cache_limit(0)
    b = tok.encode(" b")
    for groups in range(1_000, 2_200, 8):
        tok.encode(" b" + "a" * 40)
        text = "a" * 41 + " b" * groups + "\n" + "a" * 40
        assert tok.encode(text) == expected[41] + b * groups + tok.encode("\n") + expected[40]


@pytest.mark.parametrize(
    ("given", "error"),
    [(-1, ArgumentError), (-(2**80), ArgumentError), (True, ArgumentTypeError)]
    + [(wrong, ArgumentTypeError) for wrong in (1.0, "1", None, [1])],
)
def test_bad_limits_are_refused(given: object, error: type[Exception]) -> None:
    before = jeton.cache_limit()
    with pytest.raises(error, match="limit"):
        jeton.set_cache_limit(given)  # type: ignore[arg-type]
    assert jeton.cache_limit() == before


GROWTH = """
import sys
import jeton
letters = str.maketrans("0123456789", "abcdefghij")
jeton.set_cache_limit(int(sys.argv[1]))
tok = jeton.BPETrainer(300).train(["to be or not to be"])
def peak():
    # getrusage would count the process that this one was started from, too.
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
tok.count("a")
before = peak()
for start in range(0, 1_000_000, 10_000):
    tok.count(" ".join(map(str, range(start, start + 10_000))).translate(letters))
print((peak() - before) // 1024)
"""


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory otherwise")
def test_a_cache_stays_within_its_limit() -> None:
    def grown(limit: int) -> int:
        command = [sys.executable, "-c", GROWTH, str(limit << 20)]
        return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    small, large = grown(4), grown(128)
    assert small <= 12
    assert small < large <= 200
