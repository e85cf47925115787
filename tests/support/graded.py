"""A right answer to each task of `jeton learn --grade`, and mutants of these that are wrong.

The answers are written as a learner would, with nothing but the standard library.
"""

from __future__ import annotations

SOLUTION = """
import unicodedata


def train(words, merges):
    rows = [([bytes([byte]) for byte in word.encode()], count) for word, count in words.items()]
    learned = []
    while len(learned) < merges:
        counts = {}
        for row, count in rows:
            for pair in zip(row, row[1:]):
                counts[pair] = counts.get(pair, 0) + count
        if not counts:
            break
        best = max(counts, key=counts.get)
        rows = [(merge(row, best), count) for row, count in rows]
        learned.append(best)
    return learned


def merge(row, pair):
    merged, at = [], 0
    while at < len(row):
        if at + 1 < len(row) and (row[at], row[at + 1]) == pair:
            merged.append(row[at] + row[at + 1])
            at += 2
        else:
            merged.append(row[at])
            at += 1
    return merged


def encode(piece, merges):
    row = [bytes([byte]) for byte in piece]
    for pair in merges:
        row = merge(row, pair)
    return row


def decode(tokens):
    return b"".join(tokens).decode("utf-8", errors="replace")


def kind(character):
    if character.isspace() and character not in "\\x1c\\x1d\\x1e\\x1f":
        return "space"
    return {"L": "letter", "N": "number"}.get(unicodedata.category(character)[0], "sign")


def split(text):
    pieces, at = [], 0
    while at < len(text):
        end = next_end(text, at)
        pieces.append(text[at:end])
        at = end
    return pieces


def next_end(text, at):
    for short in ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d"):
        if text.startswith(short, at):
            return at + len(short)
    start = at + 1 if text[at] == " " and at + 1 < len(text) else at
    if kind(text[start]) == "space":
        start = at
    end = start
    while end < len(text) and kind(text[end]) == kind(text[start]):
        end += 1
    if kind(text[start]) == "space" and end < len(text) and end - at > 1:
        end -= 1
    return end


def split_special(text, special):
    parts, start, at = [], 0, 0
    while at < len(text):
        found = [token for token in special if text.startswith(token, at)]
        if found:
            token = max(found, key=len)
            if start < at:
                parts.append(text[start:at])
            parts.append(token)
            at = start = at + len(token)
        else:
            at += 1
    if start < len(text):
        parts.append(text[start:])
    return parts


def merges_of(ranks):
    merges = []
    for token in sorted(ranks, key=ranks.get):
        row = [bytes([byte]) for byte in token]
        while len(row) > 2:
            pairs = [(ranks.get(row[at] + row[at + 1], 10**9), at) for at in range(len(row) - 1)]
            rank, at = min(pairs)
            if rank >= ranks[token]:
                break
            row[at : at + 2] = [row[at] + row[at + 1]]
        if len(row) == 2:
            merges.append((row[0], row[1]))
    return merges


def viterbi(text, scores):
    best = [(0.0, [])]
    for end in range(1, len(text) + 1):
        ways = []
        for start in range(end):
            piece = text[start:end]
            if piece in scores:
                ways.append((best[start][0] + scores[piece], best[start][1] + [piece]))
        best.append(max(ways, key=lambda way: way[0]))
    return best[-1][1]


def train_fast(words, merges):
    rows = [[bytes([byte]) for byte in word.encode()] for word in words]
    numbers = list(words.values())
    counts, where = {}, {}

    def change(at, sign):
        for pair in zip(rows[at], rows[at][1:]):
            counts[pair] = counts.get(pair, 0) + sign * numbers[at]
            where.setdefault(pair, set()).add(at)

    def first(pair):
        at = min(where[pair])
        return at, list(zip(rows[at], rows[at][1:])).index(pair)

    for at in range(len(rows)):
        change(at, 1)
    learned = []
    while where and len(learned) < merges:
        most = max(counts.values())
        best = min((pair for pair, count in counts.items() if count == most), key=first)
        for at in list(where[best]):
            change(at, -1)
            for pair in set(zip(rows[at], rows[at][1:])):
                where[pair].discard(at)
                if not where[pair]:
                    del where[pair], counts[pair]
            rows[at] = merge(rows[at], best)
            change(at, 1)
        learned.append(best)
    return learned
"""

