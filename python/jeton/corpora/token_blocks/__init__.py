"""Blocks of tokens: corpora encoded on all cores, for token sets and for counts of tokens.

`blocks.py` says what a block is, what blocks come from, and how the core makes them; `files.py` and
`rows.py` make blocks of files and of what Python holds.
"""
