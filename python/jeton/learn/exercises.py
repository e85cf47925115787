"""Exercises on the worked examples of the textbooks, whose answers check themselves.

Look here to add one. No answers are stored: they come from the trainers and tokenizers of
`jeton.learn.textbook`, and the explanation of a wrong answer comes from the same steps.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jeton.display.human_readable import counted
from jeton.display.views.frames import Frame
from jeton.encoding.explaining.view_frames import frames_of_pieces
from jeton.errors import ArgumentError
from jeton.learn import textbook
from jeton.learn.merging import (
    MergeStep,
    frames_of_merging,
    watch_bpe,
    watch_wordpiece,
)
from jeton.learn.reference.byte_level import printed
from jeton.tokenizer import Tokenizer


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and why it is or is not."""

    right: bool
    told: str


@dataclass(frozen=True)
class Exercise:
    """A question.

    Attributes:
        title: What it is about.
        question: The question.
        form: How to write an answer.
        hint: A hint.
        answer: The answer, in parts.
        why: Why it is that.
        wrong: Explains a wrong answer, by its parts.
        frames: The steps that lead to the answer, to be shown after it.
        others: Other ways to write the answer, in small letters.
    """

    title: str
    question: str
    form: str
    hint: str
    answer: tuple[str, ...]
    why: str
    wrong: Callable[[tuple[str, ...]], str]
    frames: Callable[[], Sequence[Frame]]
    others: tuple[str, ...] = ()

    def check(self, answer: str) -> Verdict:
        """Judges an answer.

        Parts are separated by spaces, commas or plus signs, and may be quoted.

        Example:
            >>> from jeton.learn.exercises import exercise
            >>> exercise(1).check("('e', 's')").right
            True
            >>> exercise(1).check("w e").told
            'w e occurs 8 times; another pair occurs 9 times.'
        """
        parts = _parts(answer)
        if parts == self.answer or answer.strip().lower() in self.others:
            return Verdict(True, self.why)
        if not parts:
            return Verdict(False, f"There is no answer in that. {self.form}")
        return Verdict(False, self.wrong(parts))


def _parts(answer: str) -> tuple[str, ...]:
    quoted = re.findall(r"'([^']*)'|\"([^\"]*)\"", answer)
    if quoted and not re.sub(r"'[^']*'|\"[^\"]*\"|[\s,+()\[\]|b]", "", answer):
        return tuple(one or other for one, other in quoted)
    return tuple(part for part in re.split(r"[\s,+|()\[\]]+", answer) if part)


_TOKEN_FORM = "Write the tokens with spaces between them."
_PAIR_FORM = "Write the two symbols with a space between them."


def _pair(title: str, text: str, steps: Sequence[MergeStep], number: int) -> Exercise:
    """Which pair is the `number`-th to be merged?"""
    step = steps[number - 1]
    before = [f"{left} {right}" for left, right in (it.best for it in steps[: number - 1])]
    question = text
    if before:
        question += f"\nMerged so far: {', '.join(before)}."
    question += f"\nWhich pair is merged {_ORDER[number]}?"
    rows = "\n".join(f"  {count:>3} x  {' '.join(row)}" for row, count in step.before)
    score = "greatest score" if step.parts else "greatest count"

    def wrong(parts: tuple[str, ...]) -> str:
        if len(parts) != 2:
            return f"A pair is two symbols. {_PAIR_FORM}"
        pair = (parts[0], parts[1])
        if pair not in step.counts:
            return f"{' '.join(pair)} are nowhere neighbours in the words."
        if pair in step.tied:
            best = counted(step.counts[step.best], "time") if not step.parts else "scores as much"
            return (
                f"{' '.join(pair)} is as good as another pair ({best}), but that one "
                f"{'was seen first' if step.tie_break == 'first' else 'comes first'}."
            )
        if step.parts:
            return (
                f"{' '.join(pair)} scores {_score(step, pair)}; another pair scores "
                f"{_score(step, step.best)}."
            )
        return (
            f"{' '.join(pair)} occurs {counted(step.counts[pair], 'time')}; another pair occurs "
            f"{counted(step.counts[step.best], 'time')}."
        )

    def frames() -> Sequence[Frame]:
        return frames_of_merging(step.before, [step])[1:2]

    return Exercise(
        title,
        f"{question}\n{rows}",
        _PAIR_FORM,
        f"Count the pairs of neighbours in each word, times how often the word occurs: the pair "
        f"with the {score} is merged; of equals, the one that is seen first.",
        step.best,
        frames()[0].note,
        wrong,
        frames,
    )


