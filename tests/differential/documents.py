"""The stream of documents: made, damaged, and written by ionfast from what was made."""

from __future__ import annotations

import collections
import random

import ionfast

from .binary import IVM
from .corpus import seeds
from .generate import Document, Generator
from .mutate import Mutator

RECENT = 500


class Documents:
    """An endless stream of documents that depends on the seed alone."""

    def __init__(self, seed: int, with_seeds: bool = True) -> None:
        self.rng = random.Random(seed)
        self.generator = Generator(self.rng)
        self.mutator = Mutator(self.rng)
        self.seeds = seeds() if with_seeds else []
        self.recent: collections.deque[Document] = collections.deque(maxlen=RECENT)
        self.counts: collections.Counter[str] = collections.Counter()

    def batch(self, count: int) -> list[Document]:
        """The next documents."""
        return [self.next() for _ in range(count)]

    def next(self) -> Document:
        """The next document."""
        sort = self.rng.random()
        if len(self.recent) < 20 or sort < 0.35:
            document = self.generator.document()
            self.recent.append(document)
            return self.counted("made", document)
        if sort < 0.45:
            return self.counted("written by ionfast", self.written(self.rng.choice(self.recent)))
        if self.seeds and sort < 0.65:
            source = self.rng.choice(self.seeds)
        else:
            source = self.rng.choice(self.recent).data
        self.mutator.other = self.rng.choice(self.recent).data
        return self.counted("damaged", Document(self.mutator.mutate(source), None))

    def counted(self, sort: str, document: Document) -> Document:
        encoding = "binary" if document.data.startswith(IVM) else "text"
        self.counts[f"{sort}, {encoding}"] += 1
        return document

    def written(self, document: Document) -> Document:
        """The same values in ionfast's writing."""
        values = ionfast.loads_all(document.data)
        binary = self.rng.random() < 0.5
        indent = self.rng.choice((None, "  ")) if not binary else None
        data = ionfast.dumps_all(values, binary=binary, indent=indent)
        return Document(data if isinstance(data, bytes) else data.encode(), document.wanted)
