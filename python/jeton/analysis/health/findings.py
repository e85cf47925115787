"""The result of a check as data: `Health`, its findings, and the tokens of each.

Look here for the JSON that is saved, and for how a result is compared with an earlier one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from jeton._core import __version__
from jeton.analysis.health.rules import RULES, SEVERITIES, Severity, check_rule
from jeton.arguments import check_kind
from jeton.display import notebooks
from jeton.display.human_readable import counted, visible
from jeton.errors import ArgumentError
from jeton.record import Record
from jeton.saved_json import Saved

Evidence: TypeAlias = Literal["proved", "observed"]
"""The evidence for a case; see `Case.evidence`."""


@dataclass(frozen=True)
class Case(Record):
    """One subject of a finding: a token, or a named part of the tokenizer.

    Attributes:
        id: The id of the token; `None` if the case is not about a token.
        token: The token as the vocabulary spells it; `None` if the case is not about a token.
        name: The subject if it is not a token: a byte, a format, a range of ids.
        told: A remark about this case alone.
        tried: The text that was tried; `None` without one.
        gave: The ids of this text.
        evidence: `"proved"`: the case follows from the tokenizer's definition, for every text.
            `"observed"`: it was seen when trying the tokenizer, as `tried` and `gave` show; or
            `told`, if a file was tried or a corpus counted instead of a text.
    """

    id: int | None = None
    token: bytes | None = None
    name: str = ""
    told: str = ""
    tried: str | None = None
    gave: tuple[int, ...] | None = None
    evidence: Evidence = "proved"

    @property
    def key(self) -> str:
        """What identifies the case among those of its rule: the bytes of the token, or the name."""
        return self.name if self.token is None else self.token.hex()

    def __str__(self) -> str:
        return self.name if self.token is None else visible(self.token)

    def to_dict(self) -> dict[str, Any]:
        """The case as values for JSON: bytes as hexadecimal, and as people see them."""
        record: dict[str, Any] = {"id": self.id, "bytes": None, "shown": str(self)}
        if self.token is not None:
            record["bytes"] = self.token.hex()
        record.update(told=self.told, tried=self.tried)
        record["gave"] = None if self.gave is None else list(self.gave)
        return {**record, "evidence": self.evidence}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Case:
        """The case that `to_dict` gave."""
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
class Finding(Record):
    """The finding of one rule.

    Attributes:
        rule: The name of the rule; `jeton.analysis.RULES` says why it matters and what to do.
        message: The finding in a sentence.
        cases: The tokens or parts that it is about.
    """

    rule: str
    message: str
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        check_rule(self.rule, "a finding")
        super().__post_init__()

    @property
    def severity(self) -> Severity:
        """`"error"`, `"warning"` or `"note"`."""
        return RULES[self.rule].severity

    @property
    def evidence(self) -> Evidence:
        """`"proved"` if every case is proved, otherwise `"observed"`; see `Case.evidence`."""
        return "proved" if all(case.evidence == "proved" for case in self.cases) else "observed"

    @property
    def ids(self) -> list[int]:
        """The ids of its cases."""
        return [case.id for case in self.cases if case.id is not None]

    def __repr__(self) -> str:
        return f"Finding({self.severity}: {self.rule}, {len(self.cases):,} cases: {self.message})"


def found(rule: str, cases: Iterable[Case], message: str | None = None) -> Iterator[Finding]:
    """The finding of a rule, if it has cases.

    Args:
        rule: The name of the rule.
        message: The finding in a sentence; by default the rule's title and the number of cases.
    """
    cases = tuple(cases)
    if cases:
        yield Finding(rule, message or f"{RULES[rule].title} ({len(cases):,})", cases)


@dataclass(frozen=True, repr=False)
class Health(Saved):
    """The findings about a tokenizer.

    Iterate over it for all findings; index it by the name of a rule for the finding of that rule.

    Attributes:
        findings: The findings, the most severe first.
        tokenizer: The digest of the tokenizer; see `Tokenizer.digest`.
        vocab_size: The number of tokens.
        rules: The rules that were checked.
        skipped: The rules that could not be checked, with the reason.
        corpus: The digest of the corpus, if there was one; see `Usage.corpus`.
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

    @property
    def worst(self) -> Severity | None:
        """The highest severity of a finding; `None` if there is no finding."""
        severities = {finding.severity for finding in self.findings}
        return next((severity for severity in SEVERITIES if severity in severities), None)

    def count(self, severity: Severity) -> int:
        """The number of findings of a severity.

        Raises:
            ArgumentError: There is no such severity.
        """
        if not isinstance(severity, str) or severity not in SEVERITIES:
            raise ArgumentError(
                f"severity must be 'error', 'warning' or 'note', not {severity!r:.40}"
            )
        return sum(finding.severity == severity for finding in self.findings)

    def __getitem__(self, rule: str) -> Finding | None:
        """The finding of a rule; `None` if it found nothing, or was not checked.

        Raises:
            ArgumentError: There is no such rule.
        """
        check_rule(rule, "health")
        return next((finding for finding in self.findings if finding.rule == rule), None)

    def __contains__(self, rule: object) -> bool:
        """Whether a rule, by its name, found anything; or whether a finding is among these.

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
        """The findings that an earlier, accepted result does not have.

        A case is in the earlier result if the same rule found it for a token with the same bytes,
        whatever its id is now, or for a part with the same name.

        Example:
            >>> from jeton import analysis
            >>> from jeton.learn import textbook
            >>> health = analysis.check(textbook.low_lower_newest_widest())
            >>> len(health.since(health))
            0
        """
        check_kind("baseline", baseline, Health, "a Health")
        earlier = {finding.rule: {case.key for case in finding.cases} for finding in baseline}
        new = []
        for finding in self.findings:
            cases = [
                case for case in finding.cases if case.key not in earlier.get(finding.rule, ())
            ]
            if cases:
                new.append(replace(finding, cases=tuple(cases)))
        return replace(self, findings=tuple(new))

    def to_dict(self) -> dict[str, Any]:
        """The whole result as values for JSON."""
        record = super().to_dict()
        del record["findings"]
        return {
            **record,
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "rules": sorted(self.rules),
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
        # Findings of rules of another version are ignored.
        known = [finding for finding in record["findings"] if finding["rule"] in RULES]
        rules = frozenset(record["rules"])
        return super()._of_record({**record, "findings": known, "rules": rules})

    def _repr_html_(self) -> str:
        """A row per finding, which opens when clicked, for notebooks."""
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
        summary = ", ".join(
            counted(counts[severity], severity) for severity in SEVERITIES if counts[severity]
        )
        return f"<Health of {self.vocab_size:,} tokens: {summary or 'nothing found'}>"