_ORDER = {1: "first", 2: "second", 3: "third"}


def _score(step: MergeStep, pair: tuple[str, str]) -> str:
    a, b = (step.parts[it] for it in pair)
    return f"{step.counts[pair]} / ({a} · {b}) = {float(step.scores[pair]):.4f}"


def _tokens(title: str, text: str, tok: Tokenizer, word: str, hint: str) -> Exercise:
    """The tokens of a word."""
    answer = tuple(tok.tokens(word))

    def wrong(parts: tuple[str, ...]) -> str:
        marks = re.compile(r"</w>|##")
        spelled = marks.sub("", "".join(parts))
        expected = marks.sub("", "".join(answer))
        if spelled != expected and "<unk>" not in answer:
            return f"Your tokens spell {spelled!r}, not {expected!r}."
        vocab = {token.decode(errors="replace") for token in tok.vocab}
        for part in parts:
            if part not in vocab:
                return f"{part!r} is not a token of this vocabulary."
        pairs = zip(parts, answer, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda it: it[0] == it[1], pairs))
        return (
            f"All of these are tokens, but the algorithm gives others"
            f"{f' after the first {same}' if same else ''}: follow its order. {hint}"
        )

    def frames() -> Sequence[Frame]:
        return frames_of_pieces(tok.explain(word).model)

    return Exercise(
        title,
        f"{text}\nWhich tokens are made of {word!r}?",
        _TOKEN_FORM,
        hint,
        answer,
        frames()[0].note,
        wrong,
        frames,
    )


def _plain(
    title: str,
    question: str,
    form: str,
    hint: str,
    answer: tuple[str, ...],
    why: str,
    others: tuple[str, ...] = (),
) -> Exercise:
    """A question with one answer, though perhaps other ways to write it, and one reason."""
    return Exercise(title, question, form, hint, answer, why, lambda _: hint, lambda: [], others)


_LOW = "The words are low x5, lower x2, newest x6 and widest x3, each with </w> at its end."
_HUG = "The words are hug x10, pug x5, pun x12, bun x4 and hugs x5."
_ORDERED = "Do the merges in the order in which they were learned, wherever they fit."


def _bpe_steps(words: textbook.Words, merges: int, end: str | None) -> list[MergeStep]:
    return list(watch_bpe(textbook.word_counts(words), merges, end=end))


def _told_merges(tok: Tokenizer) -> str:
    return "The merges, in order: " + ", ".join(f"{a} {b}" for a, b in textbook.merges(tok)) + "."


def _low_first() -> Exercise:
    return _pair("The first merge", _LOW, _bpe_steps(textbook.LOW_COUNTS, 3, "</w>"), 1)


def _low_third() -> Exercise:
    return _pair("The third merge", _LOW, _bpe_steps(textbook.LOW_COUNTS, 3, "</w>"), 3)


def _lowest() -> Exercise:
    tok = textbook.low_lower_newest_widest()
    return _tokens("A word never seen", f"{_LOW}\n{_told_merges(tok)}", tok, "lowest", _ORDERED)


def _newer() -> Exercise:
    tok = textbook.low_lower_newest_widest(7)
    return _tokens("Another one", f"{_LOW}\n{_told_merges(tok)}", tok, "newer", _ORDERED)


def _hug_first() -> Exercise:
    return _pair("Hugs and puns", _HUG, _bpe_steps(textbook.HUG_COUNTS, 3, None), 1)


def _thug() -> Exercise:
    tok = textbook.hug_pug_pun_bun_hugs()
    text = f"{_HUG}\n{_told_merges(tok)}\nA letter that no word has becomes <unk>."
    return _tokens("A letter never seen", text, tok, "thug", _ORDERED)


def _wordpiece_first() -> Exercise:
    steps = list(watch_wordpiece(textbook.HUG_COUNTS, 1))
    text = f"{_HUG}\nWordPiece's score of a pair is freq(ab) / (freq(a) · freq(b))."
    return _pair("WordPiece's first merge", text, steps, 1)


