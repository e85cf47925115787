"""Corpora: which objects are corpora, how their documents are encoded on all cores, and counts.

Look here for the files and objects that a corpus may be (`corpus`), how they become blocks of
tokens (`token_blocks`), how words are counted for training (`counting`, `word_counts`), and how
often each token occurs (`usage`). `jeton.chat.message_counts` counts the tokens of a conversation.
"""
