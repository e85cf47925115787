"""The worked examples of docs/algorithms as figures, a line of chips each.

Look here for what the figure of an algorithm's page shows. A line is a label, its chips with `¦`
between them, and a note. A chip begins with a sign of its role: `*` it won, `=` it was equally
good, `+` it was added, `?` it is unknown, `~` it is past; the text after `^` is shown below it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from jeton.display.views.frames import Chip, Frame, Mark, Row, Rows
from pictures import of_frame

_SIGNS: dict[str, Mark] = {"*": "best", "=": "tie", "+": "added", "?": "unknown", "~": "dim"}

Line = tuple[str, str, str]

EXAMPLES: dict[str, tuple[str, list[Line]]] = {
    "spans": (
        "Each byte of a text remembers where it came from",
        [
            ("original", "a^0¦-^1¦-^2¦b^3", ""),
            ("replaced", "a^0-1¦*_^1-3¦b^3-4", "-- becomes _"),
        ],
    ),
    "added-tokens": (
        "Which special tokens a text holds",
        [
            ("text", "x<|a|><|b|>y", "special: <|a|> and <|a|><|b|>"),
            ("allow", "x¦+<|a|><|b|>¦y", "the first; of several there, the longest"),
            ("ignore", "x<|a|><|b|>y", "all of it is text"),
        ],
    ),
    "byte-alphabet": (
        "Bytes, and the characters that GPT-2's files write for them",
        [
            ("byte", "97¦32¦10¦195¦169", ""),
            ("written", "a¦*Ġ^256+32¦*Ċ^256+10¦Ã¦©", "as itself, or as 256 + n"),
        ],
    ),
    "normalization": (
        "Only what is not fixed goes through the normalizer",
        [
            ("text", "caf¦=e◌́^e + U+0301¦·né", ""),
            ("NFC", "caf¦*é^U+00E9¦·né", "the rest is copied"),
        ],
    ),
    "patterns": (
        "GPT-2's pattern, from one match to the next",
        [
            ("text", "a··b", ""),
            ("letters", "*a¦~··b", "letters"),
            ("white space", "a¦*·¦~·b", "\\s+(?!\\S): all but the last"),
            ("letters", "a¦·¦*·b", "letters, with the space before them"),
        ],
    ),
    "one-pass": (
        "Several stages in one pass over the text",
        [
            ("text", "is··it9.", ""),
            ("signs", "is··it9¦.", "\\p{P}"),
            ("numbers", "is··it¦9¦.", "\\p{N}{1,2}"),
            ("words", "is¦·¦·it¦9¦.", "all but white space, with a space before it"),
        ],
    ),
    "look-around": (
        "Look-around as bits: where \\d(?=(?:\\d{3})*\\b) matches in 1234",
        [
            ("text", "1¦2¦3¦4", ""),
            ("look ahead", "*1^yes¦2^no¦3^no¦*4^yes", "read from the end: three digits, or none"),
            ("matches", "*1¦~2¦~3¦*4", ""),
        ],
    ),
    "block-scanners": (
        "Masks of 64 bytes: where words begin",
        [
            ("text", "i¦n¦·¦·¦a¦·¦b¦o¦x", ""),
            ("letter", "1¦1¦0¦0¦1¦0¦1¦1¦1", ""),
            ("space", "0¦0¦1¦1¦0¦1¦0¦0¦0", ""),
            ("begins", "*1¦0¦*1¦*1¦0¦*1¦0¦0¦0", "in │ · │ ·a │ ·box"),
        ],
    ),
    "split-points": (
        "A place where a text may be split",
        [
            ("text", "Many¦*·words", "a word begins there whatever is around it"),
            ("encoded", "Many", "by one thread"),
            ("and", "·words", "by another"),
        ],
    ),
    "bpe": (
        "One word by two rules",
        [
            ("tokens", "ab^3¦bc^4¦abc^5", "and the bytes a b c"),
            ("by ranks", "*abc", "a token as a whole is that token at once"),
            ("by merges", "a¦bc", "b + c is the only merge in the list"),
        ],
    ),
    "merging": (
        "New words leave gaps, and are merged side by side",
        [
            ("text", "the¦·zyx¦·the¦·qpw", ""),
            ("cached", "the¦?gap¦·the¦?gap", "known words have their tokens"),
            ("merging", "·z¦y¦x^first¦·q¦p¦w^second", "one merge of each in turn"),
            ("output", "the¦*·z¦*yx¦·the¦*·q¦*pw", ""),
        ],
    ),
    "tables": (
        "A trie in one array: does ab begin a token?",
        [
            ("node a", "base 200", ""),
            ("node 298", "*200 + 98^b is byte 98¦parent: a^yes", "so ab begins a token"),
            ("otherwise", "~parent: another", "then no token begins with ab"),
        ],
    ),
    "word-cache": (
        "A word's entry is half a cache line",
        [
            ("key", "20¦74¦68¦65¦~00 …^eleven bytes¦*14^length 4, one id", ""),
            ("ids", "id^of ·the¦~–¦~–¦~–", ""),
        ],
    ),
    "cached-chunks": (
        "Text is looked up before it is normalized",
        [
            ("original", "Wörter¦,¦漢字¦!", "looked up like this"),
            ("normalized", "*worter", "only if it is new"),
        ],
    ),
    "wordpiece": (
        "The longest match, from the front",
        [
            ("word", "bugs", ""),
            ("at b", "~bugs¦~bug¦~bu¦*b", ""),
            ("at u", "~##ugs¦~##ug¦*##u", ""),
            ("at g", "*##gs", "b │ ##u │ ##gs"),
        ],
    ),
    "unigram": (
        "Of all ways, the one with the greatest sum of scores",
        [
            ("scores", "a^-2¦b^-2¦ab^-3", ""),
            ("abb", "a^-2¦b^-2¦b^-2", "-6"),
            ("abb", "*ab^-3¦*b^-2", "-5: the best"),
        ],
    ),
    "sentencepiece": (
        "From text to what the model sees",
        [
            ("text", "··to··be·", ""),
            ("one space each", "to·be", "extra white space is removed"),
            ("escaped", "*▁to▁be", "and a space in front"),
        ],
    ),
    "rounded-sums": (
        "Which of two equal ways wins may depend on the sum in front",
        [
            ("scores", "a^-1¦b^-1¦ab^-2", ""),
            ("from 0", "a¦b^-2", ""),
            ("or", "ab^-2", "a lead of 0: it does not win clearly"),
        ],
    ),
    "loading": (
        "Sorted tokens share their first bytes",
        [
            ("tokens", "in¦ing¦into", ""),
            ("trie", "*in", "one node"),
            ("children", "g¦t", "side by side; o after t"),
        ],
    ),
    "decoding": (
        "Tokens become text by copying",
        [
            ("tokens", "▁the¦▁tide¦.", ""),
            ("surfaces", "·the^5 bytes¦·tide^5 bytes¦.^1 byte", "between two others"),
            ("text", "the¦·tide¦.", "the first goes through the decoder"),
        ],
    ),
    "word-counts": (
        "What training starts from",
        [
            ("corpus", "b¦·¦a¦·¦b¦·¦c", ""),
            ("words", "b^2 times¦a^1¦c^1", "in the order in which they are seen"),
        ],
    ),
    "bpe-training": (
        "After a merge, only the pairs in its words change",
        [
            ("6 ×", "n¦e¦w¦=e¦=s¦t¦</w>", "e s, 9 times"),
            ("6 ×", "n¦e¦w¦*es¦t¦</w>", "new pairs: w es, es t"),
            ("3 ×", "w¦i¦d¦*es¦t¦</w>", "new pairs: d es, es t"),
            ("5 ×", "~l¦~o¦~w¦~</w>", "not visited"),
        ],
    ),
    "unigram-training": (
        "Rounds of estimating and pruning",
        [
            ("seeds", "est^9¦we^8¦▁low^7¦▁newest^6¦▁widest^3¦▁lower^2", "and all characters"),
            ("pruned", "*▁newest¦*▁low¦*▁widest¦~est¦~we¦~▁lower", "the most probable stay"),
        ],
    ),
    "token-sets": (
        "Documents in shards with room for ten tokens",
        [
            ("documents", "A^4¦B^5¦C^3¦D^12", ""),
            ("shard 1", "A^4¦B^5", "9 tokens"),
            ("shard 2", "C^3", "D has no room beside it"),
            ("shard 3", "D^12", "longer than a shard: by itself"),
        ],
    ),
}
"""By the name of the page: what the figure shows, and its lines."""


def _chip(written: str) -> Chip:
    text, _, under = written.partition("^")
    mark = _SIGNS.get(text[0], "") if len(text) > 1 else ""
    return Chip(text[1:] if mark else text, mark, under)


def picture(name: str) -> str:
    """The figure of a page."""
    title, lines = EXAMPLES[name]
    shown = tuple(
        Row(tuple(map(_chip, chips.split("¦"))), label, note) for label, chips, note in lines
    )
    return of_frame(Frame(title, "", (Rows(shown),)), title)


FIGURES: dict[str, Callable[[], str]] = {
    f"algorithm-{name}": partial(picture, name) for name in EXAMPLES
}
"""What draws each, by the name of its file."""
