"""Templates: which one a chat goes through, how it runs, and who wrote each character of a text."""
