"""`DescribedTurn`: replaces `Turn` if the tokenizer's folder has a `response_template`."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jeton.chat.once import once_per_tokenizer
from jeton.chat.parsing.described_machine import DescriptionMachine
from jeton.chat.parsing.formats import Format
from jeton.chat.parsing.response_templates import Description, description_of
from jeton.chat.parsing.symbols import Compiled, compiled

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["DescribedTurn", "described"]


@dataclass(frozen=True)
class DescribedTurn:
    """How a model writes its turn, from a description. The attributes are those of `Turn`."""

    description: Description
    compiled: Compiled
    compiled_for_text: Compiled
    anchor: str = ""
    lead: str = ""

    def machine(
        self, compiled: Compiled, tools: Mapping[str, Mapping[str, Any]] | None
    ) -> DescriptionMachine:
        """A machine that reads an answer."""
        return DescriptionMachine(self.description, compiled.spellings, tools)

    def message_of(self, machine: Any) -> dict[str, Any]:
        """The message, as `parse_response` of transformers returns it."""
        message: dict[str, Any] = machine.message
        return message

    def behind_anchor(self, text: str, *, is_text: bool) -> str:
        """The beginning of the answer that is in a prompt, in symbols.

        Args:
            text: The prompt, with symbols for control tokens.
            is_text: Whether nobody knows the tokens of the prompt, so that it has no symbols.
        """
        anchor = self.description.anchor
        if is_text:
            ends = [match.end() for match in anchor.finditer(text)]
            return self.compiled.with_symbols(text[ends[-1] :] if ends else text)
        spellings = self.compiled.spellings
        pieces = [spellings.get(it, it) for it in text]
        starts = [0, *itertools.accumulate(map(len, pieces))]
        tokens = {start for start, it in zip(starts, text, strict=False) if it in spellings}
        spelled = re.compile(
            "|".join(map(re.escape, sorted(spellings.values(), key=len, reverse=True))) or "(?!)"
        )
        ends = [
            match.end()
            for match in anchor.finditer("".join(pieces))
            if all(match.start() + it.start() in tokens for it in spelled.finditer(match[0]))
        ]
        return text[bisect.bisect_left(starts, ends[-1]) :] if ends else text


@once_per_tokenizer
def described(tok: BaseTokenizer) -> DescribedTurn:
    """The turn that `tok.config` describes.

    Raises:
        FormatError: The description is invalid.
    """
    format = Format("response_template", {})
    tokens = {it.content: it.id for it in tok.added_tokens if it.id is not None}
    marks = [token for token in tokens if not re.fullmatch(r"[\w\s]*", token)]
    return DescribedTurn(
        description_of(tok.config["response_template"]),
        compiled(format, tokens, marks),
        compiled(format, {}, []),
    )
