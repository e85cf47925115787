"""Positions: held against the formulas in numpy, transformers' own tables, and what must hold."""

from __future__ import annotations

import contextlib
import copy
import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from jeton import nn
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnsupportedError
from jeton.nn import reference

pytestmark = pytest.mark.large

SCALINGS: dict[str, Any] = {
    "none": None,
    "linear": nn.LinearScaling(4.0),
    "dynamic": nn.DynamicNTKScaling(2.0, original_length=32),
    "yarn": nn.YaRNScaling(4.0, original_length=2048),
    "yarn, not truncated": nn.YaRNScaling(8.0, original_length=512, truncate=False),
    "llama3": nn.Llama3Scaling(8.0, original_length=8192),
}


@pytest.mark.parametrize("form", ["interleaved", "concatenated"])
def test_sinusoids_are_the_closed_formula(form: Any) -> None:
    positions = torch.tensor([0, 1, 2, 1000])
    ours = nn.SinusoidalPositions(16, form=form).table(positions).numpy()
    # float32 angles of up to 1000 radians are right to about 1000 · 2⁻²⁴.
    np.testing.assert_allclose(ours, reference.sinusoids(positions, 16, form=form), atol=1e-4)
    angle = 1000 / 10_000 ** (6 / 16)
    column = 6 if form == "interleaved" else 3
    assert ours[3, column] == pytest.approx(np.sin(angle), abs=1e-4)


def test_sinusoids_are_those_of_gptj() -> None:
    gptj = pytest.importorskip("transformers.models.gptj.modeling_gptj")
    ours = nn.SinusoidalPositions(32, form="concatenated").table(torch.arange(100))
    torch.testing.assert_close(ours, gptj.create_sinusoidal_positions(100, 32), atol=1e-5, rtol=0)


@pytest.mark.parametrize("scaling", SCALINGS.values(), ids=SCALINGS.keys())
@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
def test_rotation_is_the_formula(scaling: Any, pairing: Any) -> None:
    rotary = nn.RotaryPositions(24, pairing=pairing, rotary_dim=16, scaling=scaling)
    query, key = torch.randn(2, 3, 40, 24), torch.randn(2, 1, 40, 24)
    turned, _ = rotary(query, key, offset=5)
    angles = np.arange(5, 45)[:, None] * rotary.frequencies(length=45).numpy().astype(np.float64)
    factor = 1.0 if scaling is None else scaling.attention_factor
    expected = reference.rotate(query.numpy(), angles, pairing=pairing)
    expected[..., :16] *= factor
    np.testing.assert_allclose(turned.numpy(), expected, atol=2e-5)


@pytest.mark.parametrize(
    "scaling, expected",
    [
        (None, reference.rotary_frequencies(128, base=5e5)),
        (nn.LinearScaling(4.0), reference.rotary_frequencies(128, base=5e5) / 4),
        (
            nn.YaRNScaling(4.0, original_length=4096),
            reference.yarn_frequencies(128, factor=4.0, original_length=4096, base=5e5),
        ),
        (
            nn.Llama3Scaling(8.0, original_length=8192),
            reference.llama3_frequencies(
                reference.rotary_frequencies(128, base=5e5),
                factor=8.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_length=8192,
            ),
        ),
    ],
    ids=["none", "linear", "yarn", "llama3"],
)
def test_frequencies_are_the_formula(scaling: Any, expected: Any) -> None:
    ours = nn.RotaryPositions(128, base=5e5, scaling=scaling).frequencies().numpy()
    np.testing.assert_allclose(ours, expected, rtol=2e-6)  # a few roundings of float32


LONGROPE: dict[str, Any] = {
    "max_position_embeddings": 16_384,
    "rope_scaling": {
        "rope_type": "longrope",
        "short_factor": [1.0 + pair / 64 for pair in range(32)],
        "long_factor": [1.0 + pair / 3 for pair in range(32)],
        "original_max_position_embeddings": 4096,
    },
}

CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {"rope_theta": 500_000.0}),
    "llama 3.1": (
        "Llama",
        {
            "rope_theta": 500_000.0,
            "max_position_embeddings": 131_072,
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
        },
    ),
    "longrope, up to the trained length": ("Llama", LONGROPE),
    "longrope, beyond it": (
        "Llama",
        {
            **LONGROPE,
            "rope_scaling": {**LONGROPE["rope_scaling"], "original_max_position_embeddings": 64},
        },
    ),
    "longrope of a given scale": (
        "Llama",
        {**LONGROPE, "rope_scaling": {**LONGROPE["rope_scaling"], "attention_factor": 1.25}},
    ),
    "linear": ("Llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "dynamic": (
        "Llama",
        {
            "max_position_embeddings": 64,
            "rope_scaling": {"rope_type": "dynamic", "factor": 2.0},
        },
    ),
    "yarn": (
        "Llama",
        {
            "max_position_embeddings": 16_384,
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 4.0,
                "original_max_position_embeddings": 4096,
            },
        },
    ),
    "yarn as DeepSeek": (
        "Llama",
        {
            "max_position_embeddings": 163_840,
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 40.0,
                "mscale": 1.0,
                "mscale_all_dim": 0.7,
                "original_max_position_embeddings": 4096,
            },
        },
    ),
    "neox": ("GPTNeoX", {"rotary_pct": 0.25}),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_tables_are_those_of_transformers(name: str) -> None:
    """Frequencies and cosines equal theirs to the last bit: both are float32 in one order."""
    transformers = pytest.importorskip("transformers")
    family, options = CONFIGS[name]
    config = getattr(transformers, f"{family}Config")(
        hidden_size=256, num_attention_heads=4, num_hidden_layers=1, **options
    )
    module = __import__(
        f"transformers.models.{'llama' if family == 'Llama' else 'gpt_neox'}", fromlist=["x"]
    )
    modeling = getattr(module, "modeling_llama" if family == "Llama" else "modeling_gpt_neox", None)
    assert modeling is not None
    theirs = getattr(modeling, f"{family}RotaryEmbedding")(config)
    positions = torch.arange(100)
    cosine, sine = theirs(torch.zeros(1, 1, 100, 64), positions[None])
    ours = nn.RotaryPositions.from_config(config)
    assert ours.head_dim == 64
    assert torch.equal(ours.frequencies(length=100), theirs.inv_freq)
    own_cosine, own_sine = ours.table(positions, length=100)
    # They multiply frequencies and positions as matrices; the products are the same numbers.
    assert torch.equal(torch.cat([own_cosine, own_cosine], -1), cosine[0])
    assert torch.equal(torch.cat([own_sine, own_sine], -1), sine[0])
    query, key = torch.randn(1, 4, 100, 64), torch.randn(1, 4, 100, 64)
    expected = modeling.apply_rotary_pos_emb(query, key, cosine, sine)
    for mine, other in zip(ours(query, key), expected, strict=True):
        # Sums of two products, which may be fused or not: one rounding of float32.
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-6)


PAIRINGS = {
    "llama": ("Llama", "halves"),
    "mistral": ("Mistral", "halves"),
    "qwen2": ("Qwen2", "halves"),
    "cohere": ("Cohere", "neighbours"),
    "cohere2": ("Cohere2", "neighbours"),
    "glm": ("Glm", "neighbours"),
    "glm4": ("Glm4", "neighbours"),
    "helium": ("Helium", "neighbours"),
    "ernie4_5": ("Ernie4_5", "neighbours"),
}


