"""Each algorithm on one page of plain Python: no dependency, no speed, every step visible.

Look here to understand how a tokenizer works, one file at a time, in this order:

- `characters`: a vocabulary of single characters.
- `words_bpe`: byte pair encoding on words, with `</w>` at their ends.
- `byte_level`: byte pair encoding on bytes, and GPT-2's way to print them.
- `ranks`: byte pair encoding by ranks, as tiktoken does it.
- `wordpiece`: the longest match, and two ways to train it.
- `unigram`: the most probable segmentation, and expectation and maximization.
- `sentencepiece`: text without spaces, and merges by score.
- `textbook`: the classes that textbooks teach.

The tests compare jeton's fast core with these pages, so neither can drift. A page imports at most
`merge` of `words_bpe`, and nothing else of jeton.
"""
