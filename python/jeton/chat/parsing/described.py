"""`DescribedTurn`: replaces `Turn` if the tokenizer's folder has a `response_template`."""

from __future__ import annotations

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

    def behind_anchor(self, text: str) -> str:
        """The beginning of the answer that is in the text of a prompt, in symbols."""
        spelled = self.compiled.spelled(text)
        return self.compiled.with_symbols(self.description.behind_anchor(spelled))


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
