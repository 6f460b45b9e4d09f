"""Everything that is read from the store, as functions of a connection; a file for each noun."""

from indexer.store.queries.of_chunks import (
    chunk_ids_of,
    chunks_of_version,
    count_live_chunks,
    live_chunk_ids,
    passages,
)
from indexer.store.queries.of_collections import collection, collections
from indexer.store.queries.of_documents import (
    count_documents,
    document,
    document_ids,
    document_sources,
    documents,
    documents_of_source_hashes,
    version_stamp,
    version_stamps,
)
from indexer.store.queries.of_files import file_stamps, file_stamps_of
from indexer.store.queries.of_rebuilds import (
    chunk_texts_after,
    count_chunks,
    count_staged,
    count_versions,
    last_staged,
    pending_rebuild,
    staged_chunks,
    versions_after,
)
from indexer.store.queries.of_vectors import (
    count_live_vectors,
    known_vectors,
    live_vector_blocks,
    vectors_of,
)
from indexer.store.queries.of_versions import (
    signatures,
    signatures_after,
    signatures_of,
    texts_of,
    version_as_of,
    versions,
)

__all__ = [
    "chunk_ids_of",
    "chunk_texts_after",
    "chunks_of_version",
    "collection",
    "collections",
    "count_chunks",
    "count_documents",
    "count_live_chunks",
    "count_live_vectors",
    "count_staged",
    "count_versions",
    "document",
    "document_ids",
    "document_sources",
    "documents",
    "documents_of_source_hashes",
    "file_stamps",
    "file_stamps_of",
    "known_vectors",
    "last_staged",
    "live_chunk_ids",
    "live_vector_blocks",
    "passages",
    "pending_rebuild",
    "signatures",
    "signatures_after",
    "signatures_of",
    "staged_chunks",
    "texts_of",
    "vectors_of",
    "version_as_of",
    "version_stamp",
    "version_stamps",
    "versions",
    "versions_after",
]
