"""Positions as rotations of queries and keys, whose scores then depend only on the distance.

Look here for `RotaryPositions`; the values of `scaling=` are in `scaling.py`, the formula is in
`reference.rotate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import torch
from torch import Tensor

from jeton.arguments import (
    check_kind,
    checked_flag,
    checked_int,
    checked_iterable,
    checked_number,
    one_of,
)
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.nn.positions import (
    check_batch,
    check_positions,
    check_vectors,
    insert_axes,
    positions_of,
)
from jeton.nn.scaling import (
    DynamicNTKScaling,
    LinearScaling,
    Llama3Scaling,
    LongRoPEScaling,
    Scaling,
    YaRNScaling,
    plain,
)

_NEIGHBOURS = {
    "blt_global_transformer",
    "blt_local_decoder",
    "blt_local_encoder",
    "blt_patcher",
    "codegen",
    "cohere",
    "cohere2",
    "cohere2_moe",
    "deepseek_v2",
    "ernie4_5",
    "ernie4_5_moe",
    "glm",
    "glm4",
    "glm4v_text",
    "glm_ocr_text",
    "gptj",
    "helium",
    "hy_v4_vl_text",
    "llama4",
    "llama4_text",
    "moonshine",
    "moonshine_streaming",
    "pe_video_encoder",
    "roformer",
}
"""The `model_type`s of transformers that rotate pairs of neighbouring dimensions."""
_OTHERS = {
    "ernie4_5_vl_moe_text": "the order of its frequencies",
    "nanochat": "the direction of its rotation",
}
"""`model_type`s whose rotation is another, and what differs."""


class RotaryPositions(torch.nn.Module):
    """Rotates queries and keys by their positions.

    Each pair of dimensions turns by its own frequency times the position, so that the product of a
    query and a key depends on their distance. Beyond the trained length the angles are defined, but
    new to the model: without scaling quality falls soon after it, and `scaling` stretches the
    frequencies to reach further. It has no parameters; angles are computed in float32.

    Args:
        head_dim: The size of the query of one head; even.
        pairing: `"halves"` pairs dimension i with i + rotary_dim / 2 (GPT-NeoX, Llama, Mistral),
            `"neighbours"` pairs 2i with 2i + 1 (the paper, GPT-J).
        rotary_dim: How many of the first dimensions to rotate (GPT-J 64 of 256, GPT-NeoX a
            quarter); all of them if `None`. Even.
        base: θ: 10,000 in the paper, 500,000 in Llama 3.
        scaling: `LinearScaling`, `DynamicNTKScaling`, `YaRNScaling`, `Llama3Scaling`,
            `LongRoPEScaling`, or `None`.
        sections: For positions along three axes, time, height and width (Qwen2-VL's M-RoPE): how
            many pairs turn by each; they add up to all pairs.
        interleaved: Whether pairs of the three axes alternate, as in Qwen3-VL, instead of following
            each other.

    Raises:
        ArgumentError: A size is odd, or rotary_dim is above head_dim.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.

    Example:
        >>> import torch
        >>> from jeton.nn import RotaryPositions
        >>> rotary = RotaryPositions(64)
        >>> query, key = torch.randn(2, 8, 16, 64), torch.randn(2, 2, 16, 64)
        >>> new_query, new_key = rotary(query, key)
        >>> last, _ = rotary(query[:, :, -1:], key[:, :, -1:], offset=15)
        >>> torch.allclose(new_query[:, :, -1:], last)
        True
    """

    def __init__(
        self,
        head_dim: int,
        *,
        pairing: Literal["halves", "neighbours"] = "halves",
        rotary_dim: int | None = None,
        base: float = 10_000.0,
        scaling: Scaling | None = None,
        sections: Sequence[int] | None = None,
        interleaved: bool = False,
    ) -> None:
        super().__init__()
        self.head_dim = checked_int("head_dim", head_dim, 2)
        self.rotary_dim = (
            self.head_dim if rotary_dim is None else checked_int("rotary_dim", rotary_dim, 2)
        )
        if self.rotary_dim % 2 or self.rotary_dim > self.head_dim:
            name = "head_dim" if rotary_dim is None else "rotary_dim"
            raise ArgumentError(
                f"{name} must be even and at most head_dim, {self.head_dim}, not {self.rotary_dim}"
            )
        one_of("pairing", pairing, ("halves", "neighbours"))
        base = checked_number("base", base, above=1.0)
        if scaling is not None:
            check_kind("scaling", scaling, Scaling, "one of jeton.nn's (LinearScaling, …) or None")
        self.pairing, self.base, self.scaling = pairing, base, scaling
        self.sections = None if sections is None else _sections(sections, self.rotary_dim // 2)
        self.interleaved = checked_flag("interleaved", interleaved)
        if interleaved and self.sections is None:
            raise ArgumentError("interleaved needs sections=")
        # A plain attribute, not a buffer: `module.bfloat16()` would round a buffer.
        self._frequencies = self._compute_frequencies(0)
        self._factor = 1.0 if scaling is None else scaling.attention_factor

    @classmethod
    def from_config(cls, config: object) -> RotaryPositions:
        """The rotary positions of a model, from its `config.json`.

        Args:
            config: A configuration of transformers, or the mapping in `config.json`: the sizes, and
                `rope_parameters`, or the older `rope_theta` and `rope_scaling`.

        Raises:
            ArgumentError: The configuration has no head sizes, or its scaling lacks a number.
            ArgumentTypeError: It is not a configuration, or has text in place of a number.
            UnsupportedError: jeton.nn does not have its scaling or its rotation, or there are
                different parameters for different kinds of layers.

        Example:
            >>> from jeton.nn import RotaryPositions
            >>> RotaryPositions.from_config({
            ...     "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
            ...     "rope_theta": 500000.0, "max_position_embeddings": 131072,
            ...     "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
            ...         "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
            ... })
            RotaryPositions(128, pairing='halves', rotary_dim=128, base=500000, scaling=Llama3...)
        """
        if not isinstance(config, Mapping) and not hasattr(config, "to_dict"):
            raise ArgumentTypeError(
                "config must be a mapping or a configuration of transformers, not "
                f"{type(config).__name__}"
            )
        values = config if isinstance(config, Mapping) else config.to_dict()
        rope = {**_mapping(values, "rope_scaling"), **_mapping(values, "rope_parameters")}
        kinds = [kind for kind, value in rope.items() if isinstance(value, Mapping)]
        if kinds:
            raise UnsupportedError(
                f"config has rotary parameters for each kind of layer ({', '.join(map(str, kinds))}"
                "): pass those of one kind, as from_config({**config, 'rope_parameters': …})"
            )
        model_type = str(values.get("model_type"))
        if model_type in _OTHERS:
            raise UnsupportedError(
                f"config is of {model_type}, and jeton.nn does not have {_OTHERS[model_type]}"
            )
        heads = _size(values, "num_attention_heads") or _size(values, "n_head")
        width = _size(values, "hidden_size") or _size(values, "n_embd")
        # In latent attention (DeepSeek), only a part of the head has positions.
        rotated = _size(values, "qk_rope_head_dim")
        # Zamba 2 and JetMoE have the others.
        names = ("head_dim", "attention_head_dim", "kv_channels")
        sizes = filter(None, (_size(values, name) for name in names))
        head_dim = rotated or next(sizes, width // heads if width and heads else None)
        if head_dim is None:
            raise ArgumentError(
                "config has no head size: neither head_dim nor hidden_size with num_attention_heads"
            )
        share = _first(
            _number(rope, "partial_rotary_factor"),
            _number(values, "partial_rotary_factor"),
            _number(values, "rotary_pct"),
            1.0,
        )
        in_neighbours = model_type in _NEIGHBOURS or bool(values.get("rope_interleave"))
        is_interleaved = bool(rope.get("mrope_interleaved")) or model_type.startswith("qwen3")
        return cls(
            head_dim,
            pairing="neighbours" if in_neighbours else "halves",
            rotary_dim=rotated or _size(values, "rotary_dim") or int(head_dim * share),
            base=_first(
                _number(rope, "rope_theta"),
                _number(values, "rope_theta"),
                _number(values, "rotary_emb_base"),
                10_000.0,
            ),
            scaling=_scaling(rope, values),
            sections=_list(rope, "mrope_section"),
            interleaved=bool(_list(rope, "mrope_section")) and is_interleaved,
        )

    def frequencies(self, *, length: int = 0) -> Tensor:
        """The angle per position in radians, for each pair.

        Args:
            length: The length of the sequence, which dynamic scaling depends on.

        Returns:
            float32 of shape (rotary_dim / 2,), on the CPU.
        """
        return self._compute_frequencies(length) if self._is_dynamic else self._frequencies.clone()

    @property
    def _is_dynamic(self) -> bool:
        return isinstance(self.scaling, (DynamicNTKScaling, LongRoPEScaling))

    def _compute_frequencies(self, length: int) -> Tensor:
        if self.scaling is None:
            return plain(self.rotary_dim, self.base)
        return self.scaling.frequencies(self.rotary_dim, self.base, length)

    def table(self, positions: Tensor, *, length: int = 0) -> tuple[Tensor, Tensor]:
        """The cosines and sines of these positions, with the factor of the scaling.

        Args:
            positions: Integers of any shape; with `sections`, of shape (3, …): those along each
                axis.
            length: The length of the sequence, for dynamic scaling.

        Returns:
            Two tensors of float32, of shape (*positions.shape, rotary_dim / 2), without the axis of
            the sections.
        """
        check_positions(positions)
        frequencies = self._compute_frequencies(length) if self._is_dynamic else self._frequencies
        angles = positions.float()[..., None] * frequencies.to(positions.device)
        if self.sections is not None:
            if not positions.ndim or positions.shape[0] != 3:
                raise ArgumentError(
                    f"positions must have the shape (3, …), one for each axis, not "
                    f"{tuple(positions.shape)}"
                )
            axes = self._axes().to(positions.device)
            angles = torch.where(axes == 0, angles[0], torch.where(axes == 1, angles[1], angles[2]))
        return angles.cos() * self._factor, angles.sin() * self._factor

    def _axes(self) -> Tensor:
        """The axis by which each pair turns: int64 of shape (rotary_dim / 2,)."""
        assert self.sections is not None
        if not self.interleaved:
            return torch.repeat_interleave(torch.arange(3), torch.tensor(self.sections))
        axes = torch.zeros(self.rotary_dim // 2, dtype=torch.int64)
        for axis in (1, 2):
            axes[axis : 3 * self.sections[axis] : 3] = axis
        return axes

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        *,
        offset: int = 0,
        positions: Tensor | None = None,
        length: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Rotates queries and keys.

        Args:
            query: Floats of shape (batch, heads, length, head_dim), or any shape that ends with
                (length, head_dim).
            key: Likewise; it may have fewer heads.
            offset: The position of the first token: the number of tokens in a cache.
            positions: The position of each token, of shape (length,) or (batch, length), instead
                of an offset: for packed rows. With `sections`, of shape (3, length) or
                (3, batch, length); by default those of text, the same along each axis.
            length: The length of the whole sequence, which dynamic scaling needs together with
                `positions`; by default the offset plus the length of the query.

        Returns:
            Both with their shape and dtype; the rotation is computed in float32.

        Raises:
            ArgumentError: Shapes do not match.
        """
        check_vectors("query", query, self.head_dim)
        check_vectors("key", key, self.head_dim)
        if query.shape[-2] != key.shape[-2]:
            raise ArgumentError(
                f"query and key must have the same length, not {query.shape[-2]} and "
                f"{key.shape[-2]} (rotate new keys before adding them to a cache)"
            )
        places = self._places(query, offset, positions)
        of_rows = places if self.sections is None else places[0]
        check_batch("query", query, of_rows)
        check_batch("key", key, of_rows)
        if length is None:
            if self._is_dynamic and positions is not None:
                raise ArgumentError("dynamic scaling with positions= needs length=, too")
            length = offset + query.shape[-2]
        cosines, sines = self.table(places, length=length)
        return self._rotate(query, cosines, sines), self._rotate(key, cosines, sines)

    def _places(self, query: Tensor, offset: int, positions: Tensor | None) -> Tensor:
        """The positions of the query's tokens; with sections, along each of the three axes."""
        along = self.sections is not None and isinstance(positions, Tensor)
        if along and (positions.ndim not in (2, 3) or positions.shape[0] != 3):  # type: ignore[union-attr]
            raise ArgumentError(
                f"positions must have the shape (3, length) or (3, batch, length), not "
                f"{tuple(positions.shape)}"  # type: ignore[union-attr]
            )
        if along:
            check_positions(positions)  # type: ignore[arg-type]
            axes = [
                positions_of(query.shape[-2], offset, axis, query.device)
                for axis in positions  # type: ignore[union-attr]
            ]
            return torch.stack(axes)
        places = positions_of(query.shape[-2], offset, positions, query.device)
        return places if self.sections is None else places.expand(3, *places.shape)

    def _rotate(self, x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
        cosines, sines = insert_axes(x, cosines), insert_axes(x, sines)
        first, rest = x[..., : self.rotary_dim].float(), x[..., self.rotary_dim :]
        if self.pairing == "halves":
            a, b = first.chunk(2, dim=-1)
        else:
            a, b = first[..., 0::2], first[..., 1::2]
        parts = [a * cosines - b * sines, b * cosines + a * sines]
        result = (
            torch.cat(parts, dim=-1)
            if self.pairing == "halves"
            else torch.stack(parts, dim=-1).flatten(-2)
        ).to(x.dtype)
        return torch.cat([result, rest], dim=-1) if self.rotary_dim < self.head_dim else result

    def extra_repr(self) -> str:
        """The arguments in the printed form of the module."""
        return (
            f"{self.head_dim}, pairing={self.pairing!r}, rotary_dim={self.rotary_dim}, "
            f"base={self.base:g}, scaling={self.scaling}"
            + ("" if self.sections is None else f", sections={self.sections}")
            + ", interleaved=True" * self.interleaved
        )


def _sections(sections: Sequence[int], pairs: int) -> tuple[int, int, int]:
    listed = checked_iterable("sections", sections, "three ints")
    numbers = tuple(checked_int("each of sections", section, 0) for section in listed)
    if len(numbers) != 3 or sum(numbers) != pairs:
        raise ArgumentError(
            f"sections must be three numbers of pairs with the sum {pairs}, not {list(numbers)}"
        )
    return numbers[0], numbers[1], numbers[2]


def _first(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _mapping(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = config.get(name)
    if value is None:
        return {}
    check_kind(f"{name} of config", value, Mapping, "a mapping")
    return cast(Mapping[str, Any], value)


def _size(config: Mapping[str, Any], name: str) -> int | None:
    value = config.get(name)
    return None if value is None else checked_int(f"{name} of config", value, 0)


def _number(config: Mapping[str, Any], name: str) -> float | None:
    """The number with its type: an int is not converted, so that results are the same floats."""
    value = config.get(name)
    if value is not None:
        checked_number(f"{name} of config", value, least=0.0)
    return value


def _list(config: Mapping[str, Any], name: str) -> list[Any] | None:
    value = config.get(name)
    if value is None:
        return None
    check_kind(f"{name} of config", value, (list, tuple), "a list")
    return list(value)


def _scaling(rope: Mapping[str, Any], config: Mapping[str, Any]) -> Scaling | None:
    max_length = _size(config, "max_position_embeddings")
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "mrope" and not rope.get("mrope_section"):
        raise ArgumentError("config has 'mrope' scaling without mrope_section")
    if kind in ("default", "mrope"):
        return None
    if kind not in ("linear", "dynamic", "yarn", "llama3", "longrope", "su"):
        raise UnsupportedError(
            f"config has rotary scaling {kind!r:.60}; jeton.nn has linear, dynamic, yarn, llama3, "
            "longrope and mrope"
        )
    trained = "original_max_position_embeddings"
    original = _size(rope, trained) or _size(config, trained) or max_length
    factor = _number(rope, "factor")
    if factor is None and kind in ("yarn", "longrope", "su") and max_length and original:
        factor = max_length / original
    if factor is None:
        raise ArgumentError(f"config has {kind!r} scaling without a factor")
    if kind == "linear":
        return LinearScaling(factor)
    if original is None:
        raise ArgumentError(f"config has {kind!r} scaling without the original length")
    if kind == "dynamic":
        return DynamicNTKScaling(factor, max_length or original)
    if kind == "llama3":
        low, high = (_number(rope, f"{end}_freq_factor") for end in ("low", "high"))
        if low is None or high is None:
            missing = "low_freq_factor" if low is None else "high_freq_factor"
            raise ArgumentError(f"config has 'llama3' scaling without {missing}")
        return Llama3Scaling(factor, original, low, high)
    if kind in ("longrope", "su"):  # its name before it was published
        short, long = (_list(rope, f"{which}_factor") for which in ("short", "long"))
        if short is None or long is None:
            missing = "short_factor" if short is None else "long_factor"
            raise ArgumentError(f"config has 'longrope' scaling without {missing}")
        scale = _number(rope, "attention_factor")
        return LongRoPEScaling(tuple(short), tuple(long), original, factor, scale)
    return YaRNScaling(
        factor,
        original,
        beta_fast=_number(rope, "beta_fast") or 32.0,
        beta_slow=_number(rope, "beta_slow") or 1.0,
        scale=_number(rope, "attention_factor"),
        mscale=_number(rope, "mscale") or None,
        mscale_all_dim=_number(rope, "mscale_all_dim") or None,
        truncate=rope.get("truncate", True),
    )
