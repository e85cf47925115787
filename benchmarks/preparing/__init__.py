"""What `benchmarks/prepare.py` stands on: the corpus, and the ways from it to files of tokens."""
