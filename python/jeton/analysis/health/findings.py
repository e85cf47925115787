"""What a check finds, as data: `Health`, its findings and the tokens that each is about.

Look here for the JSON that is saved, and for how an earlier result tells what is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from jeton._core import __version__
from jeton.analysis.health.rules import RULES, SEVERITIES, Severity, check_rule
from jeton.analysis.saved import Saved
from jeton.arguments import check_kind, checked_int, one_of
from jeton.display import notebooks
from jeton.display.human_readable import visible
from jeton.errors import ArgumentError

__all__ = ["Case", "Evidence", "Finding", "Health"]

Evidence: TypeAlias = Literal["proved", "observed"]
"""How a case is known; see `Case.evidence`."""


@dataclass(frozen=True)
class Case:
    """One thing that a finding is about: a token, or a named part of the tokenizer.

    Attributes:
        id: The id of the token; `None` if it is about none.
        token: The token as the vocabulary spells it; `None` if it is about none.
        name: What it is about, if about no token: a byte, a format, a range of ids.
        told: What is to be said of it alone.
        tried: The text that was tried; `None` if none was.
        gave: The ids that this text gave.
        evidence: `"proved"`: it follows from what the tokenizer is, for every text. `"observed"`:
            it was seen when the tokenizer was tried: `tried` and `gave` show it, or `told` where
            no text was tried but a file, or a corpus was counted.
    """

    id: int | None = None
    token: bytes | None = None
    name: str = ""
    told: str = ""
    tried: str | None = None
    gave: tuple[int, ...] | None = None
    evidence: Evidence = "proved"

    def __post_init__(self) -> None:
        for id in (self.id, *(self.gave or ())):
            if id is not None:
                checked_int("each id of a case", id, 0)
        if self.token is not None:
            check_kind("token", self.token, bytes, "bytes or None")
        if self.gave is not None:
            check_kind("gave", self.gave, tuple, "a tuple of ids or None")
        for name in ("name", "told", "tried"):
            value = getattr(self, name)
            if name != "tried" or value is not None:
                check_kind(name, value, str, "a str")
        one_of("evidence", self.evidence, ("proved", "observed"))

    @property
    def key(self) -> str:
        """What tells it from others of its rule: the bytes of the token, or its name."""
        return self.name if self.token is None else self.token.hex()

    def __str__(self) -> str:
        return self.name if self.token is None else visible(self.token)

    def to_dict(self) -> dict[str, Any]:
        """As in JSON: bytes as hexadecimal, and as they are shown."""
        record: dict[str, Any] = {"id": self.id, "bytes": None, "shown": str(self)}
        if self.token is not None:
            record["bytes"] = self.token.hex()
        record.update(told=self.told, tried=self.tried)
        record["gave"] = None if self.gave is None else list(self.gave)
        return {**record, "evidence": self.evidence}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Case:
        """Undoes `to_dict`."""
        gave, spelled = record["gave"], record["bytes"]
        return cls(
            record["id"],
            None if spelled is None else bytes.fromhex(spelled),
            record["shown"] if spelled is None else "",
            record["told"],
            record["tried"],
            None if gave is None else tuple(gave),
            record["evidence"],
        )


@dataclass(frozen=True, repr=False)
class Finding:
    """What one rule found.

    Attributes:
        rule: The name of the rule; `jeton.analysis.RULES` holds why it matters and what to do.
        message: What was found, in a sentence.
        cases: What it was found of.
    """

    rule: str
    message: str
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        check_rule(self.rule, "a finding")
        check_kind("message", self.message, str, "a str")
        check_kind("cases", self.cases, tuple, "a tuple of Case")
        for case in self.cases:
            check_kind("each of cases", case, Case, "a Case")

    @property
    def severity(self) -> Severity:
        """How grave it is: `"error"`, `"warning"` or `"note"`."""
        return RULES[self.rule].severity

    @property
    def evidence(self) -> Evidence:
        """`"proved"` if every case is, else `"observed"`; see `Case.evidence`."""
        return "proved" if all(case.evidence == "proved" for case in self.cases) else "observed"

    @property
    def ids(self) -> list[int]:
        """The ids that it is about."""
        return [case.id for case in self.cases if case.id is not None]

    def __repr__(self) -> str:
        return f"Finding({self.severity}: {self.rule}, {len(self.cases):,} cases: {self.message})"


@dataclass(frozen=True, repr=False)
class Health(Saved):
    """What is wrong with a tokenizer, and what is worth knowing of it.

    It is the findings one after the other; by the name of a rule, what that rule found.

    Attributes:
        findings: What was found, the gravest first.
        tokenizer: The digest of the tokenizer; see `Tokenizer.digest`.
        vocab_size: How many tokens it has.
        rules: The rules that were checked.
        skipped: Rules that were asked for and could not be checked, with why.
        corpus: The digest of the corpus, if one was given; see `Usage.corpus`.
        version: The version of jeton that checked.

    Example:
        >>> from jeton import analysis
        >>> from jeton.learn import textbook
        >>> health = analysis.check(textbook.low_lower_newest_widest())
        >>> health.worst
        'error'
        >>> [finding.rule for finding in health if finding.severity == "error"]
        ['dropped-text']
        >>> "dropped-text" in health, "missing-bytes" in health, health["missing-bytes"]
        (True, False, None)
    """

    _NOUN: ClassVar[str] = "health"

    findings: tuple[Finding, ...]
    tokenizer: str
    vocab_size: int
    rules: frozenset[str]
    skipped: Mapping[str, str] = field(default_factory=dict)
    corpus: str | None = None
    version: str = __version__

    def __post_init__(self) -> None:
        check_kind("findings", self.findings, tuple, "a tuple of Finding")
        for finding in self.findings:
            check_kind("each of findings", finding, Finding, "a Finding")
        checked_int("vocab_size", self.vocab_size, 0)
        corpus = () if self.corpus is None else (self.corpus,)
        for text in (self.tokenizer, self.version, *corpus):
            check_kind("each digest and the version of a health", text, str, "a str")
        check_kind("rules", self.rules, frozenset, "a frozenset of names")
        check_kind("skipped", self.skipped, Mapping, "a mapping of names to why")
        for text in (*self.rules, *self.skipped, *self.skipped.values()):
            check_kind("each of rules and skipped", text, str, "a str")

    @property
    def worst(self) -> Severity | None:
        """The gravest severity there is; `None` if nothing was found."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in found), None)

    def count(self, severity: Severity) -> int:
        """How many findings of a severity there are.

        Raises:
            ArgumentError: There is no such severity.
        """
        if not isinstance(severity, str) or severity not in SEVERITIES:
            raise ArgumentError(
                f"severity must be 'error', 'warning' or 'note', not {severity!r:.40}"
            )
        return sum(finding.severity == severity for finding in self.findings)

    def __getitem__(self, rule: str) -> Finding | None:
        """What a rule found; `None` if it found nothing, or was not checked.

        Raises:
            ArgumentError: There is no such rule.
        """
        check_rule(rule, "health")
        return next((finding for finding in self.findings if finding.rule == rule), None)

    def __contains__(self, rule: object) -> bool:
        """Whether a rule found anything, given by its name; or whether a finding is among these.

        Raises:
            ArgumentError: There is no such rule.
        """
        if isinstance(rule, str):
            return self[rule] is not None
        return rule in self.findings

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def since(self, baseline: Health) -> Health:
        """What an earlier result, which is accepted, does not have.

        A case is known if the same rule found it of a token with the same bytes, whatever its id
        is now, or of a part with the same name.

        Example:
            >>> from jeton import analysis
            >>> from jeton.learn import textbook
            >>> health = analysis.check(textbook.low_lower_newest_widest())
            >>> len(health.since(health))
            0
        """
        check_kind("baseline", baseline, Health, "a Health")
        known = {finding.rule: {case.key for case in finding.cases} for finding in baseline}
        left = []
        for finding in self.findings:
            cases = [case for case in finding.cases if case.key not in known.get(finding.rule, ())]
            if cases:
                left.append(replace(finding, cases=tuple(cases)))
        return replace(self, findings=tuple(left))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as in JSON."""
        return {
            **self._head(),
            "jeton": self.version,
            "tokenizer": self.tokenizer,
            "vocab_size": self.vocab_size,
            "corpus": self.corpus,
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "rules": sorted(self.rules),
            "skipped": dict(self.skipped),
            "findings": [
                {
                    "rule": finding.rule,
                    "severity": finding.severity,
                    "evidence": finding.evidence,
                    "message": finding.message,
                    "why": RULES[finding.rule].why,
                    "remedy": RULES[finding.rule].remedy,
                    "cases": [case.to_dict() for case in finding.cases],
                }
                for finding in self.findings
            ],
        }

    @classmethod
    def _of_record(cls, record: Any) -> Health:
        return cls(
            tuple(
                Finding(found["rule"], found["message"], tuple(map(Case.from_dict, found["cases"])))
                for found in record["findings"]
                if found["rule"] in RULES  # a rule of another version finds nothing now
            ),
            record["tokenizer"],
            record["vocab_size"],
            frozenset(record["rules"]),
            dict(record["skipped"]),
            record["corpus"],
            record["jeton"],
        )

    def _repr_html_(self) -> str:
        """A row a finding, which opens, for notebooks."""
        details = [
            notebooks.detail(
                finding.severity,
                finding.rule,
                finding.message,
                finding.evidence,
                [(str(case), case.id, case.told) for case in finding.cases],
                why=RULES[finding.rule].why,
                remedy=RULES[finding.rule].remedy,
            )
            for finding in self
        ]
        return notebooks.boxed(repr(self).strip("<>"), "".join(details) or "Nothing was found.")

    def __repr__(self) -> str:
        counts = Counter(finding.severity for finding in self.findings)
        told = ", ".join(
            f"{counts[severity]} {severity}{'s' * (counts[severity] != 1)}"
            for severity in SEVERITIES
            if counts[severity]
        )
        return f"<Health of {self.vocab_size:,} tokens: {told or 'nothing found'}>"