@pytest.mark.parametrize("name", PAIRINGS)
def test_pairs_are_those_of_the_family(name: str) -> None:
    """Their own functions turn the same numbers, to one rounding of float32."""
    modeling = pytest.importorskip(f"transformers.models.{name}.modeling_{name}")
    transformers = pytest.importorskip("transformers")
    family, pairing = PAIRINGS[name]
    config = getattr(transformers, f"{family}Config")(
        hidden_size=128, num_attention_heads=4, num_hidden_layers=1, head_dim=32
    )
    ours = nn.RotaryPositions.from_config(config)
    assert ours.pairing == pairing
    query, key = torch.randn(1, 4, 50, 32), torch.randn(1, 2, 50, 32)
    table = getattr(modeling, f"{family}RotaryEmbedding")(config)
    expected = modeling.apply_rotary_pos_emb(query, key, *table(query, torch.arange(50)[None]))
    for mine, other in zip(ours(query, key), expected, strict=True):
        torch.testing.assert_close(mine, other, atol=2e-6, rtol=2e-6)


MULTIMODAL = {
    # Its class, the sections, and whether the axes alternate.
    "qwen2_vl": ("Qwen2VL", [16, 8, 8], False),
    "qwen3_vl": ("Qwen3VLText", [12, 10, 10], True),
}


@pytest.mark.parametrize("name", MULTIMODAL)
def test_positions_along_three_axes_are_those_of_transformers(name: str) -> None:
    modeling = pytest.importorskip(f"transformers.models.{name}.modeling_{name}")
    configuration = pytest.importorskip(f"transformers.models.{name}.configuration_{name}")
    family, sections, interleaved = MULTIMODAL[name]
    kind = "Qwen3VLTextConfig" if interleaved else "Qwen2VLTextConfig"
    config = getattr(configuration, kind)(
        hidden_size=256,
        num_attention_heads=4,
        head_dim=64,
        num_hidden_layers=1,
        rope_scaling={"rope_type": "default", "mrope_section": sections, "rope_theta": 1e6},
    )
    theirs = getattr(modeling, f"{family}RotaryEmbedding")(config)
    ours = nn.RotaryPositions.from_config(config)
    assert (ours.sections, ours.interleaved) == (tuple(sections), interleaved)
    positions = torch.randint(0, 50, (3, 2, 40))
    query, key = torch.randn(2, 4, 40, 64), torch.randn(2, 2, 40, 64)
    cosine, sine = theirs(query, positions)
    own_cosine, own_sine = ours.table(positions)
    assert torch.equal(torch.cat([own_cosine, own_cosine], -1), cosine)
    assert torch.equal(torch.cat([own_sine, own_sine], -1), sine)
    expected = modeling.apply_rotary_pos_emb(query, key, cosine, sine)
    for mine, other in zip(ours(query, key, positions=positions), expected, strict=True):
        torch.testing.assert_close(mine, other, atol=2e-6, rtol=2e-6)
    # Text has one position along all axes, and turns as it does without them.
    plain = nn.RotaryPositions(64, base=1e6)
    for mine, other in zip(ours(query, key, offset=3), plain(query, key, offset=3), strict=True):
        assert torch.equal(mine, other)


def test_bad_sections_and_factors() -> None:
    for sections, told in (
        ((1, 1), "three numbers of pairs with the sum 4"),
        ((1, 1, 1), "three numbers of pairs with the sum 4"),
        ((-1, 3, 2), "each of sections"),
    ):
        with pytest.raises(ArgumentError, match=told):
            nn.RotaryPositions(8, sections=sections)
    with pytest.raises(ArgumentError, match="interleaved needs sections"):
        nn.RotaryPositions(8, interleaved=True)
    rotary = nn.RotaryPositions(8, sections=(2, 1, 1))
    query = torch.randn(3, 5, 8)
    for shape in ((5,), (2, 5), (3, 3, 3, 5), (3, 4)):
        with pytest.raises(ArgumentError, match="positions must have the shape"):
            rotary(query, query, positions=torch.zeros(shape, dtype=torch.long))
    with pytest.raises(ArgumentError, match="one number for each of 4 pairs, not 2"):
        nn.RotaryPositions(8, scaling=nn.LongRoPEScaling((1.0, 1.0), (1.0, 1.0), 9))
    with pytest.raises(ArgumentTypeError, match="a number for each pair"):
        nn.LongRoPEScaling(1.0, (1.0,), 9)  # type: ignore[arg-type]
    rope = {"rope_type": "longrope", "short_factor": [1.0] * 4}
    config = {"head_dim": 8, "max_position_embeddings": 64}
    with pytest.raises(ArgumentError, match="'longrope' scaling without long_factor"):
        nn.RotaryPositions.from_config({**config, "rope_scaling": rope})
    with pytest.raises(ArgumentError, match="'mrope' scaling without mrope_section"):
        nn.RotaryPositions.from_config({**config, "rope_scaling": {"type": "mrope"}})


