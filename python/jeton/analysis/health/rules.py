"""The rules of `jeton check`: names, severities, why each matters and what to do.

Look here to add a rule: an entry of `RULES`, and a section in `docs/check.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_text
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = ["RULES", "SEVERITIES", "Rule", "Severity", "check_rule", "chosen_rules"]

Severity: TypeAlias = Literal["error", "warning", "note"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The severities, the highest first."""


@dataclass(frozen=True)
class Rule:
    """A rule of `jeton check`.

    Attributes:
        name: Its name, in kebab-case.
        severity: `"error"`: text is lost or ids are wrong. `"warning"`: part of the vocabulary is
            wasted, or a trap for users. `"note"`: worth knowing, often intended.
        title: The fault, in a few words.
        why: Why it matters.
        remedy: What to do about it.
    """

    name: str
    severity: Severity
    title: str
    why: str
    remedy: str


_RETRAIN: Final = (
    "Remove it from the vocabulary (jeton edit prune --drop), or train again with the stages that "
    "encoding uses. In a trained model it wastes a row of the embedding, and does no other harm."
)

_RULES: Final = (
    Rule(
        "dropped-text",
        "error",
        "text is dropped without a sign",
        "A character without a token is dropped: the model never learns that it was there.",
        "Add an unknown token to the model, or tokens for all 256 bytes.",
    ),
    Rule(
        "missing-bytes",
        "error",
        "bytes without a token",
        "The vocabulary consists of bytes, and some have no token: text with them is dropped, "
        "unknown or refused.",
        "Train with all 256 bytes in the alphabet (other trainers: initial_alphabet), or add the "
        "missing ones.",
    ),
    Rule(
        "decoder",
        "error",
        "decoding gives other text",
        "The tokens hold the text, but the decoder does not fit the other stages, or there is no "
        "decoder: a model's output comes out as the vocabulary spells it, or worse.",
        "Set the decoder that undoes the stages before the model: ByteLevel, Metaspace, "
        "WordPiece, BPEDecoder or ByteFallback.",
    ),
    Rule(
        "batch-differs",
        "error",
        "a batch has other ids than single texts",
        "Ids must not depend on how texts are grouped. This is a bug in jeton.",
        "Report it with the text shown.",
    ),
    Rule(
        "special-leaks",
        "error",
        "text becomes a control token",
        'With special="ignore" the spelling of a special token must stay text. This is a bug in '
        "jeton.",
        "Report it with the text shown.",
    ),
    Rule(
        "frame-ids",
        "error",
        "tokens around a text have the ids of other tokens",
        "The post-processor names one token and has the id of another. Encoding adds the id around "
        "each text, as the library of the file does, so the model gets the other token.",
        "Set a post_processor with the id that the vocabulary has for the name.",
    ),
    Rule(
        "class-differs",
        "warning",
        "transformers 5 gives other ids",
        "For the class in tokenizer_config.json, transformers 5 builds its own stages instead of "
        "those in tokenizer.json.",
        "Save the folder again (jeton convert FOLDER NEW): the new one names the class that reads "
        "the file unchanged.",
    ),
    Rule(
        "duplicate-token",
        "warning",
        "one token has several ids",
        "Two ids have the same bytes: encoding gives one of them, and the model never learns the "
        "other.",
        "Keep one (jeton edit prune --drop removes ids by token), or train again without the copy.",
    ),
    Rule(
        "special-not-found",
        "warning",
        "a special token that its own spelling does not give",
        'Even with special="allow" the text of the token gives other ids, so a prompt cannot '
        "contain it.",
        "Check its flags (normalized, single_word) and the normalizer.",
    ),
    Rule(
        "control-in-text",
        "warning",
        "a control token that any text can spell",
        "It looks like a control token but is an added token that is not special: it is found in "
        "any text, with every special=, so untrusted text can contain it.",
        "Mark it special=True if it controls the model.",
    ),
    Rule(
        "split-words",
        "warning",
        "decoding puts spaces into words",
        "Without a decoder that joins tokens, there is a space between them, even inside a word: "
        "decoded text no longer shows where words begin.",
        "Train with a mark where words begin or end (Metaspace, ByteLevel, ## or </w>) and set the "
        "decoder that undoes it.",
    ),
    Rule(
        "unreachable-added",
        "warning",
        "an added token hides it",
        "Added tokens are found first, so the model never sees a token that contains one whole.",
        "Remove the hidden tokens, or the added one if it is there by mistake.",
    ),
    Rule(
        "unreachable-normalizer",
        "warning",
        "the normalizer always rewrites it",
        "No normalized text contains it, so no text gives it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-cut",
        "warning",
        "the pre-tokenizer always splits it",
        "No piece of text contains it whole, so no text gives it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-merge",
        "warning",
        "no merges lead to it",
        "Merging its own text ends in other tokens, and so does every text that contains it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-score",
        "warning",
        "its parts always score more",
        "In every text, the best path through its characters uses other pieces.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-match",
        "warning",
        "no word is matched with it",
        "The words that could contain it are longer than the model takes, or no token can precede "
        "it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-bytes",
        "note",
        "bytes that no text has",
        "UTF-8 never has these bytes. The 13 single ones (C0, C1, F5 to FF) are in every alphabet "
        "of 256 bytes, which saves a special case.",
        "Nothing for single bytes. They are known unused rows, a reference for --embeddings.",
    ),
    Rule(
        "spare-byte",
        "note",
        "byte tokens whose character is a token",
        "A character that is a token is never encoded as its byte, so these tokens never occur.",
        "Nothing: every byte fallback has them. They are known unused rows, a reference for "
        "--embeddings.",
    ),
    Rule(
        "unreached",
        "note",
        "no text was found that gives it",
        "None of the texts that were tried gives the token; there is no proof that no text does.",
        "Look for it in the training corpus (--corpus).",
    ),
    Rule(
        "unused-piece",
        "note",
        "pieces that the model file lists as unused",
        "SentencePiece never gives a piece of type UNUSED.",
        "Use them for future special tokens, or leave them out.",
    ),
    Rule(
        "other-alone",
        "note",
        "tokens whose own text encodes differently",
        "Some text gives the token, but the text that it decodes to alone gives other ids: a "
        "model's output, decoded and encoded again, may have other tokens.",
        "In generation loops, keep the ids instead of encoding decoded text again.",
    ),
    Rule(
        "special-in-text",
        "note",
        "special tokens that text can spell",
        'jeton treats their spelling as text (special="ignore") unless the call says otherwise; '
        "other libraries may not.",
        'Encode untrusted text only with special="ignore" or "raise".',
    ),
    Rule(
        "id-gap",
        "note",
        "ids without a token",
        "An embedding needs a row for them, and decoding them is an error.",
        "Nothing if they are reserved for special tokens; otherwise close the gaps (jeton edit).",
    ),
    Rule(
        "unknown-text",
        "note",
        "characters can be unknown",
        "A character without a token becomes the unknown token, and decoding does not restore it.",
        "Measure how often on your own text; train with byte fallback if it matters.",
    ),
    Rule(
        "part-of-character",
        "note",
        "tokens that begin or end inside a character",
        "Alone they decode to U+FFFD, and training often sees them rarely.",
        "Decode streams with tok.decode_stream(), which waits for whole characters.",
    ),
    Rule(
        "whitespace-token",
        "note",
        "tokens of white space only",
        "Runs of spaces are useful in code; elsewhere they are remains of layout.",
        "Check whether the long ones come from one document.",
    ),
    Rule(
        "long-token",
        "note",
        "very long tokens",
        "A token this long is rarely a word; often it is a line that a corpus repeats.",
        "Deduplicate the corpus; train with max_token_length.",
    ),
    Rule(
        "encoding-damage",
        "note",
        "remains of wrongly decoded text",
        "UTF-8 that was read as another encoding (Ã© for é), or U+FFFD: the corpus is damaged.",
        "Repair the corpus before training.",
    ),
    Rule(
        "markup",
        "note",
        "remains of mark-up",
        "HTML that was not removed from the corpus fills the vocabulary; for a model of code that "
        "is intended.",
        "Extract text before training, if the model is to read text.",
    ),
    Rule(
        "url",
        "note",
        "remains of addresses",
        "Hosts and schemes are learned if a corpus repeats its links.",
        "Check whether they are worth their rows.",
    ),
    Rule(
        "mixed-scripts",
        "note",
        "letters of several scripts",
        "Words rarely mix scripts: such tokens are damage, look-alikes or joined words.",
        "Check the corpus that they come from.",
    ),
    Rule(
        "format-loss",
        "note",
        "what formats cannot hold",
        "Saving fails in a format that cannot hold the tokenizer; others leave some settings to "
        "the loader.",
        "Save it in a format that loses nothing; see docs/formats.md.",
    ),
    Rule(
        "template-fails",
        "error",
        "a chat template fails",
        "The template fails on the simplest question, or is not Jinja that runs in the sandbox: no "
        "chat can use it.",
        "Fix the template where the message points, or use the model's published one.",
    ),
    Rule(
        "template-python",
        "warning",
        "a chat template prints values as Python",
        "Lists, dicts and None are written as Python prints them, not as JSON: the model sees a "
        "notation that its training did not have, and escapes that no reader undoes.",
        "Write values with | tojson.",
    ),
    Rule(
        "template-rewrites",
        "warning",
        "a chat template changes what it has written",
        "The next prompt does not begin with what the model has read and written: each turn loses "
        "the cache, and training on whole conversations shows the model text that it never wrote.",
        "Keep earlier turns as they were written, or use chat.extend, which keeps all ids.",
    ),
    Rule(
        "template-unclosed",
        "warning",
        "a chat template leaves a mark open",
        "A mark such as <think> is opened in a turn and never closed: all later text is inside it.",
        "Close the mark in the template, or write it only if it has content.",
    ),
    Rule(
        "template-sorts",
        "note",
        "a chat template sorts keys or tools",
        "Arguments, parameters or tools are not in the order in which they were passed: a call "
        "that is parsed and written again has other ids, and a further tool changes the prompt in "
        "front of the others.",
        "Write keys and tools in their order (without | dictsort and | sort).",
    ),
    Rule(
        "template-clock",
        "note",
        "a chat template writes the day",
        "The same messages have other ids tomorrow: prompt caches miss, and tests that compare ids "
        "fail.",
        "Pass the day as a variable, such as date_string.",
    ),
    Rule(
        "never-used",
        "note",
        "tokens that the corpus does not use",
        "If the training corpus never gives a token, its embedding is never trained.",
        "Remove them (jeton edit prune CORPUS), or train the vocabulary on this corpus.",
    ),
    Rule(
        "small-embedding",
        "note",
        "rows of the embedding that look untrained, by length",
        "Weight decay shrinks rows that get no gradient: these are as short as known unused rows, "
        "and among the shortest 2 % (Land & Bartolo 2024, arXiv:2405.05417).",
        "Ask the model to repeat the token; if it cannot, keep it out of its inputs.",
    ),
    Rule(
        "unused-direction",
        "note",
        "rows of the embedding that look untrained, by direction",
        "Without the direction that all rows share, these rows point where known unused rows do, "
        "and are among the nearest 2 % (Land & Bartolo 2024, arXiv:2405.05417).",
        "Ask the model to repeat the token; if it cannot, keep it out of its inputs.",
    ),
)

RULES: Final = MappingProxyType({rule.name: rule for rule in _RULES})
"""All rules by name, the most severe first."""


def chosen_rules(only: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The rules to check.

    Args:
        only: The rules; if empty, all.
        ignore: Rules to leave out.

    Raises:
        ArgumentError: There is no rule with a name; the error suggests a similar one.
    """
    names = _names("only", only) or set(RULES)
    return frozenset(names - _names("ignore", ignore))


def _names(argument: str, names: Iterable[str]) -> set[str]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise ArgumentTypeError(
            f"{argument} must be an iterable of names of rules, not {type(names).__name__}"
        )
    return {check_rule(name, argument) for name in names}


def check_rule(name: object, argument: str) -> str:
    """`name`, if it is the name of a rule.

    Raises:
        ArgumentError: There is no such rule; the error suggests a similar one, and lists all.
    """
    rule = check_text(f"a name of {argument}", name)
    if rule not in RULES:
        close = _core.did_you_mean(rule, list(RULES))
        hint = f"did you mean {close!r}? " if close else ""
        rules = ", ".join(RULES)
        raise ArgumentError(f"{argument}: there is no rule {rule!r:.60} ({hint}Rules: {rules})")
    return rule
