"""How token sets are prepared, one subject a file; `jeton.data.prepare` is the way in.

    inputs ─ blocks of tokens ─ (shuffle) ─ split ─ layouts ─▶ manifest

`options.py` says what was asked for, and `inputs.py` what data is; `jeton.corpora.token_blocks`
makes blocks of it. Records that hold conversations are read by `conversations.py`, and made tokens
by `chats.py`; `loss_mask_bits.py` says how their blocks carry a loss mask.
`shuffling.py` and `sinks.py` pass them on. `pipeline.py` runs all that, and `journal.py` keeps what
it takes to go on after any interruption. `end_of_text.py` says which token parts documents, and
`parts.py` puts together what several machines have made.
"""
