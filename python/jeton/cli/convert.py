"""`jeton convert`: a tokenizer from one format to another, verified before it is kept."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import click

import jeton
from jeton.argument_types import SpecialPolicy
from jeton.cli.command import Command, echo_note
from jeton.cli.printing import put, say
from jeton.cli.targets import FilePath, check_target, force_option, publish, workshop
from jeton.cli.terminal import shorten, table
from jeton.cli.tokenizers import TokenizerSource, tokenizer_options
from jeton.cli.verify import Check, compare, library_of, pattern_of, sample_texts
from jeton.components import models
from jeton.display.human_readable import visible
from jeton.errors import FormatWarning, UnsupportedError

HELP = """Convert a tokenizer, and verify the result.

The name of TARGET sets the format: .json is a tokenizer.json, .tiktoken is ranks, .model is
SentencePiece or, for byte-level BPE, ranks; vocab.json is GPT-2's pair with merges.txt beside it;
.txt is BERT's list, vocab.txt; tekken.json is Mistral's, and .gguf llama.cpp's. A TARGET without
an ending, or an existing folder, is a folder as transformers reads it. With --into, TARGET is a
copy of a model of llama.cpp with the tokenizer in it.

The file is read back and compared on sample text: the text that ships with jeton, and difficult
strings. If the library of the format is installed, it reads the file too, and must agree:
tokenizers for .json, vocab.json and vocab.txt, tiktoken for ranks, sentencepiece for its models,
mistral-common for tekken.json. One line per comparison says what was compared. A file that differs
is not kept. If a format cannot hold something exactly, the error names it; --approximate then
writes the nearest equivalent, if there is one. A warning names what a format does not hold, such
as the pattern of ranks.

\b
Examples:
  jeton convert gpt2 gpt2.json
  jeton convert gpt2.json gpt2.tiktoken
  jeton convert ranks.tiktoken tokenizer.json --pattern cl100k \\
      --special-token '<|end|>=100000'
  jeton convert folder/ new.gguf --into model.gguf
"""


@click.command(cls=Command, help=HELP, short_help="Convert to another format, verified.")
@tokenizer_options
@click.argument("target", type=FilePath())
@force_option
@click.option(
    "--approximate",
    is_flag=True,
    help="Write the nearest equivalent, and say how many texts differ: SentencePiece's Unigram and "
    "character maps as tokenizer.json, or Unigram back as .model.",
)
@click.option(
    "--into",
    metavar="MODEL",
    type=FilePath(),
    help="For a .gguf: write a copy of this model with the tokenizer instead of its own. The "
    "tensors stay as they are.",
)
def convert(
    source: TokenizerSource,
    target: str,
    force: bool,
    approximate: bool,
    into: str | None,
) -> None:
    path = Path(target)
    inputs = [*source.files, *([into] if into is not None else [])]
    check_target(path, inputs=inputs, force=force, folder=True)
    original = tok = source.load()
    if approximate:
        ending = path.suffix.lower()
        if ending not in (".json", ".model"):
            raise UnsupportedError(f"{target}: only .json and .model can be approximated")
        tok = original.approximation(".model" if ending == ".model" else "tokenizer.json")
    with workshop(path) as folder:
        tok.save(folder / path.name, into=into)
        checks = _verify(tok, folder / path.name)
        differing = [check for check in checks if check.differing]
        if differing:
            raise UnsupportedError(_refusal(path, differing[0]))
        files = publish(folder, path, inputs=inputs, force=force)
    for file in files:
        put(f"{file}")
    rows = [
        (f"{check.texts:,} texts", f"{check.tokens:,} tokens", "0 differences", check.against)
        for check in checks
    ]
    say(table(rows, ">>><"))
    if refused := checks[0].refused:
        echo_note(f"{refused:,} texts have characters outside the alphabet: both sides refuse them")
    if approximate:
        texts = sample_texts(list(original.special_tokens))
        check = compare("the original", original.encode, tok.encode, texts)
        echo_note(
            f"an approximation: {len(check.differing):,} of {check.texts:,} texts differ from the "
            "original (near ties; CR LF, half-width kana, jamo and marks where characters are "
            "rewritten; U+0085 and ▁; special tokens in text)"
        )
        left_out = _left_out(original, tok)
        if left_out:
            echo_note(f"left out, because the format has no place for it: {', '.join(left_out)}")


def _left_out(original: jeton.Tokenizer, tok: jeton.Tokenizer) -> list[str]:
    """What the `tokenizer.json` adds around a text, and the approximation does not."""
    if not isinstance(tok.stages.model, models.SentencePiece) or isinstance(
        original.stages.model, models.SentencePiece
    ):
        return []
    before = json.loads(original.to_json())
    names = ("post_processor", "truncation", "padding")
    return [name.replace("_", "-") for name in names if before[name] is not None]


def _verify(tok: jeton.Tokenizer, path: Path) -> list[Check]:
    specials = tok.special_tokens
    texts = sample_texts(list(specials))
    pattern = pattern_of(tok)
    name = path.name.lower()
    is_ranks = name.endswith((".tiktoken", ".model")) and pattern is not None
    has_no_specials = is_ranks or name.endswith(("vocab.json", "encoder.json"))
    with warnings.catch_warnings():
        # Reading the source has already given these warnings.
        warnings.simplefilter("ignore", FormatWarning)
        again = jeton.load(
            path,
            pattern=pattern if is_ranks else None,
            special_tokens=specials if has_no_specials else None,
        )
    checks = [
        compare("read back", tok.encode, again.encode, texts),
    ]
    # llama.cpp puts a space after each special token in text; a warning has said so.
    if not (name.endswith(".gguf") and isinstance(again.stages.model, models.SentencePiece)):
        checks.append(
            compare(
                "read back, special tokens found and added",
                lambda text: tok.encode(text, special="allow", add_special_tokens=True),
                lambda text: again.encode(text, special="allow", add_special_tokens=True),
                texts,
            )
        )
    library = library_of(path, tok)
    if library is not None:
        special: SpecialPolicy = "allow" if library.finds_special else "ignore"
        checks.append(
            compare(
                library.name, lambda text: tok.encode(text, special=special), library.encode, texts
            )
        )
    return checks


def _refusal(path: Path, check: Check) -> str:
    example = shorten(visible(check.differing[0].encode("utf-8", "surrogatepass")), 40)
    return (
        f"{path}: not kept, because {len(check.differing):,} of {check.texts:,} texts differ "
        f"({check.against}); the first: {example}"
    )
