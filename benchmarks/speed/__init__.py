"""What `benchmarks/encode.py` is made of: texts, libraries, measures, and the report."""
