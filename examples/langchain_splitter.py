"""A text splitter for LangChain whose chunks keep to a number of tokens.

    python examples/langchain_splitter.py

Look here to put `Tokenizer.chunk` where LangChain expects one of its splitters.
"""

from __future__ import annotations

import copy
from typing import Any

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

import jeton
from jeton.encoding.chunks import Unit


class JetonTextSplitter(TextSplitter):  # type: ignore[misc]
    """Documents in chunks of at most `chunk_size` tokens, with the place of each."""

    def __init__(
        self,
        tok: jeton.Tokenizer,
        chunk_size: int = 512,
        chunk_overlap: int = 128,
        at: Unit = "sentence",
    ) -> None:
        super().__init__(chunk_size, chunk_overlap, length_function=tok.count)
        self._tok = tok
        self._at = at

    def chunks(self, text: str) -> list[jeton.Chunk]:
        return self._tok.chunk(text, self._chunk_size, overlap=self._chunk_overlap, at=self._at)

    def split_text(self, text: str) -> list[str]:
        return [chunk.text for chunk in self.chunks(text)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        # LangChain looks for each chunk in the text again; here its place is known.
        given = [{}] * len(texts) if metadatas is None else metadatas
        return [
            Document(
                page_content=chunk.text,
                metadata={**copy.deepcopy(metadata), "start_index": chunk.start},
            )
            for text, metadata in zip(texts, given, strict=True)
            for chunk in self.chunks(text)
        ]


def main() -> None:
    tok = jeton.BPETrainer(264, pattern="gpt4").train(["the weather is fine, the weather"])
    text = "The weather is fine. Is it? It is! So out we go, all of us. " * 20
    splitter = JetonTextSplitter(tok, chunk_size=100, chunk_overlap=25)
    documents = splitter.split_documents([Document(page_content=text, metadata={"source": "a"})])
    for document in documents:
        start = document.metadata["start_index"]
        assert text[start : start + len(document.page_content)] == document.page_content
        assert tok.count(document.page_content) <= 100 and document.metadata["source"] == "a"
    print(f"{len(documents)} documents of at most 100 tokens; the first: {documents[0]}")


if __name__ == "__main__":
    main()