def test_latent_attention_and_kinds_of_layers() -> None:
    latent = {"head_dim": 192, "qk_rope_head_dim": 64, "rope_interleave": True}
    for share in ({}, {"partial_rotary_factor": 1 / 3}):  # as Mistral 4 has it, of the whole head
        rotary = nn.RotaryPositions.from_config({**latent, "rope_parameters": share})
        assert (rotary.head_dim, rotary.rotary_dim) == (64, 64)
        assert rotary.pairing == "neighbours"
    with pytest.raises(UnsupportedError, match=r"each kind of layer \(full_attention, sliding"):
        nn.RotaryPositions.from_config(
            {
                "head_dim": 8,
                "rope_parameters": {"full_attention": {"rope_theta": 1e6}, "sliding": {}},
            }
        )


@pytest.mark.parametrize("name", ["jetmoe", "zamba2", "llama"])
def test_the_size_of_a_head_is_that_of_the_model(name: str) -> None:
    """Some models have another name for it, and their configuration as JSON has only that."""
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.for_model(name)
    own = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    assert nn.RotaryPositions.from_config(config.to_dict()).head_dim == own


@pytest.mark.parametrize("name", ["nanochat", "ernie4_5_vl_moe_text"])
def test_other_rotations_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"config is of {name}, and jeton.nn does not have"):
        nn.RotaryPositions.from_config({"model_type": name, "head_dim": 64})


def test_gptj_pairs_neighbours() -> None:
    gptj = pytest.importorskip("transformers.models.gptj.modeling_gptj")
    rotary = nn.RotaryPositions(64, pairing="neighbours", rotary_dim=16)
    query = torch.randn(1, 4, 10, 64)
    sine, cosine = gptj.create_sinusoidal_positions(10, 16)[None].chunk(2, dim=-1)
    # GPT-J has length before heads.
    expected = gptj.apply_rotary_pos_emb(query.transpose(1, 2)[..., :16], sine, cosine)
    turned, _ = rotary(query, query)
    torch.testing.assert_close(turned[..., :16], expected.transpose(1, 2), atol=1e-5, rtol=1e-5)
    assert torch.equal(turned[..., 16:], query[..., 16:])


@pytest.mark.parametrize("scaling", SCALINGS.values(), ids=SCALINGS.keys())
@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
def test_scores_depend_on_the_distance_alone(scaling: Any, pairing: Any) -> None:
    rotary = nn.RotaryPositions(32, pairing=pairing, scaling=scaling)
    query, key = torch.randn(1, 1, 1, 32).double(), torch.randn(1, 1, 1, 32).double()

    def score(at: int, distance: int) -> float:
        places = [torch.tensor([at + distance]), torch.tensor([at])]
        turned = [
            rotary(it, it, positions=p, length=20)[0]
            for it, p in zip([query, key], places, strict=True)
        ]
        return float((turned[0] * turned[1]).sum())

    for distance in (0, 1, 7, 100):
        scores = [score(at, distance) for at in (0, 3, 50, 333)]
        assert max(scores) - min(scores) < 2e-3  # float32 angles of some hundred radians


def test_positions_per_token_are_those_of_an_offset() -> None:
    rotary = nn.RotaryPositions(16)
    query = torch.randn(2, 3, 6, 16)
    whole, _ = rotary(query, query)
    packed = torch.tensor([[0, 1, 2, 0, 1, 2], [0, 1, 2, 3, 4, 5]])
    rows, _ = rotary(query, query, positions=packed)
    assert torch.equal(rows[1], whole[1])
    assert torch.equal(rows[0, :, 3:], rotary(query[..., 3:, :], query[..., 3:, :])[0][0])


