"""Classes whose vocabulary is a SentencePiece model.

Look here for shifted ids, language codes, and two models with one vocabulary. Unless `legacy` is
false, these classes treat the text between two added tokens as a separate text.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jeton.components import Regex, models, normalizers
from jeton.errors import FormatError
from jeton.loading import languages
from jeton.loading.class_folders.configuration import Configuration, Token
from jeton.loading.class_folders.known_class import (
    CLS_SEP,
    CLS_SEP_SEP,
    ClassStages,
    Frame,
    KnownClass,
    template,
)
from jeton.loading.model_file import CONTROL, NORMAL, UNKNOWN, UNUSED, ModelFile, ModelPiece


def _model(configuration: Configuration, *names: str) -> ModelFile:
    return ModelFile.parse(configuration.read(*names))


def _stages(
    file: ModelFile,
    frame: Frame | None,
    *,
    pieces: Sequence[ModelPiece] | None = None,
    legacy: bool = True,
    add_dummy_prefix: bool | None = None,
    before: Sequence[normalizers.Normalizer] = (),
    **rest: Any,
) -> ClassStages:
    """The stages of a model, with its own pieces or other ones."""
    pieces = file.pieces if pieces is None else pieces
    if add_dummy_prefix is not None:
        spec = replace(file.normalizer_spec, add_dummy_prefix=add_dummy_prefix)
        file = file.with_normalizer(spec)
    unknown = next((piece.text for piece in pieces if piece.kind == UNKNOWN), None)

    def model(added_ids: Collection[int]) -> models.SentencePiece:
        # Only control pieces that are added tokens of the class are matched in text.
        model_pieces = (
            replace(piece, kind=UNUSED) if piece.kind == CONTROL and id not in added_ids else piece
            for id, piece in enumerate(pieces)
        )
        return models.SentencePiece(file.with_pieces(model_pieces, unk_surface=unknown))

    normalizer: normalizers.Normalizer = replace(file.normalizer, legacy=legacy)
    if before:
        normalizer = normalizers.Sequence((*before, normalizer))
    return ClassStages(
        model,
        {piece.text: id for id, piece in enumerate(pieces)},
        len(pieces),
        normalizer=normalizer,
        frame=frame,
        **rest,
    )


def _ends(configuration: Configuration, *, bos: bool, eos: bool) -> Frame:
    """The frame of a class that has `add_bos_token` and `add_eos_token`."""
    before = ["bos"] * configuration.flag("add_bos_token", bos)
    after = ["eos"] * configuration.flag("add_eos_token", eos)
    single = [*before, "$A", *after]
    return template(" ".join(single), " ".join([*single, *before, "$B:1", *after]))


def llama(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Llama, Mistral and others like them."""
    legacy = configuration.flag("legacy", True)
    return _stages(
        _model(configuration, "tokenizer.model"),
        _ends(configuration, bos=True, eos=False),
        legacy=legacy,
        add_dummy_prefix=None if legacy else configuration.flag("add_prefix_space", True),
    )


