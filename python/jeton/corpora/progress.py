"""What `watch` is called with while words are counted and tokenizers are trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jeton.errors import ArgumentTypeError


@dataclass(frozen=True)
class Progress:
    """The progress of training: the argument of `watch`.

    The phases are `counting`; then `merging` (BPE and WordPiece), or `seeding` and `fitting`
    (Unigram). In the last step of a phase, `done` equals `total`. `modelling` is the training of
    small models that judge tokenizers (`jeton.analysis.compare`).

    Example:
        >>> import jeton
        >>> steps = []
        >>> tok = jeton.BPETrainer(258).train(["hello hello help"], watch=steps.append)
        >>> steps[1]
        Progress(phase='counting', done=16, total=16, text=16)
        >>> steps[-1]
        Progress(phase='merging', done=258, total=258, text=0)
    """

    phase: Literal["counting", "merging", "seeding", "fitting", "modelling"]
    """The current work."""
    done: int
    """When counting, the bytes of files or texts that were read; when merging, tokens; otherwise
    steps."""
    total: int
    """The final value of `done`, as far as known: 0 while texts or a pipe are counted."""
    text: int = 0
    """Bytes of text that were counted, of JSON lines and CSV with their other fields: more than
    `done` if files are compressed, or not yet read to their end."""


def check_watch(watch: object) -> None:
    """Fails, before any work, unless `watch` is callable or `None`."""
    if watch is not None and not callable(watch):
        raise ArgumentTypeError(f"watch must be callable or None, not {type(watch).__name__}")