def test_a_cache_sees_what_a_whole_pass_sees() -> None:
    modules = [nn.SinusoidalPositions(16), nn.LearnedPositions(40, 16)]
    x = torch.randn(2, 30, 16)
    for module in modules:
        parts = [module(x[:, at : at + 1], offset=at) for at in range(30)]
        assert torch.equal(torch.cat(parts, dim=1), module(x))


@pytest.mark.parametrize("heads", [1, 2, 3, 8, 12, 16, 71])
def test_slopes(heads: int) -> None:
    slopes = nn.ALiBi(heads).slopes
    np.testing.assert_allclose(slopes.numpy(), reference.alibi_slopes(heads), rtol=1e-7)
    bloom = pytest.importorskip("transformers.models.bloom.modeling_bloom")
    # BLOOM adds slope · position of the key, which differs by a constant a query.
    mask = torch.ones(1, 5)
    theirs = bloom.build_alibi_tensor(mask, heads, torch.float32).reshape(heads, 5)
    torch.testing.assert_close(theirs, slopes[:, None] * torch.arange(5), rtol=1e-6, atol=0)


def test_published_slopes() -> None:
    assert nn.ALiBi(8).slopes.tolist() == [2.0**-i for i in range(1, 9)]


def test_bias_and_score_mod_agree() -> None:
    from torch.nn.attention import flex_attention

    alibi = nn.ALiBi(6)
    query, key, value = (torch.randn(2, 6, 12, 16) for _ in range(3))
    bias = alibi.bias(12, causal=False)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    with pytest.warns(UserWarning, match="without torch.compile"):
        ours = flex_attention.flex_attention(query, key, value, score_mod=alibi.score_mod())
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(bias.numpy(), reference.alibi_bias(6, 12, causal=False), rtol=1e-6)
    last = alibi.bias(1, 12)
    assert torch.equal(last[:, 0], alibi.bias(12)[:, -1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_rounded_once(dtype: Any) -> None:
    x = torch.randn(1, 2, 2000, 32).to(dtype)
    rotary = nn.RotaryPositions(32).to(dtype)
    turned, _ = rotary(x, x)
    exact, _ = nn.RotaryPositions(32)(x.float(), x.float())
    assert turned.dtype == dtype
    assert torch.equal(turned, exact.to(dtype))
    added = nn.SinusoidalPositions(32).to(dtype)(torch.zeros(2000, 32, dtype=dtype))
    assert torch.equal(added, nn.SinusoidalPositions(32)(torch.zeros(2000, 32)).to(dtype))


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("between", [(), (3,), (3, 4)])
@pytest.mark.parametrize(
    "module",
    [nn.SinusoidalPositions(8), nn.LearnedPositions(20, 8), nn.RotaryPositions(8)],
    ids=["sinusoidal", "learned", "rotary"],
)
def test_positions_lie_along_the_batch(module: Any, batch: int, between: Any) -> None:
    """Whatever axes stand between batch and length, and however large they are."""
    x = torch.randn(2, *between, 5, 8)
    positions = torch.randint(0, 20, (batch, 5))

    def placed(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        if isinstance(module, nn.RotaryPositions):
            return torch.cat(module(x, x, positions=positions), dim=-1)[..., : x.shape[-1]]
        return torch.as_tensor(module(x, positions=positions))

    found = placed(x, positions)
    assert found.shape == x.shape
    for row in range(2):
        assert torch.equal(found[row], placed(x[row], positions[row if batch == 2 else 0]))
    for dtype in (torch.uint8, torch.int16, torch.uint16):
        assert torch.equal(placed(x, positions.to(dtype)), found)
    with pytest.raises(ArgumentError, match=r"a batch of 3, but \w+ has 2 rows"):
        placed(x, torch.zeros(3, 5, dtype=torch.long))
    with pytest.raises(ArgumentError, match=r"\(3, 5\) need a batch axis in \w+, .* \(5, 8\)"):
        placed(torch.zeros(5, 8), torch.zeros(3, 5, dtype=torch.long))


@pytest.mark.parametrize("name", ["low_freq_factor", "high_freq_factor"])
def test_a_config_without_a_number_is_named(name: str) -> None:
    rope = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    del rope[name]
    with pytest.raises(ArgumentError, match=f"llama3' scaling without {name}"):
        nn.RotaryPositions.from_config({"head_dim": 8, "rope_scaling": rope})


NUMBERS = (
    "head_dim",
    "qk_rope_head_dim",
    "hidden_size",
    "num_attention_heads",
    "rotary_dim",
    "rotary_pct",
    "rope_theta",
    "max_position_embeddings",
    "rope_scaling",
    "rope_parameters",
)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["linear", [1], {1}], ids=str)
def test_a_config_with_text_for_a_number_is_refused(name: str, value: Any) -> None:
    config = {"hidden_size": 64, "num_attention_heads": 4, name: value}
    with pytest.raises(ArgumentTypeError, match=f"{name} of config must be"):
        nn.RotaryPositions.from_config(config)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3", "longrope", "mrope"])
def test_bad_rotary_parameters_give_errors_of_jeton(kind: str) -> None:
    rope: dict[str, Any] = {
        **{"rope_type": kind, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        **{"short_factor": [1.0] * 4, "long_factor": [2.0] * 4, "mrope_section": [2, 1, 1]},
    }
    names = (*rope, "beta_fast", "attention_factor", "mscale", "truncate")
    names += ("original_max_position_embeddings", "partial_rotary_factor")
    for name, value in itertools.product(names, ("8", [8], {8}, None, True, -1.0)):
        config = {"head_dim": 8, "max_position_embeddings": 64}
        with contextlib.suppress(JetonError):
            nn.RotaryPositions.from_config({**config, "rope_scaling": {**rope, name: value}})
    with pytest.raises(UnsupportedError, match="axial"):
        nn.RotaryPositions.from_config({"head_dim": 8, "rope_scaling": {"rope_type": "axial"}})
    assert nn.RotaryPositions.from_config({"head_dim": 8, "model_type": []}).pairing == "halves"


def test_slopes_stay_exact_and_initialised() -> None:
    alibi = nn.ALiBi(20)
    expected = alibi.bias(2000, causal=False)
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        other: Any = torch.nn.Sequential(copy.deepcopy(alibi)).to(dtype)[0]
        assert torch.equal(other.bias(2000, causal=False), expected)
        assert other.slopes.dtype == torch.float32
    parent: Any = torch.nn.Sequential(nn.ALiBi(20)).to("meta")
    assert parent[0].slopes.is_meta and parent[0].bias(3).is_meta
    assert torch.equal(parent.to_empty(device="cpu")[0].slopes, alibi.slopes)
    with torch.device("meta"):
        made = nn.ALiBi(20)
    assert torch.equal(made.to_empty(device="cpu").slopes, alibi.slopes)
    assert not alibi.state_dict()


@pytest.mark.parametrize("factor", [2.0, 3.3, 4])
@pytest.mark.parametrize("most", [64, 256])
def test_dynamic_tables_are_those_of_transformers_at_every_length(factor: float, most: int) -> None:
    """To the last bit: both compute the stretched base in float32, in one order."""
    transformers = pytest.importorskip("transformers")
    modeling = pytest.importorskip("transformers.models.llama.modeling_llama")
    config = transformers.LlamaConfig(
        hidden_size=256,
        num_attention_heads=4,
        max_position_embeddings=most,
        rope_scaling={"rope_type": "dynamic", "factor": factor},
    )
    ours = nn.RotaryPositions.from_config(config)
    for length in (most - 1, most, most + 1, 300, 900, 1001):
        theirs = modeling.LlamaRotaryEmbedding(config)
        positions = torch.arange(length)
        cosine, sine = theirs(torch.zeros(1), positions[None])
        assert torch.equal(ours.frequencies(length=length), theirs.inv_freq)
        own = ours.table(positions, length=length)
        assert torch.equal(own[0], cosine[0, :, :32]) and torch.equal(own[1], sine[0, :, :32])


def test_dynamic_frequencies_are_the_formula() -> None:
    rotary = nn.RotaryPositions(16, scaling=nn.DynamicNTKScaling(3.3, 256))
    for length in (1, 256, 257, 900, 100_000):
        base = reference.dynamic_ntk_base(
            10_000.0, 16, factor=3.3, length=length, original_length=256
        )
        expected = reference.rotary_frequencies(16, base=base)
        # The base is a float32: a relative 2⁻²⁴ for each of its few roundings.
        np.testing.assert_allclose(rotary.frequencies(length=length), expected, rtol=2e-6)


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "odd head": (lambda: nn.RotaryPositions(7), ArgumentError, "must be even"),
    "rotary beyond head": (lambda: nn.RotaryPositions(8, rotary_dim=10), ArgumentError, "at most"),
    "pairing": (lambda: nn.RotaryPositions(8, pairing="x"), ArgumentError, "pairing"),  # type: ignore[arg-type]
    "base": (lambda: nn.RotaryPositions(8, base=0.5), ArgumentError, "base"),
    "scaling": (lambda: nn.RotaryPositions(8, scaling=2.0), ArgumentTypeError, "scaling"),  # type: ignore[arg-type]
    "factor": (lambda: nn.LinearScaling(-1.0), ArgumentError, r"LinearScaling\.factor"),
    "odd sinusoids": (lambda: nn.SinusoidalPositions(5), ArgumentError, "even"),
    "heads": (lambda: nn.ALiBi(0), ArgumentError, "heads"),
    "heads type": (lambda: nn.ALiBi("8"), ArgumentTypeError, "heads"),  # type: ignore[arg-type]
    "short keys": (lambda: nn.ALiBi(2).bias(4, 3), ArgumentError, "key_length"),
    "other width": (
        lambda: nn.RotaryPositions(8)(torch.zeros(1, 4, 6), torch.zeros(1, 4, 6)),
        ArgumentError,
        r"query .* 8\), the size of the positions, not \(1, 4, 6\)",
    ),
    "lengths": (
        lambda: nn.RotaryPositions(8)(torch.zeros(1, 4, 8), torch.zeros(1, 5, 8)),
        ArgumentError,
        "4 and 5",
    ),
    "position tensor": (
        lambda: nn.SinusoidalPositions(4)(torch.zeros(3, 4), positions=torch.zeros(3)),
        ArgumentTypeError,
        "integers",
    ),
    "position shape": (
        lambda: nn.SinusoidalPositions(4)(torch.zeros(3, 4), positions=torch.arange(2)),
        ArgumentError,
        r"\(3,\)",
    ),
    "beyond": (lambda: nn.LearnedPositions(4, 2)(torch.zeros(5, 2)), ArgumentError, "position 4"),
    "negative": (
        lambda: nn.LearnedPositions(4, 2)(torch.zeros(1, 2), positions=torch.tensor([-1])),
        ArgumentError,
        "position -1",
    ),
    "offset": (
        lambda: nn.SinusoidalPositions(2)(torch.zeros(1, 2), offset=-2),
        ArgumentError,
        "offset",
    ),
    "dynamic": (
        lambda: nn.RotaryPositions(4, scaling=nn.DynamicNTKScaling(2.0, 8))(
            torch.zeros(1, 1, 4), torch.zeros(1, 1, 4), positions=torch.tensor([0])
        ),
        ArgumentError,
        "length=",
    ),
    "config": (lambda: nn.RotaryPositions.from_config({}), ArgumentError, "head size"),
}


@pytest.mark.parametrize("call, error, message", BAD.values(), ids=BAD.keys())
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
