"""What encoding returns: `Encoding`, batches of ids, sequences padded to one length, a vocabulary.

Look here for a method of `Encoding`, `TokenBatch`, `PaddedBatch` or `tok.vocab`. How texts become
these is `jeton.encoding`; the columns that `tok(texts)` returns are `jeton.encoding.calls`.
"""
