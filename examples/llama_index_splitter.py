"""A node parser for LlamaIndex whose chunks keep to a number of tokens.

    python examples/llama_index_splitter.py

Look here to put `Tokenizer.chunk` where LlamaIndex expects one of its splitters.
"""

from __future__ import annotations

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.node_parser import TextSplitter
from llama_index.core.schema import Document

import jeton
from jeton.encoding.chunks import Unit


class JetonSplitter(TextSplitter):  # type: ignore[misc]
    """Documents in nodes of at most `chunk_size` tokens."""

    chunk_size: int = 512
    chunk_overlap: int = 128
    at: Unit = "sentence"
    _tok: jeton.Tokenizer = PrivateAttr()

    def __init__(self, tok: jeton.Tokenizer, **fields: object) -> None:
        super().__init__(**fields)
        self._tok = tok

    def split_text(self, text: str) -> list[str]:
        chunks = self._tok.chunk(text, self.chunk_size, overlap=self.chunk_overlap, at=self.at)
        return [chunk.text for chunk in chunks]


def main() -> None:
    tok = jeton.BPETrainer(264, pattern="gpt4").train(["the weather is fine, the weather"])
    text = " ".join(f"The weather of day {day} is fine. Is it? It is!" for day in range(60))
    splitter = JetonSplitter(tok, chunk_size=100, chunk_overlap=25)
    nodes = splitter.get_nodes_from_documents([Document(text=text, metadata={"source": "a"})])
    for node in nodes:
        assert tok.count(node.text) <= 100 and node.metadata["source"] == "a"
        assert text[node.start_char_idx : node.end_char_idx] == node.text
    print(f"{len(nodes)} nodes of at most 100 tokens; the first: {nodes[0].text!r}")


if __name__ == "__main__":
    main()
