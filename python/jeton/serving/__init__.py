"""Plugins for the engines that serve models, which vLLM and SGLang find by entry points.

- `vllm`: `vllm serve MODEL --tokenizer-mode jeton`
- `sglang`: `JETON_SGLANG=1 sglang serve --model-path MODEL`

Both leave the engine's own tokenizer in place, a class of transformers, and let it encode with
jeton where the ids are equal (`jeton.transformers_patch`).
"""