MUTANTS: dict[str, tuple[str, str, str, str]] = {
    "as slow as the page": (
        "train_fast",
        "    rows = [[",
        "    return train(words, merges)\n    rows = [[",
        "times are asked for",
    ),
    "counts of words do not count": ("train", "+ count\n", "+ 1\n", "in every occurrence"),
    "the last of equals wins": (
        "train",
        "max(counts, key=counts.get)",
        "max(reversed(counts), key=counts.get)",
        "the pair seen first wins",
    ),
    "the greatest of equals wins": (
        "train",
        "max(counts, key=counts.get)",
        "max(counts, key=lambda pair: (counts[pair], pair))",
        "the pair seen first wins",
    ),
    "characters instead of bytes": (
        "train",
        "[bytes([byte]) for byte in word.encode()]",
        "[character.encode() for character in word]",
        "",
    ),
    "it goes on without pairs": (
        "train",
        "        if not counts:\n            break\n",
        "",
        "ValueError",
    ),
    "one merge too many": ("train", "len(learned) < merges", "len(learned) <= merges", "must stop"),
    "words run together": (
        "train",
        "    learned = []\n",
        "    rows = [(sum((row for row, _ in rows), []), 1)]\n    learned = []\n",
        "",
    ),
    "merged from the right": (
        "train",
        "        rows = [(merge(row, best)",
        "        rows = [(merge(row[::-1], best[::-1])[::-1]",
        "",
    ),
    "the longest pair first": (
        "encode",
        "for pair in merges:",
        "for pair in sorted(merges, key=lambda it: -len(it[0] + it[1])):",
        "",
    ),
    "merges in the reverse order": (
        "encode",
        "for pair in merges:",
        "for pair in reversed(merges):",
        "",
    ),
    "only the first of a pair": (
        "encode",
        "        row = merge(row, pair)",
        "        for at in range(len(row) - 1):\n"
        "            if (row[at], row[at + 1]) == pair:\n"
        "                row[at : at + 2] = [row[at] + row[at + 1]]\n"
        "                break",
        "side by side",
    ),
    "the longest match": (
        "encode",
        "    row = [bytes([byte]) for byte in piece]\n    for pair in merges:\n"
        "        row = merge(row, pair)\n    return row",
        "    known = {left + right for left, right in merges}\n    row, at = [], 0\n"
        "    while at < len(piece):\n        end = len(piece)\n"
        "        while end > at + 1 and piece[at:end] not in known:\n            end -= 1\n"
        "        row.append(piece[at:end])\n        at = end\n    return row",
        "learned before",
    ),
    "a merge by what it makes, not by its parts": (
        "encode",
        "    for pair in merges:\n        row = merge(row, pair)\n    return row",
        "    made = {left + right: at for at, (left, right) in enumerate(merges)}\n"
        "    while True:\n"
        "        found = [(made[a + b], at) for at, (a, b) in enumerate(zip(row, row[1:]))\n"
        "                 if a + b in made]\n"
        "        if not found:\n            return row\n"
        "        _, at = min(found)\n"
        "        row[at : at + 2] = [row[at] + row[at + 1]]",
        "not from other parts",
    ),
    "characters of a piece": (
        "encode",
        "[bytes([byte]) for byte in piece]",
        "[character.encode() for character in piece.decode()]",
        "",
    ),
    "tokens decoded one by one": (
        "decode",
        'b"".join(tokens).decode("utf-8", errors="replace")',
        '"".join(token.decode("utf-8", errors="replace") for token in tokens)',
        "join the bytes first",
    ),
    "bad bytes left out": ("decode", 'errors="replace"', 'errors="ignore"', "U+FFFD"),
    "bad bytes raise": ("decode", ', errors="replace"', "", "UnicodeDecodeError"),
    "a byte order mark is lost": ("decode", '"utf-8"', '"utf-8-sig"', ""),
    "white space is stripped": ("decode", 'errors="replace")', 'errors="replace").strip()', ""),
    "one contraction is forgotten": ("split", '"\'ve", ', "", "in small letters only"),
    "three digits at most": (
        "split",
        "    while end < len(text) and kind(text[end]) == kind(text[start]):",
        "    while end < len(text) and kind(text[end]) == kind(text[start]) and not (\n"
        '        kind(text[end]) == "number" and end - start == 3\n    ):',
        "a whole run of one kind",
    ),
    "capitals contract": (
        "split",
        "if text.startswith(short, at)",
        "if text[at:].lower().startswith(short)",
        "",
    ),
    "a space stands alone": (
        "split",
        'start = at + 1 if text[at] == " "',
        'start = at + 1 if text[at] == "_"',
        "",
    ),
    "white space takes all": (
        "split",
        " and end < len(text) and end - at > 1:\n        end -= 1",
        " and False:\n        end -= 1",
        "leaves the last character to it",
    ),
    "only the numbers of ASCII": (
        "split",
        'return {"L"',
        'if character in "½²":\n        return "sign"\n    return {"L"',
        "Unicode",
    ),
    "underlines are letters": (
        "split",
        'return {"L"',
        'if character == "_":\n        return "letter"\n    return {"L"',
        "three kinds",
    ),
    "the first special token, not the longest": (
        "split_special",
        "token = max(found, key=len)",
        "token = found[0]",
        "the longest wins",
    ),
    "empty parts": (
        "split_special",
        "            if start < at:\n    ",
        "            if True:\n    ",
        "never empty",
    ),
    "the end is lost": (
        "split_special",
        "    if start < len(text):\n        parts.append(text[start:])\n",
        "",
        "do not join",
    ),
    "any split of a token": (
        "merges_of",
        "rank, at = min(pairs)",
        "rank, at = pairs[0]",
        "",
    ),
    "ranks above its own": (
        "merges_of",
        "            if rank >= ranks[token]:\n                break\n",
        "",
        "",
    ),
    "in the order of the table": ("merges_of", "sorted(ranks, key=ranks.get)", "sorted(ranks)", ""),
    "in the order of the table's keys": (
        "merges_of",
        "sorted(ranks, key=ranks.get)",
        "ranks",
        "the order of the ranks",
    ),
    "ranks are places in the table": (
        "merges_of",
        "    for token in sorted(ranks, key=ranks.get):",
        "    by_rank = {rank: token for token, rank in ranks.items()}\n"
        "    for token in (by_rank[rank] for rank in range(len(ranks))):",
        "KeyError",
    ),
    "tokens of text only": (
        "merges_of",
        "    for token in sorted(ranks",
        "    for token in sorted((it for it in ranks if it.decode())",
        "UnicodeDecodeError",
    ),
    "every path is tried": (
        "viterbi",
        "    best = [(0.0, [])]\n",
        "    def ways(text):\n"
        "        yield from [] if text else [(0.0, [])]\n"
        "        for end in range(1, len(text) + 1):\n"
        "            if text[:end] in scores:\n"
        "                for score, pieces in ways(text[end:]):\n"
        "                    yield score + scores[text[:end]], [text[:end], *pieces]\n\n"
        "    return max(ways(text), key=lambda way: way[0])[1]\n"
        "    best = [(0.0, [])]\n",
        "no answer",
    ),
    "greedy from the left": (
        "viterbi",
        "    best = [(0.0, [])]\n",
        "    pieces, at = [], 0\n    while at < len(text):\n"
        "        piece = max((p for p in scores if text.startswith(p, at)), key=len)\n"
        "        pieces.append(piece)\n        at += len(piece)\n    return pieces\n"
        "    best = [(0.0, [])]\n",
        "that of the best",
    ),
    "the fewest pieces": (
        "viterbi",
        "key=lambda way: way[0]",
        "key=lambda way: -len(way[1])",
        "that of the best",
    ),
    "the worst path": ("viterbi", "max(ways", "min(ways", "that of the best"),
    "never ends": (
        "encode",
        "    for pair in merges:\n",
        "    while merges:\n        pass\n    for pair in merges:\n",
        "no answer",
    ),
}
"""By what is wrong: the function, what is replaced by what, and a part of what is said of it."""
