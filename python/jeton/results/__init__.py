"""The results of encoding: `Encoding`, batches of ids, padded batches; and the vocabulary.

Look here for a method of `Encoding`, `TokenBatch`, `PaddedBatch` or `tok.vocab`. `jeton.encoding`
produces them; the columns that `tok(texts)` returns are in `jeton.encoding.calls`.
"""
