"""What training needs of a chat: which tokens a model learns, and how much of a chat fits.

`masks.py` finds the tokens of answers, for `Chat.loss_mask`, and `parts.py` those of their
reasoning, words and calls; `fitting.py` drops the oldest turns, for `tok.fit_messages`.
"""
