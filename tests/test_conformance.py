"""The public Ion conformance suite, Ion 1.0 part. conformance.py expands its documents."""

from __future__ import annotations

import collections
import functools

import pytest

import conformance
import ionfast
import vectors

# Expectations of the suite that the Ion specification contradicts.
CONTRADICTED = {
    "system_symbols.ion / Ion 1.0 system symbol / '$ion_1_0' / 1": "symbols.md, Ion Version Markers: "
    "`$2` at top level is a system value with no processing semantics, so it produces nothing",
}


def _documents() -> list[conformance.Document]:
    folder = vectors.ION_TESTS / "conformance"
    return list(conformance.documents(folder)) if folder.is_dir() else []


DOCUMENTS = _documents()
ION_1_0 = {d.name: d for d in DOCUMENTS if not d.is_ion_1_1 and d.name not in CONTRADICTED}
ION_1_1 = {d.name: d for d in DOCUMENTS if d.is_ion_1_1}


def _names(documents: dict[str, conformance.Document], suite: str) -> list[object]:
    return list(documents) or [vectors.skipped(suite, vectors.NEEDS_TESTDATA)]


@functools.cache
def _catalog() -> ionfast.Catalog:
    return conformance.catalog(vectors.ION_TESTS / "catalog")


def test_no_document_is_lost() -> None:
    """668 documents, so that a change of the data or of the expander is seen."""
    if not DOCUMENTS:
        pytest.skip(vectors.NEEDS_TESTDATA)
    counts = collections.Counter(document.encoding for document in ION_1_0.values())
    assert counts == {"text": 330, "binary": 187, "abstract": 151}


@pytest.mark.parametrize("name", _names(ION_1_0, "Ion 1.0"))
def test_document(name: str) -> None:
    document = ION_1_0[name]
    conformance.check(document.expectation, document.data(), _catalog())


@pytest.mark.parametrize("name", _names(ION_1_1, "Ion 1.1"))
def test_ion_1_1_is_refused(name: str) -> None:
    with pytest.raises(ionfast.IonError, match=r"Ion version|1\.1"):
        ionfast.loads_all(ION_1_1[name].data(), catalog=_catalog())
