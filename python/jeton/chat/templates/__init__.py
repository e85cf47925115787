"""Templates: which one a chat goes through, how it runs, and who wrote each character of its text.

Where to look, in the order in which a chat goes through it:

- `finding.py`: which template it is; `formats`: those that jeton has by name.
- `input.py`: what a template sees of messages, tools, documents and variables; `trust.py`: which of
  these may hold control tokens.
- `variables.py`: what a template gets, `messages`, `tools`, `add_generation_prompt` and the rest.
- `turn_shape.py`: how it opens, ends and continues a turn, and what it takes, learnt from small
  conversations.
- `renderer.py`: whether it runs here (`rendering.py`) or in a process of its own (`isolation.py`);
  `source.py`: what it says before it runs.
- `sandbox.py`: what it may do, with its filters in `filters.py`; `limits.py`: how long and how
  much, and which day it sees; `growth.py`: what may make more than it is given.
- Who wrote each character: `origins.py` (the answer), `traced.py` (text that knows it), `parts.py`
  (origins apart from it). It survives `%` and `format` in `formatting.py`, `str` and `repr` in
  `printing.py`, `tojson` in `json_text.py`, text marked as safe in `safe_text.py`; what else a
  template calls is data as a whole (`lost_origins.py`). `writers.py`: who wrote each token.
"""
