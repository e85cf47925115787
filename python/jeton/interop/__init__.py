"""A tokenizer under the interfaces of other libraries: the classes behind `tok.as_…()`.

Look here for what `tok.as_tiktoken()`, `tok.as_sentencepiece()` and `tok.as_transformers()` return.
Three neighbours build on them: `jeton.tiktoken` and `jeton.sentencepiece` take the place of those
libraries, module by module, and `jeton.patch_transformers` makes transformers encode with jeton.
"""
