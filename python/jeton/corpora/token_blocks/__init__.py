"""Blocks of tokens: corpora encoded on all cores, for token sets and for counts of tokens.

`blocks.py` defines blocks, their sources, and how the core makes them; `files.py` reads files, and
`rows.py` reads texts, records and tables in Python.
"""
