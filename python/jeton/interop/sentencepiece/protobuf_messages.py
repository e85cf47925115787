"""sentencepiece's messages as classes of protobuf, which must be installed.

Look here for how they are described, and for those of encoded texts, which `out_type="proto"`
gives. They are registered nowhere, so that they do not clash with sentencepiece's own or with other
copies in the same process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE: Final = "sentencepiece"

_EXTENSIBLE_FROM, _EXTENSIBLE_TO = 200, 536_870_912


def message_classes(
    module: str,
    file_name: str,
    fields: Mapping[str, str],
    enumerations: Mapping[str, Mapping[str, int]] | None = None,
    closed: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The classes of the messages of a file, by name.

    Args:
        file_name: The file that describes them.
        fields: For each message a line per field: number, name, type, default. A type with `*` is
            repeated; one that begins with a dot is a message or an enumeration.
        enumerations: The numbers of each enumeration, by name.
        closed: The messages that cannot be extended.
    """
    enumerations = enumerations or {}
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_described(file_name, fields, enumerations, closed))
    classes = {}
    for name in fields:
        descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
        classes[name] = message_factory.GetMessageClass(descriptor)
        # protobuf leaves it `None`, with which `help` fails.
        classes[name].__module__ = module
    return classes


def _described(
    file_name: str,
    fields: Mapping[str, str],
    enumerations: Mapping[str, Mapping[str, int]],
    closed: tuple[str, ...],
) -> Any:
    """The description of all messages."""
    file = descriptor_pb2.FileDescriptorProto(name=file_name, package=_PACKAGE, syntax="proto2")
    messages: dict[str, Any] = {}
    for path in sorted(fields, key=lambda path: path.count(".")):
        parent, _, name = path.rpartition(".")
        messages[path] = (
            messages[parent].nested_type.add(name=name)
            if parent
            else file.message_type.add(name=name)
        )
        if path not in closed:
            messages[path].extension_range.add(start=_EXTENSIBLE_FROM, end=_EXTENSIBLE_TO)
    for path, values in enumerations.items():
        parent, _, name = path.rpartition(".")
        enumeration = messages[parent].enum_type.add(name=name)
        for value, code in values.items():
            enumeration.value.add(name=value, number=code)
    types = descriptor_pb2.FieldDescriptorProto.Type
    labels = descriptor_pb2.FieldDescriptorProto.Label
    for path, lines in fields.items():
        for line in lines.strip().splitlines():
            number, name, kind, *default = line.split()
            field = messages[path].field.add(name=name, number=int(number))
            is_repeated = kind.endswith("*")
            kind = kind.removesuffix("*")
            field.label = labels.Value("LABEL_REPEATED" if is_repeated else "LABEL_OPTIONAL")
            if kind.startswith("."):
                field.type_name = f".{_PACKAGE}{kind}"
                is_enumeration = kind[1:] in enumerations
                field.type = types.Value("TYPE_ENUM" if is_enumeration else "TYPE_MESSAGE")
            else:
                field.type = types.Value(f"TYPE_{kind.upper()}")
            if default:
                field.default_value = f" {default[0]} " if name == "unk_surface" else default[0]
    return file


_classes = message_classes(
    __name__,
    "sentencepiece.proto",
    {
        "SentencePieceText": """
            1 text string
            2 pieces .SentencePieceText.SentencePiece*
            3 score float
        """,
        "SentencePieceText.SentencePiece": """
            1 piece string
            2 id uint32
            3 surface string
            4 begin uint32
            5 end uint32
        """,
        "NBestSentencePieceText": """
            1 nbests .SentencePieceText*
        """,
    },
    closed=("NBestSentencePieceText",),
)
SentencePieceText = _classes["SentencePieceText"]
NBestSentencePieceText = _classes["NBestSentencePieceText"]