def code_llama(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Code Llama, without infilling."""
    tokens = [
        configuration.role(role, {role: {"content": default}}) for role, default in _INFILLING
    ]
    return _stages(
        _model(configuration, "tokenizer.model"),
        _ends(configuration, bos=True, eos=False),
        legacy=False,
        add_dummy_prefix=True,
        further=[token["content"] for token in tokens if token is not None],
    )


_INFILLING = (
    ("prefix", "▁<PRE>"),
    ("middle", "▁<MID>"),
    ("suffix", "▁<SUF>"),
    ("eot", "▁<EOT>"),
)
"""The tokens around the parts of a text to fill in, in Code Llama's order."""


def gemma(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Gemma."""
    file = _model(configuration, "tokenizer.model")
    return _stages(file, _ends(configuration, bos=True, eos=False))


def t5(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """T5, with sentinels after its pieces; mT5, whose `extra_ids` says how many."""
    file = _model(configuration, "spiece.model")
    legacy = configuration.flag("legacy", True)
    extra = configuration.number("extra_ids", 100)
    listed = [it["content"] for it in configuration.further()]
    names = [name for name in listed if re.search(r"<extra_id_\d+>", name)]
    if not names:
        names = [f"<extra_id_{number}>" for number in range(extra)]
    elif extra > 0 and extra != len(names):
        raise FormatError(
            f"{configuration.folder}: extra_ids is {extra}, but {len(names)} sentinels are listed"
        )
    prefix = configuration.flag("add_prefix_space", True)
    if not (legacy or prefix):
        raise configuration.refuse(
            "add_prefix_space=false keeps one space in front of a text, which no stage supports"
        )
    own: dict[int, Token] = {}
    if listed and not any(name in listed for name in names):
        further = names  # as new tokens after those in the list
    else:
        further = []
        first = len(file.pieces) - 1 + extra
        flags = {"lstrip": True, "rstrip": True}
        for number in range(len(names) if extra else 0):
            own[first - number] = {"content": f"<extra_id_{number}>", **flags}
    return _stages(
        file, template("$A eos", "$A eos $B eos"), legacy=legacy, own=own, further=further
    )


def with_cls_and_sep(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """BigBird."""
    return _stages(_model(configuration, "spiece.model"), CLS_SEP)


def deberta_v2(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """DeBERTa 2 and 3."""
    if configuration.flag("split_by_punct", False):
        raise configuration.refuse("split_by_punct splits a text in several, which no stage does")
    lower = [normalizers.Lowercase()] * configuration.flag("do_lower_case", False)
    return _stages(_model(configuration, "spm.model"), CLS_SEP, before=lower)


def albert(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """ALBERT."""
    return _cleaned(configuration, CLS_SEP, lowercase=True)


def xlnet(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """XLNet, which cleans text as ALBERT does and puts its special tokens after it."""
    frame = template("$A sep cls", "$A sep $B:1 sep:1 cls")
    return _cleaned(configuration, frame, lowercase=False)


def _cleaned(configuration: Configuration, frame: Frame, *, lowercase: bool) -> ClassStages:
    """A class that cleans text; in Python it also encodes some numbers twice."""
    file = _model(configuration, "spiece.model")
    before = _cleaning(configuration, lowercase=lowercase)
    twice = [piece.text for piece in file.pieces if re.search(r"\d,$", piece.text)]
    warnings = [
        f"the Python class encodes tokens that end in a digit and a comma, such as {piece!r}, a "
        "second time; jeton and transformers' fast class do not"
        for piece in twice[:1]
    ]
    return _stages(file, frame, before=before, warnings=warnings)


def _cleaning(configuration: Configuration, *, lowercase: bool) -> list[normalizers.Normalizer]:
    """The normalizers of ALBERT and XLNet, before that of the model."""
    steps: list[normalizers.Normalizer] = [
        normalizers.Replace("``", '"'),
        normalizers.Replace("''", '"'),
    ]
    if configuration.flag("remove_space", True):
        steps[:0] = [
            normalizers.Replace(Regex(r"[\s\x1c-\x1f]+"), " "),
            normalizers.Strip(),
        ]
    if not configuration.flag("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.Replace(Regex(_combining()), "")]
    if configuration.flag("do_lower_case", lowercase):
        steps.append(normalizers.Lowercase())
    return steps


@functools.cache
def _combining() -> str:
    """A regular expression for characters with a combining class, without variation selectors."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.combining(chr(code)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]"


_FAIRSEQ = ("<s>", "<pad>", "</s>")


def _shifted(configuration: Configuration, file: ModelFile) -> list[ModelPiece]:
    """The pieces in fairseq's order: four of its own, then the model's without its first three."""
    if [piece.kind for piece in file.pieces[:3]] != [UNKNOWN, CONTROL, CONTROL]:
        raise configuration.refuse("its model does not begin with <unk>, <s> and </s>")
    unknown = ModelPiece("<unk>", 0.0, UNKNOWN)
    return [*(ModelPiece(name, 0.0, CONTROL) for name in _FAIRSEQ), unknown, *file.pieces[3:]]


def _of_fairseq(
    configuration: Configuration, frame: Frame, codes: Sequence[str] = ()
) -> ClassStages:
    """Fairseq's order, followed by language codes and the mask."""
    file = _model(configuration, "sentencepiece.bpe.model")
    shifted = _shifted(configuration, file)
    own: dict[int, Token] = {id: {"content": it} for id, it in enumerate(codes, len(shifted))}
    following = [*codes, "<mask>"]
    pieces = [*shifted, *(ModelPiece(name, 0.0, CONTROL) for name in following)]
    return _stages(file, frame, pieces=pieces, own=own)


def xlm_roberta(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """XLM-RoBERTa, whose ids are greater than its model's by one."""
    return _of_fairseq(configuration, CLS_SEP_SEP)


def camembert(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """CamemBERT, whose ids are greater by four."""
    file = _model(configuration, "sentencepiece.bpe.model")
    padding, unknown = _spellings(configuration, known_class, "pad", "unk")
    names = ("<s>NOTUSED", padding, "</s>NOTUSED", unknown, "<unk>NOTUSED")
    pieces = [
        *(ModelPiece(name, 0.0, UNKNOWN if name == unknown else CONTROL) for name in names),
        *file.pieces[1:],
    ]
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(names)}
    return _stages(file, CLS_SEP_SEP, pieces=pieces, own=own)


def _spellings(configuration: Configuration, known_class: KnownClass, *roles: str) -> list[str]:
    """The tokens of roles that have fixed ids in the class."""
    spellings = []
    for role in roles:
        token = configuration.role(role, known_class.roles)
        if token is None:
            raise configuration.refuse(
                f"{role}_token is null, but the class needs it at a fixed id"
            )
        spellings.append(str(token["content"]))
    return spellings


def _languages(language: str, *, legacy: bool) -> Frame:
    """The frame of a text in a language: its code comes first, or in `legacy` last."""
    if legacy:
        return template(f"$A eos {language}", f"$A $B eos {language}")
    return template(f"{language} $A eos", f"{language} $A $B eos")


def mbart(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """mBART, with a code for each of 25 languages."""
    return _mbart(configuration, languages.MBART, legacy=True)


def mbart50(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """mBART of 50 languages."""
    return _mbart(configuration, languages.MBART50, legacy=False)


def _mbart(configuration: Configuration, codes: Sequence[str], *, legacy: bool) -> ClassStages:
    source = configuration.text("src_lang") or "en_XX"
    frame = _languages(source, legacy=legacy)
    return _of_fairseq(configuration, frame, _language_codes(configuration, source, codes))


def nllb(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """NLLB, whose configuration may list the languages."""
    source = configuration.text("src_lang") or "eng_Latn"
    file = _model(configuration, "sentencepiece.bpe.model")
    pieces = _shifted(configuration, file)
    names = _spellings(configuration, known_class, "bos", "pad", "eos", "unk")
    pieces[:4] = (replace(piece, text=it) for piece, it in zip(pieces, names, strict=False))
    own: dict[int, Token] = {id: {"content": it} for id, it in enumerate(names)}
    codes = languages.NLLB if configuration.listed_special is None else ()
    listed = (*configuration.listed.values(), *configuration.further())
    _language_codes(configuration, source, [*codes, *(it["content"] for it in listed)])
    frame = _languages(source, legacy=configuration.flag("legacy_behaviour", False))
    return _stages(file, frame, pieces=pieces, own=own, further=codes)


def _language_codes(
    configuration: Configuration, language: str, codes: Sequence[str]
) -> Sequence[str]:
    if language not in codes:
        raise FormatError(
            f"{configuration.folder}: src_lang: {language!r} is not a language of the model"
        )
    return codes


def pegasus(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Pegasus, whose ids are greater by 103: masks and unknown tokens come first."""
    file = _model(configuration, "spiece.model")
    offset = configuration.number("offset", 103)
    first = _spellings(configuration, known_class, "pad", "eos")
    sentence = configuration.arguments.get("mask_token_sent", "<mask_1>")
    if sentence is not None:
        first += [str(sentence), *_spellings(configuration, known_class, "mask")]
    first += [f"<unk_{number}>" for number in range(2, offset)]
    pieces = [ModelPiece(name, 0.0, CONTROL) for name in first[:offset]]
    for id, piece in enumerate(file.pieces, offset):
        # The last of these tokens replace pieces that no text is encoded to.
        if id < len(first):
            if piece.kind == NORMAL:
                raise configuration.refuse(f"offset={offset} leaves no ids for its special tokens")
            pieces.append(replace(piece, text=first[id]))
        # If the model has such a piece too, the class has one token for both, the first.
        elif piece.text in first:
            pieces.append(replace(piece, text=f"<{piece.text}>"))
        else:
            pieces.append(piece)
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(first)}
    return _stages(file, template("$A eos", "$A $B eos"), pieces=pieces, own=own)


def m2m100(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """M2M-100: a model, a vocabulary with other ids, and then language codes."""
    source = configuration.text("src_lang") or "en"
    listed = languages.M2M100.get(configuration.text("language_codes") or "m2m100", ())
    codes = _language_codes(configuration, source, listed)
    file = _model(configuration, "sentencepiece.bpe.model")
    vocabulary = _vocabulary(configuration, "vocab.json")
    pieces = _by_vocabulary(configuration, file, vocabulary)
    # Text is encoded to one of these only if the configuration lists it.
    pieces += [ModelPiece(f"__{code}__", 0.0, CONTROL) for code in codes]
    name = f"__{source}__"
    first = {name: (name, len(vocabulary) + codes.index(source))}
    around = _languages(name, legacy=False)
    return _stages(file, lambda tokens: around({**first, **tokens}), pieces=pieces)


def marian(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Marian: the model of the source language, with ids that both languages share."""
    if configuration.flag("separate_vocabs", False):
        raise configuration.refuse("separate_vocabs needs one vocabulary per language")
    file = _model(configuration, "source.spm")
    vocabulary = _vocabulary(configuration, "vocab.json")
    own: dict[int, Token] = {
        id: {"content": token, "special": False}
        for token, id in vocabulary.items()
        if token.startswith(">>") and token.endswith("<<")
    }
    frame = template("$A eos", "$A $B eos")
    return _stages(file, frame, pieces=_by_vocabulary(configuration, file, vocabulary), own=own)


def _vocabulary(configuration: Configuration, name: str) -> dict[str, int]:
    vocabulary = configuration.vocabulary(name)
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise FormatError(
            f"{configuration.file(name)}: the ids are not 0 to {len(vocabulary) - 1}, each once"
        )
    return vocabulary


def _by_vocabulary(
    configuration: Configuration, file: ModelFile, vocabulary: Mapping[str, int]
) -> list[ModelPiece]:
    """The pieces in the order of a vocabulary; tokens without a piece are never encoded to."""
    by_text = {piece.text: piece for piece in file.pieces}
    missing = [
        piece.text for piece in file.pieces if piece.text not in vocabulary and piece.kind == NORMAL
    ]
    if missing:
        raise configuration.refuse(
            f"{len(missing)} pieces of its model are not in its vocabulary, first {missing[0]!r}"
        )
    unknown = configuration.text("unk_token") or "<unk>"
    pieces = []
    for token in sorted(vocabulary, key=vocabulary.__getitem__):
        if token == unknown:
            pieces.append(ModelPiece(token, 0.0, UNKNOWN))
        elif token in by_text and by_text[token].kind != UNKNOWN:
            pieces.append(by_text[token])
        else:
            pieces.append(ModelPiece(token, 0.0, CONTROL))
    return pieces
