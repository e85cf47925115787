"""`DescribedTurn`: replaces `Turn` if the tokenizer's folder has a `response_template`."""

from __future__ import annotations

import bisect
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jeton.chat.answers.calls import Tools
from jeton.chat.answers.described_machine import DescriptionMachine
from jeton.chat.answers.formats import Format
from jeton.chat.answers.marks import Compiled, compiled
from jeton.chat.answers.response_templates import Description, description_of
from jeton.chat.once import added_tokens_of, once_per_tokenizer

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
    has_ends: bool = True

    def machine(self, compiled: Compiled, tools: Tools | None) -> DescriptionMachine:
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
        symbol = re.compile(f"[{''.join(spellings)}]" if spellings else "(?!)")
        starts, longer = list[int](), [0]
        for match in symbol.finditer(text):
            starts.append(match.start() + longer[-1])
            longer.append(longer[-1] + len(spellings[match[0]]) - 1)
        tokens = frozenset(starts)
        ends = [
            match.end()
            for match in anchor.finditer(self.compiled.spelled(text))
            if all(match.start() + it.start() in tokens for it in self._spelled.finditer(match[0]))
        ]
        if not ends:
            return text
        return text[ends[-1] - longer[bisect.bisect_left(starts, ends[-1])] :]

    @functools.cached_property
    def _spelled(self) -> re.Pattern[str]:
        """Whatever spells a control token."""
        longest_first = sorted(self.compiled.spellings.values(), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or "(?!)")


@once_per_tokenizer
def described(tok: BaseTokenizer) -> DescribedTurn:
    """The turn that `tok.config` describes.

    Raises:
        FormatError: The description is invalid.
    """
    format = Format("response_template", {})
    tokens = {it.content: it.id for it in added_tokens_of(tok) if it.id is not None}
    marks = [token for token in tokens if not re.fullmatch(r"[\w\s]*", token)]
    return DescribedTurn(
        description_of(tok.config["response_template"]),
        compiled(format, tokens, marks),
        compiled(format, {}, []),
    )