def _bugs() -> Exercise:
    tok = textbook.hug_pug_pun_bun_hugs("wordpiece")
    vocab = " ".join(token.decode() for token in tok.vocab)
    hint = "From the front the longest token that fits is taken, and so on; inside a word with ##."
    return _tokens("The longest match", f"A WordPiece vocabulary: {vocab}", tok, "bugs", hint)


def _unhug() -> Exercise:
    tok = textbook.hug_pug_pun_bun_hugs("unigram")
    scores = ", ".join(
        f"{token.decode()} {score:.2f}"
        for token, score in zip(tok.vocab, tok.vocab.scores, strict=True)
    ).removeprefix("<unk> 0.00, ")
    hint = "The sum of the scores is to be as great as can be: few and likely pieces."
    return _tokens("The best path", f"Pieces with their scores: {scores}.", tok, "unhug", hint)


def _gage_second() -> Exercise:
    steps = _bpe_steps("aaabdaaabac", 3, None)
    return _pair("Gage's string", "The text is aaabdaaabac, one word.", steps, 2)


def _gage_ids() -> Exercise:
    tok = textbook.aaabdaaabac()
    answer = tuple(map(str, tok.encode("aaabdaaabac")))
    return _plain(
        "Gage's string, in ids",
        f"The bytes of aaabdaaabac; bytes have the ids 0 to 255 (a is 97), merges those from 256 "
        f"on.\n{_told_merges(tok)}\nWhich ids does the text become?",
        "Write the ids with spaces between them.",
        "a is 97, b 98, c 99, d 100; the third merge has the id 258, and swallows aaab.",
        answer,
        "aaab is 258, and d, a and c are the bytes 100, 97 and 99.",
    )


def _refrain() -> Exercise:
    steps = _bpe_steps("a refrain from rain in a train", 3, None)
    return _pair("Rain", "The text is: a refrain from rain in a train.", steps, 2)


def _train() -> Exercise:
    tok = textbook.a_refrain_from_rain_in_a_train()
    return _tokens("In a train", _told_merges(tok), tok, "train", _ORDERED)


def _cake() -> Exercise:
    tok = textbook.bpe("cake", 1, end=None, tie_break="alphabetic")
    return _plain(
        "A tie",
        "The only word is cake, so all pairs are as frequent. The smallest by the alphabet wins.\n"
        "Which pair is merged first?",
        _PAIR_FORM,
        "The pairs are c a, a k and k e; which would a dictionary list first?",
        textbook.merges(tok)[0],
        "a k comes before c a and k e; where the pair seen first wins, it is c a.",
    )


def _printed_bytes() -> Exercise:
    return _plain(
        "Bytes in print",
        "GPT-2's files print a byte that can be seen as itself, and the others as 256, 257, … in "
        "their order; the space, byte 32, is Ġ (U+0120).\nThe byte 10 is the line end. As which "
        "character is it printed?",
        "Write one character, or its number such as U+0120.",
        "The bytes 0 to 32 are the first that cannot be seen: byte n becomes 256 + n.",
        (printed(b"\n"),),
        "256 + 10 is 266, U+010A: Ċ.",
        ("u+010a", "u+10a", "266", "0x10a"),
    )


EXERCISES: tuple[tuple[str, Callable[[], Exercise]], ...] = (
    ("low lower newest widest", _low_first),
    ("low lower newest widest", _low_third),
    ("low lower newest widest", _lowest),
    ("low lower newest widest", _newer),
    ("hug pug pun bun hugs", _hug_first),
    ("hug pug pun bun hugs", _thug),
    ("hug pug pun bun hugs", _wordpiece_first),
    ("hug pug pun bun hugs", _bugs),
    ("hug pug pun bun hugs", _unhug),
    ("aaabdaaabac", _gage_second),
    ("aaabdaaabac", _gage_ids),
    ("a refrain from rain in a train", _refrain),
    ("a refrain from rain in a train", _train),
    ("cake", _cake),
    ("bytes", _printed_bytes),
)
"""The exercises in order, each with the example that it is on."""


def exercise(number: int) -> Exercise:
    """The exercise of a number, from 1.

    Raises:
        ArgumentError: There is no exercise of that number.
    """
    if not 1 <= number <= len(EXERCISES):
        raise ArgumentError(f"there is no exercise {number}; they are 1 to {len(EXERCISES)}")
    return EXERCISES[number - 1][1]()
