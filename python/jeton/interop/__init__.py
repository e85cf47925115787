"""Tokenizers with the interfaces of other libraries: the classes behind `tok.as_…()`.

Look here for the results of `tok.as_tiktoken()`, `tok.as_sentencepiece()` and
`tok.as_transformers()`. Three other modules build on them: `jeton.tiktoken` and
`jeton.sentencepiece` replace those libraries, and `jeton.patch_transformers` makes transformers
encode with jeton.
"""
