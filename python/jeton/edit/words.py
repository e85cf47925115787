"""Adds given words as plain tokens; their embeddings begin as the mean of their old pieces.

Look here for `add_words`.
"""

from __future__ import annotations

from collections.abc import Iterable

from jeton.arguments import check_kind, checked_flag, checked_iterable
from jeton.components import AddedToken
from jeton.edit.edit_result import Edited
from jeton.edit.vocabulary import kept_and_new
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer


def add_words(tok: Tokenizer, words: Iterable[str], *, single_word: bool = True) -> Edited:
    """The tokenizer with given words as tokens: names of drugs, say, that it splits into many.

    The words are found in a text before everything else is encoded, the longest first, as
    `add_tokens` of transformers does; spaces around them are tokens of their own. A word that is
    one token already is left as it is, and listed in `left_out`.

    Args:
        tok: The tokenizer.
        words: The words, each once.
        single_word: Whether a word is only found where no letter or digit touches it, and not in
            longer words.

    Returns:
        The new tokenizer, whose new ids come after the largest, and the map of ids: `made_of` says
        which old tokens spelled each word, so that `rewrite_checkpoint` and `jeton.nn.remap` can
        compute its embedding.

    Raises:
        ArgumentError: A word is empty, has spaces around it, is there twice or is an added token.
        EncodeError: The tokenizer has no tokens for a word.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["take the ibuprofen"])
        >>> edited = edit.add_words(tok, ["ibuprofen"])
        >>> edited.tok.count("ibuprofen"), len(edited.id_map.made_of[tok.vocab.max_id + 1])
        (1, 6)
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    checked_flag("single_word", single_word)
    words = checked_iterable("words", words, "an iterable of words")
    known = {token.content for token in tok.stages.added_tokens}
    made_of: dict[int, list[int]] = {}
    new_tokens: list[AddedToken] = []
    left_out: list[bytes] = []
    for word in words:
        check_kind("each of words", word, str, "a str")
        if not word or word != word.strip():
            raise ArgumentError(f"the word {word!r:.80} is empty or has spaces around it")
        if word in known:
            raise ArgumentError(f"the word {word!r:.80} is there twice, or is an added token")
        known.add(word)
        pieces = tok.encode(word)
        if len(pieces) == 1 and tok.decode(pieces) == word:
            left_out.append(word.encode())
            continue
        id = tok.vocab.max_id + 1 + len(new_tokens)
        made_of[id] = pieces
        new_tokens.append(
            AddedToken(word, id=id, special=False, single_word=single_word, normalized=False)
        )
    if not new_tokens:
        raise ArgumentError("each of the words is a token already, so there is nothing to add")
    new = tok.with_added_tokens(new_tokens)
    added = [token.content.encode() for token in new_tokens]
    return kept_and_new(tok, new, made_of, added, left_out)
