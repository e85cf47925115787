"""Classes whose vocabulary is BERT's list of tokens."""

from __future__ import annotations

from jeton.components import decoders, models, normalizers, pre_tokenizers
from jeton.errors import FormatError
from jeton.loading.class_folders.configuration import Configuration
from jeton.loading.class_folders.known_class import (
    CLS_SEP,
    CLS_SEP_SEP,
    ClassStages,
    Frame,
    KnownClass,
)
from jeton.loading.settings import CONFIG


def bert(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """BERT, and classes that build the same."""
    return _stages(configuration, known_class, CLS_SEP)


def mpnet(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """MPNet, with the frame of RoBERTa."""
    return _stages(configuration, known_class, CLS_SEP_SEP)


def _stages(configuration: Configuration, known_class: KnownClass, frame: Frame) -> ClassStages:
    if not configuration.flag("do_basic_tokenize", True):
        raise configuration.refuse("do_basic_tokenize=false splits text at white space alone")
    if configuration.arguments.get("never_split"):
        raise configuration.refuse("never_split keeps words whole, which no stage supports")
    path = configuration.file("vocab.txt")
    try:
        lines = configuration.read("vocab.txt").decode().split("\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: {error}") from None
    if lines[-1] == "":
        lines.pop()
    vocabulary = {line.rstrip("\r"): id for id, line in enumerate(lines)}
    unknown = configuration.role("unk", known_class.roles)
    if unknown is None or unknown["content"] not in vocabulary:
        raise FormatError(f"{path}: the unk_token of {CONFIG} is not in the vocabulary")
    lowercase = configuration.flag("do_lower_case", True)
    strips = configuration.arguments.get("strip_accents")
    if strips is not None:
        strips = configuration.flag("strip_accents", False)
    cjk = configuration.flag("tokenize_chinese_chars", True)
    normalizer: normalizers.Normalizer
    if lowercase if strips is None else strips:
        normalizer = normalizers.BertNormalizer(
            handle_chinese_chars=cjk, strip_accents=strips, lowercase=lowercase
        )
    else:
        # The Python class composes characters, which makes a difference if accents are kept.
        cleaning = normalizers.BertNormalizer(
            handle_chinese_chars=cjk, strip_accents=False, lowercase=False
        )
        lower = [normalizers.Lowercase()] * lowercase
        normalizer = normalizers.Sequence((cleaning, normalizers.NFC(), *lower))
    return ClassStages(
        models.WordPiece(vocabulary, unk_token=unknown["content"]),
        vocabulary,
        len(lines),
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
        frame=frame,
        finds_normalized=lowercase,
    )
