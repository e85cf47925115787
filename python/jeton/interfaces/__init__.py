"""A tokenizer under the interfaces of other libraries: tiktoken's and sentencepiece's classes.

Look here for what `tok.as_tiktoken()` and `tok.as_sentencepiece()` give. The modules that take the
place of those libraries are `jeton.tiktoken` and `jeton.sentencepiece`.
"""
