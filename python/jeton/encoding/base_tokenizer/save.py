"""Saves a tokenizer to a file or a folder; the nearest tokenizer that a format can hold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import jeton._core as _core
from jeton.arguments import checked_flag, checked_path, one_of
from jeton.encoding.base_tokenizer.change import ChangeMethods
from jeton.errors import ArgumentError, FormatWarning, MissingFileError, warn_caller
from jeton.loading.settings import ChatTemplate

if TYPE_CHECKING:
    from typing_extensions import Self


class SaveMethods(ChangeMethods):
    """The methods of `Tokenizer` that write files."""

    __slots__ = ()

    def to_json(self) -> str:
        """This tokenizer as a Hugging Face `tokenizer.json`.

        Raises:
            UnsupportedError: The format cannot hold it; the message names what.
        """
        return self._core.to_json()

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        roles: Mapping[str, str | None] | None = None,
        chat_template: ChatTemplate | None = None,
        into: str | os.PathLike[str] | None = None,
        lossy: bool = False,
    ) -> None:
        """Writes this tokenizer to a file or a folder, in the format that the name implies.

        A folder is one that `transformers` loads. A tokenizer that was loaded from a folder is
        saved with the same files, apart from what has changed (configuration, chat templates,
        lists of special tokens) and a class name by which transformers would not read the file.
        Tokenizer files of another tokenizer in the folder are replaced. Roles of special tokens are
        written; that of an ordinary token follows from the stages again, and a folder that said it
        would make the token special.

        Saving fails if the file would mean another tokenizer. Some formats leave parts to the
        caller of their loader, such as the pattern and the special tokens of ranks, and only a
        folder holds roles and a chat template: these are left out, with a warning that names them.

        Args:
            path: A name that ends in `.json` (Hugging Face), `vocab.json` (GPT-2's pair),
                `.tiktoken` (ranks), `.model` (SentencePiece), `.txt` (BERT), `tekken.json`
                (Mistral) or `.gguf` (llama.cpp). A name without an ending, or with a separator at
                its end, is a folder. `~` at the beginning of a `str` is a home folder.
            roles: For a folder or a GGUF: tokens by role, as in `replace`.
            chat_template: For a folder or a GGUF: as in `replace`.
            into: For a GGUF: the path of a model. `path` becomes a copy of it with this tokenizer
                in place of its own. Tensors are copied unchanged, so the model must have one
                embedding per token.
            lossy: Whether to leave things out without a warning.

        Raises:
            ArgumentError: `roles` or `chat_template` with neither a folder nor a GGUF; `into`
                without a GGUF.
            UnsupportedError: The format cannot hold it; the message names what.
            FileError: The file cannot be written.

        Warns:
            FormatWarning: The file does not hold everything; the message says what is missing. Or
                a SentencePiece model with byte pieces becomes a `tokenizer.json`, which decodes the
                unknown piece to its spelling. Or the folder named a class for which transformers 5
                builds other stages than the file has, such as `GPT2Tokenizer` for StarCoder's; the
                new one names a class that reads the file unchanged.

        Example:
            >>> import jeton, tempfile
            >>> tok = jeton.CharTrainer(special_tokens=["<|end|>"]).train("to be or not to be")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     tok.save(folder, roles={"eos": "<|end|>"})
            ...     jeton.load(folder).roles["eos"]
            '<|end|>'
        """
        name = checked_path("path", path)
        checked_flag("lossy", lossy)
        if isinstance(path, str):
            name = os.path.expanduser(name)
            owner, separator, _ = name.partition(os.sep)
            if separator and owner.startswith("~") and not os.path.exists(owner):
                raise MissingFileError(
                    f"{name}: there is no user {owner[1:]!r} (for a folder of that name here, "
                    f"write {os.path.join('.', name)})"
                )
        target = _core.target_of(self._core, name)
        is_folder = target == "folder"
        tokenizer = self
        for argument, value in (("roles", roles), ("chat_template", chat_template)):
            if value is not None and target not in ("folder", ".gguf"):
                raise ArgumentError(f"{argument}= goes with a folder or a .gguf, not with {name}")
        if into is not None:
            into = os.path.expanduser(checked_path("into", into))
            if target != ".gguf":
                raise ArgumentError(f"into= goes with a .gguf, not with {name}")
        if roles is not None:
            tokenizer = tokenizer.replace(roles=roles)
        if chat_template is not None:
            tokenizer = tokenizer.replace(chat_template=chat_template)
        if is_folder:
            from jeton.loading import folder
            from jeton.loading.transformers_classes import AS_IT_STANDS

            changes = folder.write(
                Path(name), tokenizer._core, tokenizer._settings, tokenizer.roles
            )
            left_out = changes.left_out
            if changes.replaced_class is not None:
                warn_caller(
                    f"{Path(name).name} names the class {AS_IT_STANDS}, not "
                    f"{changes.replaced_class}, for which transformers 5 builds its own stages "
                    "instead of those of tokenizer.json",
                    FormatWarning,
                )
        elif target == ".gguf":
            left_out = tokenizer._save_gguf(name, into)
        else:
            left_out, roles_of_file = _core.save(self._core, name)
            left_out += self._not_in_a_file(dict(roles_of_file))
        if not lossy and target in ("folder", "tokenizer.json"):
            self._warn_of_the_unknown_text(Path(name).name)
        if left_out and not lossy:
            ids = self._core.special_tokens().values()
            holds_all = target not in ("folder", ".gguf") and len({*ids}) == len(ids)
            elsewhere = (
                "; a name without an ending saves a folder, which holds everything"
                if holds_all
                else ""
            )
            warn_caller(
                f"{Path(name).name} does not hold {', '.join(left_out)} (pass it again when you "
                f"load the file{elsewhere})",
                FormatWarning,
            )

    def _warn_of_the_unknown_text(self, name: str) -> None:
        """Warns that a `tokenizer.json` with byte pieces decodes the unknown one as spelled."""
        from jeton.components import decoders

        decoder = self.stages.decoder
        if (
            isinstance(decoder, decoders.SentencePiece)
            and decoder.byte_fallback
            and decoder.unk_piece not in (None, decoder.unk_surface)
        ):
            warn_caller(
                f"{name} decodes the unknown token to {decoder.unk_piece!r}, not to "
                f"{decoder.unk_surface!r} (Hugging Face's own conversions do too)",
                FormatWarning,
            )

    def _save_gguf(self, path: str, into: str | None) -> list[str]:
        """Writes a GGUF, and returns what is not in it."""
        template = self._settings.chat_template
        templates = {"default": template} if isinstance(template, str) else template or {}
        left_out = _core.save_gguf(
            self._core, path, list(self.roles.items()), list(templates.items()), into
        )
        if self._settings.model_max_length is not None:
            left_out.append("model_max_length")
        return left_out

    def _not_in_a_file(self, roles_of_file: Mapping[str, str]) -> list[str]:
        """The settings that a file with these roles does not hold."""
        roles = [role for role, token in self.roles.items() if roles_of_file.get(role) != token]
        names = [f"the role{'s' * (len(roles) > 1)} {', '.join(roles)}"] if roles else []
        if self._settings.chat_template is not None:
            names.append("the chat template")
        if self._settings.model_max_length is not None:
            names.append("model_max_length")
        return names

    def approximation(self, format: Literal["tokenizer.json", ".model"]) -> Self:
        """The tokenizer nearest to this one that a format can hold exactly.

        Use it for a SentencePiece model that `save` refuses to write as `tokenizer.json`, and for a
        Unigram `tokenizer.json` as a `.model` file. If the format can hold this tokenizer, the
        result equals it. The ids differ only in texts in which

        - two segmentations differ in score by no more than rounding: SentencePiece adds up scores
          in 32 bits, Hugging Face tokenizers in 64;
        - the spelling of the unknown piece or of a byte piece occurs, with `special="ignore"`;
        - the character map applies to a grapheme cluster. If the cluster is shorter than six bytes,
          tokenizers replaces all of it by what its beginning maps to: CR LF is one space, and an
          accent or a variation selector after a mapped character such as `½` is lost. In a longer
          cluster, and in letters that are no cluster, it replaces each character separately:
          half-width kana and their voiced marks, jamo, and accents on mapped characters such as `①`
          stay apart where SentencePiece composes them;
        - U+0085 or `▁` occurs, if the `tokenizer.json` splits at white space (`WhitespaceSplit`,
          `Metaspace`): it takes U+0085 for white space, and `▁` for a space.

        Text that begins with several spaces may be decoded with fewer of them. A `.model` file
        cannot hold special tokens that are added around text, truncation or padding: these are left
        out, and so are the options `lstrip`, `rstrip` and `single_word` of special tokens. The
        result is verified on texts made of the pieces.

        Args:
            format: The format that is to hold it.

        Raises:
            UnsupportedError: None is near enough; the message names what differs, or a text.

        Example:
            >>> import jeton
            >>> tok = jeton.load("t5.model")  # doctest: +SKIP
            >>> tok.approximation("tokenizer.json").save("tokenizer.json")  # doctest: +SKIP
        """
        one_of("format", format, ("tokenizer.json", ".model"))
        return self._of_core(self._core.approximation(format), self._settings)
