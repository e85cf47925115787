"""The tokenizer classes of transformers, and which of them read a `tokenizer.json` unchanged.

Look here if transformers has a new class: a test compares the names with those of the installed
version. `transformers_stages` has the stages that transformers 5 builds by a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from jeton.loading.languages import whisper_code

AS_IT_STANDS: Final = "PreTrainedTokenizerFast"
"""The class for which transformers, 4 and 5, reads a `tokenizer.json` unchanged."""

OWN_STAGES: Final = frozenset(
    """
    Albert Bart Barthez Bert BertGeneration BertJapanese BertTokenizerLegacy Bartpho Bertweet
    BigBird BioGpt Blenderbot BlenderbotSmall ByT5 CLIP CTRL Camembert Canine Clvp CodeGen
    CodeLlama Cohere ConvBert Cpm CpmAnt DPRContextEncoder DPRQuestionEncoder DPRReader Deberta
    DebertaV2 Dia DistilBert Electra Esm Esmc FNet FSMT FastSpeech2Conformer Flaubert Funnel
    GPT2 GPTNeoX GPTNeoXJapanese GPTSw3 Gemma Herbert LED Lasr LayoutLM LayoutLMv2 LayoutLMv3
    LayoutXLM Llama Longformer Luke Lxmert M2M100 MBart MBart50 MLuke MPNet Marian MarkupLM
    Mgpstr MistralCommonBackend MobileBert Mvp MyT5 Nllb Nougat OpenAIGPT PLBart Pegasus
    Perceiver Phobert ProphetNet Qwen2 Qwen3_5 Reformer RemBert RoCBert RoFormer Roberta
    SeamlessM4T Siglip Siglip2 Speech2Text SpeechT5 Splinter SqueezeBert T5 Tapas Tipsv2 Udop
    VideoPrism Vits Wav2Vec2CTC Wav2Vec2PhonemeCTC Whisper XGLM XLM XLMRoberta XLNet
    """.split()
)
"""The classes that do not read a `tokenizer.json` unchanged, by their names without `Tokenizer` and
`Fast` at the end, and by old names."""

_WITH_TYPE_IDS: Final = frozenset(
    "Bert Canine ConvBert DPRContextEncoder DPRQuestionEncoder Deberta DebertaV2 Electra FNet "
    "LayoutLM LayoutLMv2 Lxmert MarkupLM MobileBert SqueezeBert Tapas".split()
)
"""The classes whose models take `token_type_ids`."""
_WITHOUT_MASK: Final = frozenset(["FNet"])
"""The classes whose models take no `attention_mask`."""
_PADDED_LEFT: Final = frozenset("CodeLlama Cohere Gemma Llama Siglip2 XLNet".split())
"""The classes that pad on the left by default."""


def bare_name(config: Mapping[str, Any]) -> str:
    """The class of a configuration without `Tokenizer` and `Fast` at its end; empty without one."""
    name = str(config.get("tokenizer_class") or "")
    return name.removesuffix("Fast").removesuffix("Tokenizer")


LANGUAGE_CLASS: Final = "language_class"
"""The field of a configuration that names a class with languages where another reads the file."""


def language_class(config: Mapping[str, Any]) -> str | None:
    """The class of a configuration if it has languages, as `bare_name` has it."""
    name = config.get(LANGUAGE_CLASS) or bare_name(config)
    return name if name in ("MBart", "MBart50", "Nllb", "M2M100", "Whisper") else None


def input_names(name: str) -> list[str]:
    """The default inputs of the models of a class."""
    types = ["token_type_ids"] * (name in _WITH_TYPE_IDS)
    return ["input_ids", *types, *["attention_mask"] * (name not in _WITHOUT_MASK)]


def padding_side(name: str) -> Literal["left", "right"]:
    """The side on which a class pads by default."""
    return "left" if name in _PADDED_LEFT else "right"


def spelling(config: Mapping[str, Any], role: str, default: str) -> str | None:
    """The token of a role in a configuration; `None` if it says that there is none."""
    token = config.get(f"{role}_token", default)
    return token.get("content") if isinstance(token, dict) else token


_SPLIT_AT_SPACE: Final = frozenset("Albert Camembert MBart T5 XLMRoberta XLNet".split())
"""Classes with a SentencePiece model for which transformers 5 splits text at white space."""


_PLACES: Final = {
    "always": "each text between added tokens",
    "first": "the beginning alone",
    "never": "no text",
}


def differs_in_transformers_5(config: Mapping[str, Any], stages: Mapping[str, Any]) -> str | None:
    """How transformers 5 treats text otherwise for a class, where that is known of these stages.

    Args:
        config: The content of `tokenizer_config.json`.
        stages: The stages of the `tokenizer.json`, without its model.
    """
    name = bare_name(config)
    if name == "Whisper":
        of_class = _around_speech(config)
        of_file = _around(stages.get("post_processor"))
        if of_class is None or of_class == of_file:
            return None
        said = [" ".join(it) or "no token" for it in (of_class, of_file)]
        return f"around a text it puts {said[0]}, and the file {said[1]}"
    steps, kinds = _steps(stages.get("pre_tokenizer")), _steps(stages.get("normalizer"))
    if name in _SPLIT_AT_SPACE and "Metaspace" in steps and "WhitespaceSplit" not in steps:
        if "Precompiled" not in kinds:
            return "it splits text at white space, so line ends and several spaces get lost"
        return "it splits text at white space, so spaces at the ends of a text get lost"
    if name == "Llama" and "ByteLevel" not in steps:
        scheme = llama_scheme(config)
        of_file = (stages.get("pre_tokenizer") or {}).get("prepend_scheme", "never")
        if "Prepend" in kinds and scheme == "always":
            return "it puts no space in front of a text that begins with one, and the file does"
        if ("always" if "Prepend" in kinds else of_file) != scheme:
            return (
                f"by legacy={config.get('legacy')} it puts a space in front of "
                f"{_PLACES[scheme]}, and the file does not"
            )
    return None


def llama_scheme(config: Mapping[str, Any]) -> Literal["always", "first", "never"]:
    """Where Llama's class puts a space. With `legacy`, text after an added token gets one too."""
    if config.get("add_prefix_space") not in (None, True):
        return "never"
    return "always" if config.get("legacy") else "first"


def _around_speech(config: Mapping[str, Any]) -> list[str] | None:
    """The tokens that Whisper's class puts around a text; `None` if it has no such language."""
    language, task = config.get("language"), config.get("task")
    code = whisper_code(language) if isinstance(language, str) else ""
    if code is None:
        return None
    before = ["<|startoftranscript|>", *[f"<|{it}|>" for it in (code, task) if it]]
    before += [] if config.get("predict_timestamps") else ["<|notimestamps|>"]
    return [*before, spelling(config, "eos", "<|endoftext|>") or ""]


def _around(post_processor: Any) -> list[str]:
    """The tokens that a post-processor puts around a text."""
    if not isinstance(post_processor, Mapping):
        return []
    pieces = post_processor.get("single") or ()
    return [it["SpecialToken"]["id"] for it in pieces if "SpecialToken" in it]


def _steps(stage: Any) -> set[str]:
    """The types of a stage, or of the steps in it."""
    if not isinstance(stage, Mapping):
        return set()
    inner = stage.get("normalizers") or stage.get("pretokenizers") or [stage]
    return {str(it.get("type")) for it in inner if isinstance(it, Mapping)}
