"""How token sets are prepared, one file per subject; `jeton.data.prepare` is the entry point.

    inputs ─ blocks of tokens ─ (shuffle) ─ split ─ layouts ─▶ manifest

`options.py` checks the options, and `inputs.py` recognises the data; `jeton.corpora.token_blocks`
turns it into blocks. `conversations.py` reads records of conversations, `chats.py` encodes them,
and `loss_mask_bits.py` puts their loss mask into blocks. `shuffling.py` and `sinks.py` pass blocks
on. `pipeline.py` runs everything, and `journal.py` saves the state to resume from. `end_of_text.py`
finds the token between documents, and `parts.py` joins the parts of several machines.
"""
