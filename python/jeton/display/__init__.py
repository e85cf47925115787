"""The display of bytes, numbers, tokens and steps in a terminal, in a notebook and on a page.

Look here for how a control character, a token or a colour is shown to people. What a command
prints, and where, is in `jeton.cli`; reports are in `jeton.analysis.report`.
"""
