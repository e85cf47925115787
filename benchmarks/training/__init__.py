"""What `benchmarks/train.py` stands on: how each library trains."""
