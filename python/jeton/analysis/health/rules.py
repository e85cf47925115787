"""The rules that a tokenizer is checked by: names, severities, why each matters and what to do.

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
"""The severities, the gravest first."""


@dataclass(frozen=True)
class Rule:
    """What is looked for.

    Attributes:
        name: Its name, in kebab-case.
        severity: `"error"`: text is lost or ids are wrong. `"warning"`: part of the vocabulary is
            wasted, or a trap for those who use it. `"note"`: worth knowing, often meant so.
        title: What was found, in a few words.
        why: Why it matters.
        remedy: What to do about it.
    """

    name: str
    severity: Severity
    title: str
    why: str
    remedy: str


_RETRAIN: Final = (
    "Take it out of the vocabulary (jeton edit prune --drop) or train again with the stages that "
    "encoding has; of a trained model the row of its embedding is wasted, and no harm else."
)

_RULES: Final = (
    Rule(
        "dropped-text",
        "error",
        "text vanishes in silence",
        "A character without a token becomes nothing: the model never learns that it was there.",
        "Add an unknown token to the model, or tokens for all 256 bytes.",
    ),
    Rule(
        "missing-bytes",
        "error",
        "bytes without a token",
        "The vocabulary is made of bytes, and some of them are no token: text that holds them is "
        "dropped, unknown or refused.",
        "Train with all 256 bytes in the alphabet (other trainers: initial_alphabet), or add the "
        "missing ones.",
    ),
    Rule(
        "decoder",
        "error",
        "decoding gives other text",
        "The tokens hold the text, but the decoder does not fit the other stages, or there is "
        "none: what a model writes comes out as the vocabulary spells it, or worse.",
        "Set the decoder that undoes the stages in front of the model: ByteLevel, Metaspace, "
        "WordPiece, BPEDecoder or ByteFallback.",
    ),
    Rule(
        "batch-differs",
        "error",
        "a batch has other ids than single texts",
        "Ids must not depend on how texts are grouped. This is a mistake in jeton.",
        "Report it with the text that is shown.",
    ),
    Rule(
        "special-leaks",
        "error",
        "text becomes a control token",
        'With special="ignore" the spelling of a special token must be text. This is a mistake in '
        "jeton.",
        "Report it with the text that is shown.",
    ),
    Rule(
        "frame-ids",
        "error",
        "the frame of a text has ids of other tokens",
        "The post-processor names a token and gives the id of another: the model gets the other "
        "one around each text. Encoding takes the id, as the library of the file does.",
        "Set a post_processor with the id that the vocabulary has for the name.",
    ),
    Rule(
        "class-differs",
        "warning",
        "transformers 5 gives other ids",
        "For the class that tokenizer_config.json names, transformers 5 builds stages of its own "
        "instead of those in tokenizer.json.",
        "Save the folder again (jeton convert FOLDER NEW): it then names the class that reads the "
        "file as it is.",
    ),
    Rule(
        "duplicate-token",
        "warning",
        "one token has several ids",
        "Two ids have the same bytes: encoding gives one of them, and the model learns nothing of "
        "the other.",
        "Keep one (jeton edit prune --drop takes ids away by token; train anew without the copy).",
    ),
    Rule(
        "special-not-found",
        "warning",
        "a special token that its own spelling does not give",
        'Even with special="allow" the text of the token gives other ids, so prompts cannot '
        "spell it.",
        "Look at its flags (normalized, single_word) and at the normalizer.",
    ),
    Rule(
        "control-in-text",
        "warning",
        "a control token that any text can spell",
        "It looks like a control token but is an added token that is not special: it is found in "
        "any text, whatever special= says, so untrusted text can write it.",
        "Mark it special=True, if it controls the model.",
    ),
    Rule(
        "split-words",
        "warning",
        "decoding puts spaces into words",
        "Where no decoder joins tokens, there is a space between them, also inside a word: decoded "
        "text does not tell any longer where words begin.",
        "Train with a mark of where words begin or end (Metaspace, ByteLevel, ## or </w>) and set "
        "the decoder that undoes it.",
    ),
    Rule(
        "unreachable-added",
        "warning",
        "an added token hides it",
        "Added tokens are cut out of the text first, so what holds one is never seen whole.",
        "Take the hidden tokens away, or the added one if it is there by mistake.",
    ),
    Rule(
        "unreachable-normalizer",
        "warning",
        "the normalizer always rewrites it",
        "No normalized text holds it, so no text gives it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-cut",
        "warning",
        "the pre-tokenizer always cuts it",
        "No piece of text holds it whole, so no text gives it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-merge",
        "warning",
        "no merges make it",
        "Merging its own text ends in other tokens, so the same happens inside every text.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-score",
        "warning",
        "its parts always score more",
        "The best path through its own text is by way of other pieces, in every text.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-match",
        "warning",
        "no word is matched so",
        "The words that it could stand in are longer than the model takes, or none begins before "
        "it.",
        _RETRAIN,
    ),
    Rule(
        "unreachable-bytes",
        "note",
        "bytes that no text has",
        "UTF-8 never has these bytes. The 13 single ones (C0, C1, F5 to FF) are in every alphabet "
        "of 256 bytes and only spare a special case.",
        "Nothing, of single bytes. They are known unused rows, as references for --embeddings.",
    ),
    Rule(
        "spare-byte",
        "note",
        "byte tokens whose character is a token",
        "A character that is a token is never written as its byte, so these tokens are never "
        "given.",
        "Nothing: every byte fallback has them. They are known unused rows, as references for "
        "--embeddings.",
    ),
    Rule(
        "unreached",
        "note",
        "no text was found that gives it",
        "None of the texts that were tried gave the token; that no text does is not proved.",
        "Look for it in the training corpus (--corpus).",
    ),
    Rule(
        "unused-piece",
        "note",
        "pieces that the model file lists as unused",
        "SentencePiece never gives a piece of type UNUSED.",
        "Use them for special tokens to come, or leave them out.",
    ),
    Rule(
        "other-alone",
        "note",
        "tokens that decode to what encodes otherwise",
        "Some text gives the token, but the text that it decodes to by itself gives other ids: "
        "what a model writes, decoded and encoded again, may come back as other tokens.",
        "Keep ids instead of encoding decoded text again, in loops that generate.",
    ),
    Rule(
        "special-in-text",
        "note",
        "special tokens that text can spell",
        'jeton takes their spelling for text (special="ignore") unless the call says otherwise; '
        "other libraries may not.",
        'Encode untrusted text with special="ignore" or "raise" only.',
    ),
    Rule(
        "id-gap",
        "note",
        "ids without a token",
        "An embedding needs a row for them, and decoding them is an error.",
        "Nothing, if they are kept for special tokens to come; else close them up (jeton edit).",
    ),
    Rule(
        "unknown-text",
        "note",
        "characters can be unknown",
        "A character without a token becomes the unknown token, and decoding does not bring it "
        "back.",
        "Measure how often on your own text; train with byte fallback where it matters.",
    ),
    Rule(
        "part-of-character",
        "note",
        "tokens that begin or end inside a character",
        "They decode to U+FFFD by themselves, and are often seldom trained.",
        "Decode streams with tok.decode_stream(), which waits for whole characters.",
    ),
    Rule(
        "whitespace-token",
        "note",
        "tokens of white space alone",
        "Runs of spaces are useful in code, and scraps of layout elsewhere.",
        "Look whether the long ones come from one document.",
    ),
    Rule(
        "long-token",
        "note",
        "very long tokens",
        "A token of so many characters is hardly a word: it is often a line that a corpus repeats.",
        "Deduplicate the corpus; train with max_token_length.",
    ),
    Rule(
        "encoding-damage",
        "note",
        "scraps of text decoded wrongly",
        "UTF-8 that was read as another encoding (Ã© for é), or U+FFFD: the corpus is damaged.",
        "Mend the corpus before training.",
    ),
    Rule(
        "markup",
        "note",
        "scraps of mark-up",
        "HTML that was not taken out of the corpus fills the vocabulary; in a model of code it is "
        "meant so.",
        "Extract text before training, if the model is to read text.",
    ),
    Rule(
        "url",
        "note",
        "scraps of addresses",
        "Hosts and schemes are learned where a corpus repeats its links.",
        "Look whether they are worth their rows.",
    ),
    Rule(
        "mixed-scripts",
        "note",
        "letters of several scripts",
        "Words hardly mix scripts: such tokens are damage, look-alikes or joined words.",
        "Look at the corpus where they come from.",
    ),
    Rule(
        "format-loss",
        "note",
        "what formats cannot hold",
        "A format that cannot hold the tokenizer is refused; what it leaves to the loader is "
        "left out.",
        "Keep it in a format that loses nothing; see docs/formats.md.",
    ),
    Rule(
        "template-fails",
        "error",
        "a chat template fails",
        "The template does not take the simplest question, or is no Jinja that runs in the "
        "sandbox: no chat can be made with it.",
        "Mend the template where the message points, or take the model's published one.",
    ),
    Rule(
        "template-python",
        "warning",
        "a chat template prints values as Python",
        "Lists, dicts and None come out as Python prints them, not as JSON: the model sees "
        "another notation than in its training, and escapes that no reader undoes.",
        "Write values with | tojson.",
    ),
    Rule(
        "template-rewrites",
        "warning",
        "a chat template changes what it has written",
        "What a model has read and written is not the beginning of the next prompt: its cache "
        "is lost with each turn, and training on whole conversations shows it what it never "
        "wrote.",
        "Keep earlier turns as they were written; or go on by chat.extend, which keeps all ids.",
    ),
    Rule(
        "template-unclosed",
        "warning",
        "a chat template leaves a mark open",
        "A mark such as <think> is opened in a turn and never closed: all that follows is "
        "inside it.",
        "Close the mark in the template, or write it only where there is something to put in.",
    ),
    Rule(
        "template-sorts",
        "note",
        "a chat template sorts keys",
        "Arguments or parameters are not in the order of the dict: a call that is read back "
        "and written again has other ids.",
        "Write the keys in the order of the dict (without | dictsort).",
    ),
    Rule(
        "template-clock",
        "note",
        "a chat template writes the day",
        "The same messages have other ids tomorrow: caches of prompts miss, and tests that "
        "compare ids fail.",
        "Give the day as a variable, as date_string.",
    ),
    Rule(
        "never-used",
        "note",
        "tokens that the corpus does not use",
        "A token that the training corpus never gives has an embedding that was never trained.",
        "Take them away (jeton edit prune CORPUS), or train the vocabulary on this corpus.",
    ),
    Rule(
        "small-embedding",
        "note",
        "rows of the embedding that look untrained, by length",
        "Weight decay shrinks rows that get no gradient: these are as short as rows that are known "
        "to be unused, and among the shortest 2 % (Land & Bartolo 2024, arXiv:2405.05417).",
        "Ask the model to repeat the token; if it cannot, keep it out of its inputs.",
    ),
    Rule(
        "unused-direction",
        "note",
        "rows of the embedding that look untrained, by direction",
        "These rows point where rows that are known to be unused point, once what all rows share "
        "is taken out, and are among the nearest 2 % (Land & Bartolo 2024, arXiv:2405.05417).",
        "Ask the model to repeat the token; if it cannot, keep it out of its inputs.",
    ),
)

RULES: Final = MappingProxyType({rule.name: rule for rule in _RULES})
"""All rules by name, the gravest first."""


def chosen_rules(only: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The rules that are asked for.

    Args:
        only: If there are any: these.
        ignore: Never these.

    Raises:
        ArgumentError: A name of no rule, with the one that may be meant.
    """
    wanted = _names("only", only) or set(RULES)
    return frozenset(wanted - _names("ignore", ignore))


def _names(argument: str, names: Iterable[str]) -> set[str]:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise ArgumentTypeError(
            f"{argument} must be an iterable of names of rules, not {type(names).__name__}"
        )
    return {check_rule(name, argument) for name in names}


def check_rule(name: object, argument: str) -> str:
    """The name of a rule, if it is one.

    Raises:
        ArgumentError: It is none: the one that may be meant, and all there are.
    """
    known = check_text(f"a name of {argument}", name)
    if known not in RULES:
        close = _core.did_you_mean(known, list(RULES))
        hint = f"did you mean {close!r}? " if close else ""
        rules = ", ".join(RULES)
        raise ArgumentError(f"{argument}: there is no rule {known!r:.60} ({hint}Rules: {rules})")
    return known
