"""Text to ids and back: the base tokenizer, and what it can do with one text or with many.

Look here for `tok.encode` and `tok.decode` (`base_tokenizer`), `tok(texts)` (`calls`), `tok.chunk`
(`chunks`), streams, the steps of encoding (`explaining`) and surprising tokens (`gotchas`). The
class that users have is `jeton.tokenizer.Tokenizer`; it adds a method for each of these.
"""
