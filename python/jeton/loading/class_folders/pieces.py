"""Classes whose vocabulary is a SentencePiece model.

Look here for ids that are shifted, language codes and two models with one vocabulary. Unless they
say otherwise (`legacy`), these classes treat the text between two added tokens as a text by itself.
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
from jeton.loading.class_folders import languages
from jeton.loading.class_folders.built import Built, Frame, KnownClass, template
from jeton.loading.class_folders.configuration import Configuration, Token
from jeton.loading.model_file import CONTROL, NORMAL, UNKNOWN, UNUSED, ModelFile, ModelPiece

_CLS_SEP = template("cls $A sep", "cls $A sep $B:1 sep:1")
_ROBERTA = template("cls $A sep", "cls $A sep sep $B sep")


def _model(configuration: Configuration, *names: str) -> ModelFile:
    return ModelFile.parse(configuration.read(*names))


def _built(
    file: ModelFile,
    frame: Frame | None,
    *,
    pieces: Sequence[ModelPiece] | None = None,
    legacy: bool = True,
    add_dummy_prefix: bool | None = None,
    before: Sequence[normalizers.Normalizer] = (),
    **rest: Any,
) -> Built:
    """The stages of a model, with its own pieces or others."""
    pieces = file.pieces if pieces is None else pieces

    def model(found: Collection[int]) -> models.SentencePiece:
        # Only those control pieces that are added tokens of the class are found in text.
        kept = (
            replace(piece, kind=UNUSED) if piece.kind == CONTROL and id not in found else piece
            for id, piece in enumerate(pieces)
        )
        return models.SentencePiece(file.with_pieces(list(kept)))

    normalizer: normalizers.Normalizer = replace(file.normalizer, legacy=legacy)
    if add_dummy_prefix is not None:
        normalizer = replace(normalizer, add_dummy_prefix=add_dummy_prefix)  # type: ignore[call-arg]
    if before:
        normalizer = normalizers.Sequence((*before, normalizer))
    return Built(
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


def llama(configuration: Configuration, known: KnownClass) -> Built:
    """Llama, Mistral and others like them."""
    legacy = configuration.flag("legacy", True)
    return _built(
        _model(configuration, "tokenizer.model"),
        _ends(configuration, bos=True, eos=False),
        legacy=legacy,
        add_dummy_prefix=None if legacy else configuration.flag("add_prefix_space", True),
    )


def code_llama(configuration: Configuration, known: KnownClass) -> Built:
    """Code Llama, without infilling."""
    return _built(
        _model(configuration, "tokenizer.model"),
        _ends(configuration, bos=True, eos=False),
        legacy=False,
        add_dummy_prefix=True,
    )


def gemma(configuration: Configuration, known: KnownClass) -> Built:
    """Gemma."""
    file = _model(configuration, "tokenizer.model")
    return _built(file, _ends(configuration, bos=True, eos=False))


def t5(configuration: Configuration, known: KnownClass) -> Built:
    """T5, with sentinels behind its pieces; mT5, whose `extra_ids` says how many it has."""
    file = _model(configuration, "spiece.model")
    legacy = configuration.flag("legacy", True)
    extra = configuration.number("extra_ids", 100)
    listed = [it["content"] for it in configuration.further()]
    names = [name for name in listed if re.search(r"<extra_id_\d+>", name)]
    if not names:
        names = [f"<extra_id_{number}>" for number in range(extra)]
    elif extra > 0 and extra != len(names):
        raise FormatError(
            f"{configuration.folder}: extra_ids is {extra}, and {len(names)} sentinels are listed"
        )
    own: dict[int, Token] = {
        len(file.pieces) - 1 + extra - number: {
            "content": f"<extra_id_{number}>",
            "lstrip": True,
            "rstrip": True,
        }
        for number in range(len(names))
        if extra
    }
    return _built(file, template("$A eos", "$A eos $B eos"), legacy=legacy, own=own)


def with_cls_and_sep(configuration: Configuration, known: KnownClass) -> Built:
    """BigBird."""
    return _built(_model(configuration, "spiece.model"), _CLS_SEP)


def deberta_v2(configuration: Configuration, known: KnownClass) -> Built:
    """DeBERTa 2 and 3."""
    if configuration.flag("split_by_punct", False):
        raise configuration.refuse("split_by_punct makes several texts of one, which no stage does")
    lower = [normalizers.Lowercase()] * configuration.flag("do_lower_case", False)
    return _built(_model(configuration, "spm.model"), _CLS_SEP, before=lower)


def albert(configuration: Configuration, known: KnownClass) -> Built:
    """ALBERT, except that its class encodes a number in front of a comma a second time."""
    before = _cleaning(configuration, lowercase=True)
    return _built(_model(configuration, "spiece.model"), _CLS_SEP, before=before)


def xlnet(configuration: Configuration, known: KnownClass) -> Built:
    """XLNet, which cleans text as ALBERT does and puts its special tokens behind it."""
    before = _cleaning(configuration, lowercase=False)
    frame = template("$A sep cls", "$A sep $B:1 sep:1 cls")
    return _built(_model(configuration, "spiece.model"), frame, before=before)


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


def _shifted(file: ModelFile) -> list[ModelPiece]:
    """The pieces in fairseq's order: four of its own, then the model's behind the first three."""
    unknown = ModelPiece("<unk>", 0.0, UNKNOWN)
    return [*(ModelPiece(name, 0.0, CONTROL) for name in _FAIRSEQ), unknown, *file.pieces[3:]]


def _of_fairseq(
    configuration: Configuration, frame: Frame, *, after: Sequence[str] = (), mask: bool = True
) -> Built:
    file = _model(configuration, "sentencepiece.bpe.model")
    pieces = _shifted(file)
    own: dict[int, Token] = {id: {"content": piece.text} for id, piece in enumerate(pieces[:4])}
    following = [*after, *["<mask>"] * mask]
    for id, content in enumerate(following, len(pieces)):
        own[id] = {"content": content, "lstrip": content == "<mask>"}
    return _built(file, frame, pieces=pieces, own=own)


def xlm_roberta(configuration: Configuration, known: KnownClass) -> Built:
    """XLM-RoBERTa, whose ids are one more than its model's."""
    return _of_fairseq(configuration, _ROBERTA)


