"""The display of bytes, numbers, tokens and steps in a terminal, in a notebook and on a page.

Look here for what a control character, a token or a colour becomes where a person reads it. What a
command prints, and where, is `jeton.cli`; reports are `jeton.analysis.report`.
"""
