"""How token sets are prepared, one subject a file; `jeton.data.prepare` is the way in.

    inputs ─ blocks of tokens ─ (shuffle) ─ split ─ layouts ─▶ manifest

`inputs.py` turns files, tables, data sets and iterables into `blocks.py`'s blocks; `shuffling.py`
and `splitting.py` pass them on; `pipeline.py` runs all that, and `journal.py` keeps what it takes to
go on after any interruption. `end_of_text.py` says which token parts documents, `merging.py` puts
parts together.
"""