def camembert(configuration: Configuration, known: KnownClass) -> Built:
    """CamemBERT, whose ids are four more."""
    file = _model(configuration, "sentencepiece.bpe.model")
    names = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED")
    pieces = [
        *(ModelPiece(name, 0.0, UNKNOWN if name == "<unk>" else CONTROL) for name in names),
        *file.pieces[1:],
    ]
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(names)}
    return _built(file, _ROBERTA, pieces=pieces, own=own)


def _languages(language: str, *, legacy: bool) -> Frame:
    """The frame of a text in a language: its code comes first, or in `legacy` last."""
    if legacy:
        return template(f"$A eos {language}", f"$A $B eos {language}")
    return template(f"{language} $A eos", f"{language} $A $B eos")


def mbart(configuration: Configuration, known: KnownClass) -> Built:
    """mBART, with a code for each of 25 languages."""
    return _mbart(configuration, languages.MBART, legacy=True)


def mbart50(configuration: Configuration, known: KnownClass) -> Built:
    """mBART of 50 languages."""
    return _mbart(configuration, languages.MBART50, legacy=False)


def _mbart(configuration: Configuration, codes: Sequence[str], *, legacy: bool) -> Built:
    source = configuration.text("src_lang") or "en_XX"
    frame = _languages(source, legacy=legacy)
    return _of_fairseq(configuration, frame, after=_known(configuration, source, codes))


def nllb(configuration: Configuration, known: KnownClass) -> Built:
    """NLLB, whose languages the configuration may list."""
    source = configuration.text("src_lang") or "eng_Latn"
    legacy = configuration.flag("legacy_behaviour", False)
    built = _of_fairseq(configuration, _languages(source, legacy=legacy), mask=False)
    if configuration.listed or configuration.lists_further():
        return replace(built, further=[source])
    return replace(built, further=_known(configuration, source, languages.NLLB))


def _known(configuration: Configuration, language: str, codes: Sequence[str]) -> Sequence[str]:
    if language not in codes:
        raise FormatError(
            f"{configuration.folder}: src_lang: {language!r} is not a language of the model"
        )
    return codes


def pegasus(configuration: Configuration, known: KnownClass) -> Built:
    """Pegasus, whose ids are 103 more than its model's: masks and unknown tokens come first."""
    file = _model(configuration, "spiece.model")
    offset = configuration.number("offset", 103)
    first = ["<pad>", "</s>", "<mask_1>", "<mask_2>"]
    first += [f"<unk_{number}>" for number in range(2, offset)]
    first = first[:offset]
    # Where the model has such a piece too, the class has one token for both, with the first id.
    pieces = [
        *(ModelPiece(name, 0.0, CONTROL) for name in first),
        *(
            replace(piece, text=f"<{piece.text}>") if piece.text in first else piece
            for piece in file.pieces
        ),
    ]
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(first)}
    return _built(file, template("$A eos", "$A $B eos"), pieces=pieces, own=own)


def m2m100(configuration: Configuration, known: KnownClass) -> Built:
    """M2M-100: a model, a vocabulary with other ids, and language codes behind it."""
    source = configuration.text("src_lang") or "en"
    listed = languages.M2M100.get(configuration.text("language_codes") or "m2m100", ())
    codes = _known(configuration, source, listed)
    file = _model(configuration, "sentencepiece.bpe.model")
    vocabulary = _vocabulary(configuration, "vocab.json")
    own: dict[int, Token] = {
        id: {"content": f"__{code}__"} for id, code in enumerate(codes, len(vocabulary))
    }
    frame = _languages(f"__{source}__", legacy=False)
    return _built(file, frame, pieces=_by_vocabulary(configuration, file, vocabulary), own=own)


def marian(configuration: Configuration, known: KnownClass) -> Built:
    """Marian: the model of the source language, with ids that both languages share."""
    if configuration.flag("separate_vocabs", False):
        raise configuration.refuse("separate_vocabs has one vocabulary for each language")
    file = _model(configuration, "source.spm")
    vocabulary = _vocabulary(configuration, "vocab.json")
    own: dict[int, Token] = {
        id: {"content": token, "special": False}
        for token, id in vocabulary.items()
        if token.startswith(">>") and token.endswith("<<")
    }
    frame = template("$A eos", "$A $B eos")
    return _built(file, frame, pieces=_by_vocabulary(configuration, file, vocabulary), own=own)


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
    """The pieces in the order of a vocabulary; no text becomes a token without a piece."""
    known = {piece.text: piece for piece in file.pieces}
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
        elif token in known and known[token].kind != UNKNOWN:
            pieces.append(known[token])
        else:
            pieces.append(ModelPiece(token, 0.0, CONTROL))
    return pieces
