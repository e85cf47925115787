"""Classes whose vocabulary is a `vocab.json` with its merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from jeton.components import Regex, decoders, models, normalizers, post_processors, pre_tokenizers
from jeton.components.byte_alphabet import BYTES
from jeton.errors import FormatError
from jeton.loading import languages
from jeton.loading.class_folders.configuration import Configuration
from jeton.loading.class_folders.known_class import (
    CLS_SEP,
    CLS_SEP_SEP,
    ClassStages,
    Frame,
    KnownClass,
    template,
)
from jeton.loading.patterns import named_expression

_MAX_UNMADE: Final = 4
"""How many tokens of no merge a sound vocabulary may have."""
_CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def gpt2(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """GPT-2, and CodeGen, which Phi uses too."""
    before = ["bos"] * configuration.flag("add_bos_token", False)
    frame = template(" ".join([*before, "$A"]), " ".join([*before, "$A", *before, "$B"]))
    return _stages(configuration, frame)


def roberta(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """RoBERTa and BART."""
    mask = configuration.role("mask", known_class.roles)
    listed = {token["content"] for token in configuration.listed.values()}
    has_flags = isinstance(configuration.arguments.get("mask_token"), dict)
    if mask is None or has_flags or mask["content"] in listed:
        return _stages(configuration, CLS_SEP_SEP)
    warning = (
        f"transformers 5 gives a space in front of {mask['content']!r} a token of its own, which "
        "transformers 4 and jeton do not (set lstrip of mask_token in tokenizer_config.json)"
    )
    return _stages(configuration, CLS_SEP_SEP, warnings=[warning])


def deberta(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """The first DeBERTa."""
    return _stages(configuration, CLS_SEP)


def qwen2(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Qwen 2."""
    steps = (
        pre_tokenizers.Split(Regex(named_expression("qwen2")), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    )
    return _stages(
        configuration,
        None,
        normalizer=normalizers.NFC(),
        pre_tokenizer=pre_tokenizers.Sequence(steps),
    )


def whisper(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Whisper, with tokens for the language and the task."""
    task = configuration.text("task")
    if task not in (None, "transcribe", "translate"):
        raise configuration.refuse(f"task={task!r} is neither 'transcribe' nor 'translate'")
    code = _whisper_language(configuration)
    place = 1 + list(languages.WHISPER).index(code) if code else 0
    first = [_START, *["language"] * bool(code), *[f"<|{task}|>"] * bool(task)]
    if not configuration.flag("predict_timestamps", False):
        first.append("<|notimestamps|>")

    def frame(tokens: Mapping[str, tuple[str, int]]) -> post_processors.PostProcessor | None:
        by_id = {id: content for content, id in tokens.values()}
        # The class uses the unknown token in place of a missing one.
        around_text = {it: tokens.get(it, tokens.get("unk")) for it in first if it != "language"}
        missing = [it for it, token in around_text.items() if token is None]
        if missing:
            raise configuration.refuse(f"its tokens lack {missing[0]}")
        around = {it: token for it, token in around_text.items() if token is not None}
        if code:
            # Languages have the ids after the start token, in their order.
            id = around[_START][1] + place
            if id not in by_id:
                raise configuration.refuse(f"language={code!r} has the id {id}, which no token has")
            around["language"] = by_id[id], id
        before = " ".join(first)
        return template(f"{before} $A eos", f"{before} $A $B eos")({**tokens, **around})

    return _stages(configuration, frame)


_START = "<|startoftranscript|>"


def _whisper_language(configuration: Configuration) -> str | None:
    """The code of the language in the configuration, which gives a code or a name."""
    language = configuration.text("language")
    if language is None:
        return None
    if (code := languages.whisper_code(language)) is None:
        raise configuration.refuse(f"language={language!r} is not a language of the model")
    return code


def clip(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """CLIP, whose tokens end in `</w>` at the end of a word."""
    vocabulary, merges = _files(configuration)
    unknown = configuration.role("unk", known_class.roles)
    model = models.BPE(
        vocabulary,
        merges,
        alphabet="characters",
        unk_token=None if unknown is None else unknown["content"],
        end_of_word_suffix="</w>",
    )
    return ClassStages(
        model,
        vocabulary,
        len(vocabulary),
        normalizer=normalizers.Sequence(
            (
                normalizers.NFC(),
                normalizers.Replace(Regex(r"\s+"), " "),
                normalizers.Lowercase(),
            )
        ),
        pre_tokenizer=pre_tokenizers.Sequence(
            (
                pre_tokenizers.Split(Regex(_CLIP), "removed", invert=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            )
        ),
        decoder=decoders.Sequence(
            (decoders.ByteLevel(), decoders.Replace("</w>", " "), decoders.Strip(" ", 1, 1))
        ),
        frame=template("bos $A eos", "bos $A eos eos $B eos"),
    )


def ctrl(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """CTRL, whose tokens end in `@@` if the word goes on."""
    vocabulary, merges = _files(configuration)
    unknown = configuration.role("unk", known_class.roles)
    ends = {
        token.removesuffix("@@") if token.endswith("@@") else f"{token}</w>": id
        for token, id in vocabulary.items()
    }
    if unknown is None or unknown["content"] not in vocabulary:
        raise configuration.refuse("its vocabulary lacks the unknown token")
    ends[unknown["content"]] = ends.pop(f"{unknown['content']}</w>")
    missing = [pair for pair in merges if not {*pair, "".join(pair)} <= ends.keys()]
    if missing:
        raise configuration.refuse(
            f"{len(missing)} of its merges use unknown tokens, first {' '.join(missing[0])!r}"
        )
    return ClassStages(
        models.BPE(
            ends,
            merges,
            alphabet="characters",
            unk_token=unknown["content"],
            end_of_word_suffix="</w>",
        ),
        vocabulary,
        len(vocabulary),
        pre_tokenizer=pre_tokenizers.Split(Regex(r"\S+\n?"), "removed", invert=True),
        decoder=decoders.BPEDecoder("</w>"),
    )


def _files(configuration: Configuration) -> tuple[dict[str, int], list[tuple[str, str]]]:
    vocabulary = configuration.vocabulary("vocab.json", "encoder.json")
    path = configuration.file("merges.txt", "vocab.bpe")
    try:
        lines = configuration.read("merges.txt", "vocab.bpe").decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: {error}") from None
    merges = []
    for number, line in enumerate(lines, 1):
        if line.startswith("#version") or not line.strip():
            continue
        parts = line.split()
        if len(parts) != 2:
            raise FormatError(f"{path}: line {number}: expected two tokens, found {line!r:.60}")
        merges.append((parts[0], parts[1]))
    return vocabulary, merges


def _stages(
    configuration: Configuration,
    frame: Frame | None,
    *,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
    warnings: Iterable[str] = (),
    **rest: Any,
) -> ClassStages:
    """The stages of a byte-level BPE."""
    vocabulary, merges = _files(configuration)
    raw: dict[bytes, int] = {}
    for token, id in vocabulary.items():
        raw.setdefault(_raw(token), id)
    if pre_tokenizer is None:
        prefix = configuration.flag("add_prefix_space", False)
        pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    pairs: list[tuple[bytes | str, bytes | str]] = [(_raw(a), _raw(b)) for a, b in merges]
    warnings = [*warnings, *_tokens_of_no_merge(vocabulary, merges)]
    return ClassStages(
        models.BPE(raw, pairs),
        vocabulary,
        len(vocabulary),
        pre_tokenizer=pre_tokenizer,
        decoder=decoders.ByteLevel(),
        frame=frame,
        warnings=warnings,
        **rest,
    )


def _tokens_of_no_merge(
    vocabulary: Mapping[str, int], merges: list[tuple[str, str]]
) -> Iterator[str]:
    """A warning about tokens that no text becomes, as for a `vocab.json` alone: the merges may be
    cut short. A few are in real files, beside special tokens in brackets."""
    if len(vocabulary) <= 256 + len(merges) + _MAX_UNMADE:
        return
    made = {left + right for left, right in merges}
    unmade = [
        token
        for token in vocabulary
        if token not in made and len(_raw(token)) > 1 and token[0] + token[-1] not in ("<>", "[]")
    ]
    if len(unmade) > _MAX_UNMADE:
        yield (
            f"{len(unmade)} of the {len(vocabulary)} tokens, {unmade[0]!r} the first of them, come "
            "of no merge, so no text becomes them: are the vocabulary and the merges of one "
            "tokenizer?"
        )


def _raw(token: str) -> bytes:
    """The bytes of a token: those of GPT-2's characters, or else its UTF-8."""
    if all(character in BYTES for character in token):
        return bytes(BYTES[character] for character in token)
    return token.encode()
