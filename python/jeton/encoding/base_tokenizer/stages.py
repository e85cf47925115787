"""`Stages`: the stages that a text goes through, as values: the type of `tok.stages`.

Look here for `tok.stages.pre_tokenizer` and for the single steps of encoding.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar, cast

from jeton import components
from jeton.components.component import AddedToken, Component, read_stored

if TYPE_CHECKING:
    from jeton._core import Pipeline
    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
    from jeton.encoding.encoding_plan import EncodingPlan
    from jeton.results.encoding import Encoding

NAMES = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
"""The stages after the added tokens, which are matched first."""

_Stage = TypeVar("_Stage", bound=Component)


class Stages:
    """The stages that a text goes through, first to last: `tok.stages`.

    Each is a value of `jeton.components`, or `None` if the tokenizer has no such stage.
    `tok.replace(normalizer=…)` returns a tokenizer with others.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("hello")
        >>> tok.stages.decoder
        Fuse()
        >>> tok.stages
        Stages(
            added_tokens=[0 tokens],
            normalizer=None,
            pre_tokenizer=None,
            model=Characters(4 tokens, unk_id=None),
            post_processor=None,
            decoder=Fuse(),
        )
    """

    __slots__ = ("_components", "_core")

    _components: dict[str, Component | None]
    _core: Pipeline

    def __init__(self, core: Pipeline) -> None:
        self._core, self._components = core, {}

    def __repr__(self) -> str:
        lines = "".join(f"    {name}={getattr(self, name)!r},\n" for name in NAMES)
        return f"Stages(\n    added_tokens=[{len(self._core.added_tokens())} tokens],\n{lines})"

    def _stored(self) -> dict[str, dict[str, object] | None]:
        """All stages but the model and the added tokens, in the shape of a `tokenizer.json`."""
        stages: dict[str, dict[str, object] | None] = json.loads(self._core.stages())
        return stages

    def _stage(self, kind: type[_Stage]) -> _Stage | None:
        """A stage as a value: the same object each time, so that what it runs on is built once."""
        name = kind.STAGE
        if name not in self._components:
            self._components[name] = read_stored(name, self._stored()[name])
        return cast("_Stage | None", self._components[name])

    @property
    def added_tokens(self) -> list[AddedToken]:
        """The tokens that are found by their spelling, special or not, in the order of ids."""
        return [
            AddedToken(
                content,
                id,
                special=special,
                single_word=single_word,
                lstrip=lstrip,
                rstrip=rstrip,
                normalized=normalized,
            )
            for content, id, (
                special,
                single_word,
                lstrip,
                rstrip,
                normalized,
            ) in self._core.added_tokens()
        ]

    @property
    def normalizer(self) -> normalizers.Normalizer | None:
        """The stage that changes the text before it is split."""
        return self._stage(components.normalizers.Normalizer)

    @property
    def pre_tokenizer(self) -> pre_tokenizers.PreTokenizer | None:
        """The stage that splits text into the pieces that the model sees."""
        return self._stage(components.pre_tokenizers.PreTokenizer)

    @property
    def model(self) -> models.Model:
        """The stage that turns pieces into tokens. It holds a copy of the vocabulary."""
        return components.models.from_core(self._core.model(), self._core.id_to_bytes)

    @property
    def post_processor(self) -> post_processors.PostProcessor | None:
        """The stage that adds special tokens around a text."""
        return self._stage(components.post_processors.PostProcessor)

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, *, add_special_tokens: bool = True
    ) -> Encoding:
        """Adds special tokens to the encoding of a text or of two, as `encode_with_spans` does.

        Without a post-processor, two encodings are concatenated. Shorten them first with
        `Encoding.truncate`; pad the result with `Encoding.pad`.

        Args:
            encoding: The tokens of the text.
            pair: The tokens of a second text.
            add_special_tokens: Whether special tokens are added.

        Raises:
            ArgumentTypeError: `encoding` or `pair` is not an `Encoding`.
            UnsupportedError: A template names a token that it does not define.

        Example:
            >>> import jeton
            >>> from jeton.components import post_processors
            >>> bert = post_processors.BertProcessing(sep=("[SEP]", 4), cls=("[CLS]", 3))
            >>> tok = jeton.CharTrainer().train("abc").with_added_tokens(["[CLS]", "[SEP]"])
            >>> tok = tok.replace(post_processor=bert)
            >>> tok.stages.post_process(tok.encode_with_spans("abc").truncate(2)).ids
            [3, 0, 1, 4]
        """
        processor = self.post_processor or components.post_processors.Sequence(())
        return processor(encoding, pair, add_special_tokens=add_special_tokens)

    @property
    def decoder(self) -> decoders.Decoder | None:
        """The stage that turns tokens back into text."""
        return self._stage(components.decoders.Decoder)

    def encoding_plan(self) -> EncodingPlan:
        """How these stages encode text, and why not faster.

        The stages define the tokens of a text. For most tokenizers, a strategy of the fast path
        finds the same tokens in less time. The plan names the strategy, and for each strategy that
        was tried before it the stage that rules it out. With `JETON_LOG=plan` in the environment,
        it is written to standard error for each new tokenizer.

        Example:
            >>> import jeton
            >>> tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)
            >>> tok.stages.encoding_plan().strategy
            'byte_level'
            >>> lower = tok.replace(normalizer=jeton.components.normalizers.Lowercase())
            >>> print(lower.stages.encoding_plan().passed_over["byte_level"])
            normalizer Lowercase: does not bring text into a Unicode form
        """
        from jeton.encoding.encoding_plan import plan_of

        return plan_of(self._core)
