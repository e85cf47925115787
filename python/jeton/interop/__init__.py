"""Tokenizers with the interfaces of other libraries: the classes behind `tok.as_…()`.

Look here for the results of `tok.as_tiktoken()`, `tok.as_sentencepiece()`,
`tok.as_transformers()`, `tok.as_xgrammar()` and `tok.as_llguidance()`. Three other modules build on
them: `jeton.tiktoken` and `jeton.sentencepiece` replace those libraries, and
`jeton.patch_transformers` makes transformers encode with jeton.
"""
