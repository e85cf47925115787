"""Proofs that no text gives a token, one for each stage that can prevent it.

Look here for what is proved and what is only tried. The finding `unreached` says that N texts were
tried and none gave the token. A proof says more: which stage prevents it, for every text; so
without the token no text would be split differently. Proofs are about the pieces that the model
sees; the decoder plays no part:

- bytes that UTF-8 never has are in no text;
- added tokens are found before any other stage, so a token whose text contains one is always split;
- every part of a text in a Unicode normal form, or in lower case, is so too (Unicode Standard
  Annex 15): a token that such a step changes is in no normalized text, if no later step undoes it;
- pre-tokenizers such as BERT's decide by two neighbouring characters whether to split between them;
- merges go by rank or score. If a token is in the result, no merge has crossed its edges, so inside
  them the same merges have happened as in its text alone: a token that its own text does not merge
  into is never the result. Likewise, every part of a best path of pieces is a best path;
- WordPiece takes words up to a length, and a token that continues a word needs one before it.

A token with a mark for its place in a word has two readings, because text may spell the mark as
well. Both must be proved impossible.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from jeton.analysis.health.attack import (
    Attack,
    completions,
    continued,
    is_part_of_utf8,
    unblocked,
    words,
)
from jeton.analysis.health.findings import Case
from jeton.analysis.health.spellings import text_or_none
from jeton.analysis.health.subject import Subject
from jeton.components import AddedToken, models, normalizers, pre_tokenizers
from jeton.components.component import steps_of
from jeton.display.human_readable import counted, visible
from jeton.edit import derivations
from jeton.edit.spelling import best_path, token_text
from jeton.edit.vocabulary import OF_PIECES, pieces_of
from jeton.loading.model_file import NORMAL, UNUSED, USER_DEFINED, ModelFile

_CLOSED: Final = (
    normalizers.NFC,
    normalizers.NFD,
    normalizers.NFKC,
    normalizers.NFKD,
    normalizers.Lowercase,
    normalizers.StripAccents,
    normalizers.BertNormalizer,
)
"""Normalizers that do not change their own output, nor any part of it."""

_KEPT: Final[dict[type, tuple[type, ...]]] = {
    normalizers.NFD: (normalizers.Lowercase, normalizers.StripAccents, normalizers.Strip),
    normalizers.NFKD: (normalizers.Lowercase, normalizers.StripAccents, normalizers.Strip),
    normalizers.Lowercase: (normalizers.NFC, normalizers.NFD, normalizers.StripAccents),
    normalizers.StripAccents: (normalizers.Strip,),
}
"""Later steps whose output still has no part that the normalizer would change."""

_LOCAL: Final = (
    pre_tokenizers.BertPreTokenizer,
    pre_tokenizers.Whitespace,
    pre_tokenizers.WhitespaceSplit,
    pre_tokenizers.Punctuation,
    pre_tokenizers.Digits,
    pre_tokenizers.CharDelimiterSplit,
)
"""Pre-tokenizers that decide by two neighbouring characters whether to split between them."""

_OF_EACH_CLASS: Final = "aA1é中あяا.-_'#<🙂\u0301"

_SOME: Final = 400
"""Number of texts that are tried for a byte token."""

_MARGIN: Final = 1e-4
"""The relative margin by which a sum of 32-bit scores must be higher to be certainly higher."""


def unreached_tokens(subject: Subject) -> dict[str, list[Case]]:
    """The ordinary tokens that no text gives, as cases of the rules that say why."""
    cases: dict[str, list[Case]] = {}
    for rule, case in _unreached(subject):
        cases.setdefault(rule, []).append(case)
    return cases


def unreached_ids(subject: Subject) -> set[int | None]:
    """The ids of these tokens."""
    return {case.id for cases in subject.once(unreached_tokens).values() for case in cases}


def _case(
    subject: Subject, id: int, rule: str, why: str, tried: str | None, texts: int
) -> tuple[str, Case]:
    """The rule, and its case for a token.

    Args:
        why: What happened to its text.
        tried: A text that was tried; `None` if no text can hold its bytes.
        texts: The number of texts that were tried.
    """
    gave = None if tried is None else tuple(subject.ids_of(tried) or ())
    if rule != "unreached":
        return rule, Case(id, subject.tokens[id], "", why, tried, gave)
    told = f"{counted(texts, 'text was', 'texts were')} tried" + (f"; {why}" if why else "")
    return rule, Case(id, subject.tokens[id], "", told, tried, gave, "observed")


def _unreached(subject: Subject) -> Iterator[tuple[str, Case]]:
    usage = subject.usage
    reached_ids = () if usage is None else usage.ids[usage.counts > 0].tolist()
    reasons = _Reasons(subject)
    proved: dict[int, tuple[str, str]] = {}

    def is_proved(id: int) -> bool:
        proof = reasons.proof(id)
        if proof is not None:
            proved[id] = proof
        return proof is not None

    attack = Attack(subject, reached_ids)
    for id in attack.run(is_proved, reasons.text):
        rule, why = proved.get(id) or ("unreached", reasons.lost_at(id))
        example = None if rule == "unreachable-bytes" else reasons.text(id)
        yield _case(subject, id, rule, why, example, attack.tried[id])
    yield from _bytes(subject, reasons, attack.reached)
    for id, kind in enumerate(subject.kinds):
        if kind == UNUSED:
            why = "the model file lists it as unused"
            yield _case(subject, id, "unused-piece", why, subject.texts[id], 1)


def _bytes(
    subject: Subject, reasons: _Reasons, reached: Iterable[int]
) -> Iterator[tuple[str, Case]]:
    """Tokens such as `<0x41>` that no text gives, since their characters are tokens themselves."""
    texts = {
        id: list(itertools.islice(completions(bytes([byte])), _SOME))
        for byte, id in subject.byte_tokens.items()
        if is_part_of_utf8(bytes([byte]))
    }
    attack = Attack(subject, reached)
    attack.texts([(id, text) for id, attempts in texts.items() for text in attempts])
    for byte, id in sorted(subject.byte_tokens.items()):
        if id not in texts:
            why = "no text has these bytes in its UTF-8"
            yield _case(subject, id, "unreachable-bytes", why, None, 0)
        elif id not in attack.reached:
            rule, why = "unreached", ""
            if byte < 0x80:
                rule, why = reasons.of_character(chr(byte))
            yield _case(subject, id, rule, why, texts[id][0], attack.tried[id])


class _Reasons:
    """The reasons why a tokenizer does not give certain tokens."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.tok, self.model = subject, subject.tok, subject.model
        normalizer, cutter = self.tok.stages.normalizer, self.tok.stages.pre_tokenizer
        self.spelling = subject.spelling
        self.steps = steps_of(normalizer)
        self.is_local = all(isinstance(step, _LOCAL) for step in steps_of(cutter))
        self.normalize: Callable[[str], str] = normalizer or (lambda text: text)
        self.cut = cutter
        self.added_contents = [
            token.content for token in subject.added.values() if self._is_cut_out(token)
        ]

    def _is_cut_out(self, token: AddedToken) -> bool:
        """Whether an added token is found wherever normalized text contains it."""
        if token.special or token.single_word or not token.content:
            return False
        if self.spelling.inserts and token.content[0] in " ▁":
            return False  # the pre-tokenizer may insert it after added tokens were found
        if self.tok.stages.normalizer is None:
            return True
        return token.normalized and self.normalize(token.content) == token.content

    def text(self, id: int) -> str:
        """The simplest text that should give a token."""
        data = self.subject.surfaces[id]
        text = self.subject.texts[id]
        if text is None:
            return next(completions(data), data.decode(errors="replace"))
        rest = continued(self.subject, id)
        if rest is not None:
            text = self._word + rest
        suffix = self.spelling.suffix
        if suffix and not self.subject.tokens[id].endswith(suffix.encode()):
            text += "a"
        return text or self.subject.tokens[id].decode(errors="replace")

    @functools.cached_property
    def _word(self) -> str:
        """A character that begins words."""
        starts = (text for text in self._words[0] if len(text) == 1 and text.isalnum())
        return min(starts, default="a")

    def proof(self, id: int) -> tuple[str, str] | None:
        """The rule that proves that no text gives a token, and why; `None` without a proof."""
        data = self.subject.surfaces[id]
        if not is_part_of_utf8(data):
            return "unreachable-bytes", "no text has these bytes in its UTF-8"
        return self._stages(id) or self._of_model(id)

    def _stages(self, id: int) -> tuple[str, str] | None:
        token = self.subject.tokens[id]
        if isinstance(self.model, models.SentencePiece):
            text = self.subject.texts[id]
            readings = [] if text is None else [(text, False)]
        else:
            readings = self._readings(token)
        proofs = []
        for spelled, continues in readings:
            reason = self._stage(spelled, continues)
            if reason is None:
                return None
            proofs.append(reason)
        return proofs[0] if proofs else None

    def _readings(self, token: bytes) -> list[tuple[str, bool]]:
        """What a piece of text may have for a token, and whether the token must continue a word."""
        spelled = text_or_none(token)
        if spelled is None:
            return []
        prefix, suffix = self.spelling.prefix, self.spelling.suffix
        readings = [(spelled, False)]
        if prefix and spelled.startswith(prefix) and spelled != prefix:
            readings.insert(0, (spelled.removeprefix(prefix), True))
        if suffix:
            ends = [
                (text.removesuffix(suffix), continues)
                for text, continues in readings
                if text.endswith(suffix) and text != suffix
            ]
            readings = ends + readings
        return readings

    def _stage(self, spelled: str, continues: bool) -> tuple[str, str] | None:
        """The stage that prevents such a piece, as a rule and a reason."""
        text = self.spelling.normal(spelled.encode())
        if text is None:
            return None
        content_inside = next((content for content in self.added_contents if content in text), None)
        if content_inside is not None:
            example = visible(content_inside.encode())
            return "unreachable-added", f"the added token {example} in it is found first"
        before = list(_OF_EACH_CLASS) if continues else [""]
        if self._is_rewritten(text, before):
            example = _quoted(self.normalize(before[0] + text))
            return "unreachable-normalizer", f"the normalizer turns it into {example}"
        if self.is_local and self.cut is not None:
            pieces = [[piece for piece, _ in self.cut(first + spelled)] for first in before]
            if not any(
                first + spelled in piece
                for first, row in zip(before, pieces, strict=True)
                for piece in row
            ):
                example = "│".join(visible(piece.encode()) for piece in pieces[0]) or "nothing"
                return "unreachable-cut", f"the pre-tokenizer splits it into {example}"
        return None

    def _is_rewritten(self, text: str, before: Sequence[str]) -> bool:
        """Whether no normalized text contains `text` after any of the characters in `before`."""
        return any(
            not any(_stays(step, first, text) for first in before)
            for at, step in enumerate(self.steps)
            if isinstance(step, _CLOSED)
            and all(isinstance(later, _KEPT.get(type(step), ())) for later in self.steps[at + 1 :])
        )

    # Models applied to a token's own text

    def _of_model(self, id: int) -> tuple[str, str] | None:
        token = self.subject.tokens[id]
        match self.model:
            case models.BPE():
                return self._of_bpe(token)
            case models.SentencePiece():
                return self._of_pieces(id)
            case models.Unigram():
                return self._of_path(token_text(token))
            case models.WordPiece():
                return self._of_words(id)
            case models.Characters() if len(token.decode(errors="replace")) != 1:
                return "unreachable-merge", "each token of the model is one character"
            case _:
                return None

    def _of_bpe(self, token: bytes) -> tuple[str, str] | None:
        model = self.model
        assert isinstance(model, models.BPE)
        is_looked_up = model.merges is None or model.ignore_merges
        if is_looked_up and text_or_none(token) is not None:
            return None
        if model.merges is None:
            spelled = token.decode("latin-1")
            parts = derivations.apply_scores(spelled, self._ranks, lambda text: -self._ranks[text])
            rows = [[part.encode("latin-1") for part in parts]]
        elif model.alphabet == "characters" and self._is_written_otherwise(token):
            return None
        else:
            rows = [
                derivations.apply_merges(row, self._merges, model)
                for row in self._symbols_of(token)
            ]
        if not rows or [token] in rows:
            return None
        return "unreachable-merge", f"merging its own text ends in {_parted(rows[0])}"

    def _is_written_otherwise(self, token: bytes) -> bool:
        """Whether a token contains a substitute for a character outside the alphabet."""
        model = self.model
        assert isinstance(model, models.BPE)
        unknown = model.unk_token
        return (
            text_or_none(token) is None
            or (unknown is not None and unknown.encode() in token)
            or (model.byte_fallback and b"<0x" in token)
        )

    def _symbols_of(self, token: bytes) -> list[list[bytes]]:
        """The symbols of a token before the first merge, for each reading of its marks."""
        model = self.model
        assert isinstance(model, models.BPE)
        if model.alphabet == "bytes":
            return [derivations.symbols(token, model)]
        prefix, suffix = self.spelling.prefix, self.spelling.suffix
        rows = []
        for spelled, continues in self._readings(token):
            marked = (prefix if continues else "") + spelled
            row = [prefix + c if continues or at else c for at, c in enumerate(spelled)]
            if marked.encode() != token and model.separate_suffix:
                row.append(suffix)
            elif marked.encode() != token:
                row[-1] += suffix
            rows.append([symbol.encode() for symbol in row])
        return rows

    @functools.cached_property
    def _ranks(self) -> dict[str, int]:
        special = self.subject.special
        tokens = self.subject.tokens.items()
        return {token.decode("latin-1"): id for id, token in tokens if id not in special}

    @functools.cached_property
    def _merges(self) -> dict[tuple[bytes, bytes], int]:
        return {pair: rank for rank, pair in enumerate(self.tok.vocab.merges)}

    @functools.cached_property
    def _file(self) -> ModelFile:
        assert isinstance(self.model, OF_PIECES)
        return pieces_of(self.model)

    def _of_pieces(self, id: int) -> tuple[str, str] | None:
        piece = self._file.pieces[id]
        if piece.kind != NORMAL:
            return None
        if self._file.kind == "unigram":
            return self._of_path(piece.text)
        symbol_inside = next((symbol for symbol in self._symbols if symbol in piece.text), None)
        if symbol_inside is not None:
            parts = visible(symbol_inside.encode())
            return "unreachable-added", f"the user-defined symbol {parts} in it is found first"
        if self._file.kind == "bpe":
            ends = derivations.apply_scores(piece.text, self._scores, self._scores.__getitem__)
            if ends != [piece.text]:
                parts = _parted([part.encode() for part in ends])
                return "unreachable-merge", f"merging its own characters ends in {parts}"
        return None

    @functools.cached_property
    def _symbols(self) -> list[str]:
        return [piece.text for piece in self._file.pieces if piece.kind == USER_DEFINED]

    @functools.cached_property
    def _scores(self) -> dict[str, float]:
        """The scores of the pieces that the model gives for ordinary text."""
        apart = self.subject.apart if isinstance(self.model, models.Unigram) else ()
        pieces = enumerate(self._file.pieces)
        return {it.text: it.score for id, it in pieces if it.kind == NORMAL and id not in apart}

    def _of_path(self, text: str) -> tuple[str, str] | None:
        others = {
            piece: (0, score)
            for piece, score in self._scores.items()
            if piece in text and piece != text
        }
        best = best_path(text, others)
        own = self._scores.get(text)
        if best is None or own is None or not best[0] > own + _MARGIN * (1 + abs(own)):
            return None
        return "unreachable-score", f"its score is {own:.3f}, that of its parts {best[0]:.3f}"

    def _of_words(self, id: int) -> tuple[str, str] | None:
        model = self.model
        assert isinstance(model, models.WordPiece)
        longest = model.max_input_chars_per_word
        why = ""
        for spelled, continues in self._readings(self.subject.tokens[id]):
            if self._stage(spelled, continues) is not None:
                continue
            if len(spelled) + continues > longest:
                why = why or f"a word of more than {longest} characters is unknown as a whole"
            elif continues and not any(unblocked(row, spelled) for row in self._matched):
                why = why or "no token precedes it in any word"
            else:
                return None
        return ("unreachable-match", why) if why else None

    @functools.cached_property
    def _matched(self) -> tuple[list[str], list[str]]:
        """The texts that are matched at the beginning of words, and those inside words."""
        prefix = self.spelling.prefix
        ordinary = (self.subject.tokens[id] for id in self.subject.ordinary.tolist())
        texts = [text for token in ordinary if (text := text_or_none(token)) is not None]
        return texts, [text.removeprefix(prefix) for text in texts if text.startswith(prefix)]

    @functools.cached_property
    def _words(self) -> tuple[list[str], list[str]]:
        return words(self.subject)

    def of_character(self, character: str) -> tuple[str, str]:
        """Why a character of one byte is not encoded as its byte token."""
        after = self.normalize(f"a{character}a")
        plain = self.spelling.plain_text(after)
        if character not in plain:
            return "unreached", f"the normalizer turns a…a into {_quoted(after)}"
        is_always_so = not (self.spelling.prefix or self.spelling.suffix)
        if is_always_so and character in self.subject.characters:
            return "spare-byte", f"{_quoted('▁' if '▁' in after else character)} is a token"
        return "unreached", ""

    # Without a proof

    def lost_at(self, id: int) -> str:
        """The stage that loses the text of a token, for the simplest text."""
        text, inner = self.text(id), self.subject.texts[id]
        if inner is None:
            return ""
        plain = self.spelling.plain_text
        normal = plain(self.normalize(f"a{inner}a"))
        if inner not in normal:
            return f"the normalizer turns a…a into {_quoted(normal)}"
        if self.cut is not None:
            pieces = [plain(piece) for piece, _ in self.cut(self.normalize(text))]
            if not any(inner in piece for piece in pieces):
                example = "│".join(visible(piece.encode()) for piece in pieces) or "nothing"
                return f"the pre-tokenizer splits it into {example}"
        return ""


def _stays(step: object, first: str, text: str) -> bool:
    """Whether a closed normalizer keeps `text` unchanged after the character `first`."""
    assert isinstance(step, _CLOSED)
    if isinstance(step, normalizers.BertNormalizer):  # it adds spaces even beside others
        return step(first + text).split() == (first + text).split()
    return step(text) == text


def _quoted(text: str) -> str:
    return visible(text.encode()) or "nothing"


def _parted(parts: Sequence[bytes]) -> str:
    return "│".join(map(visible, parts))
