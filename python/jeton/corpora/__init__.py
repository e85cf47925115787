"""Corpora: what counts as one, its documents encoded on all cores, and what is counted in it.

Look here for which files and objects a corpus may be (`corpus`), how they become blocks of tokens
(`token_blocks`), how words are counted for training (`counting`, `word_counts`) and how often each
token occurs (`usage`). The tokens of a conversation are counted in `jeton.chat.message_counts`.
"""
