"""The tables of the store.

A chunk is *live* while its version is the current one of its document. Nothing but the view `live_chunks` is searched,
so replacing or deleting a document takes effect with the transaction that does it.
"""

LEXICAL_TABLE = 'CREATE VIRTUAL TABLE lexical USING fts5 (terms, tokenize = "unicode61 remove_diacritics 2")'
CHUNK_FIELDS = """start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    text TEXT NOT NULL,
    context TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    page INTEGER,
    text_hash BLOB NOT NULL"""
"""What is kept of a chunk, stored or staged."""

DELETED_TABLE = """CREATE TABLE IF NOT EXISTS deleted_collections (
    name TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    generation INTEGER NOT NULL
) STRICT"""
"""See `indexer.store.deleted`. Made when it is first needed, so that older stores get it too."""

TABLES = f"""
CREATE TABLE collections (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0,
    published_revision INTEGER NOT NULL DEFAULT 0,
    published_count INTEGER NOT NULL DEFAULT 0,
    published_last INTEGER NOT NULL DEFAULT 0,
    min_score REAL
) STRICT;
CREATE TABLE documents (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
    id TEXT NOT NULL,
    version INTEGER,
    UNIQUE (collection, id)
) STRICT;
CREATE UNIQUE INDEX documents_version ON documents (version);
CREATE TABLE versions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    text TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    title TEXT NOT NULL,
    effective TEXT,
    authority INTEGER NOT NULL,
    supersedes TEXT,
    metadata TEXT NOT NULL,
    source TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    recipe TEXT NOT NULL,
    indexed TEXT NOT NULL,
    ended TEXT,
    signature BLOB,
    layout TEXT NOT NULL
) STRICT;
CREATE INDEX versions_document ON versions (document);
CREATE INDEX versions_content_hash ON versions (content_hash);
CREATE INDEX versions_source_hash ON versions (source_hash);
CREATE INDEX versions_supersedes ON versions (supersedes) WHERE supersedes IS NOT NULL;
CREATE TABLE metadata (
    version INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (version, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_key ON metadata (key, value);
CREATE TRIGGER versions_added AFTER INSERT ON versions WHEN new.metadata != '{{}}' BEGIN
    INSERT INTO metadata SELECT new.key, key, value FROM json_each(new.metadata);
END;
CREATE TABLE files (
    collection TEXT NOT NULL REFERENCES collections (name) ON DELETE CASCADE,
    source TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    source_hash TEXT NOT NULL,
    recipe TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (collection, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    {CHUNK_FIELDS}
) STRICT;
CREATE INDEX chunks_version ON chunks (version);
CREATE INDEX chunks_text_hash ON chunks (text_hash);
CREATE TABLE embeddings (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;
{LEXICAL_TABLE};
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM lexical WHERE rowid = old.id;
END;
CREATE TABLE rebuilds (
    collection TEXT PRIMARY KEY REFERENCES collections (name) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    recipe TEXT NOT NULL
) STRICT;
CREATE TABLE staged_vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
) STRICT;
CREATE TABLE staged_versions (
    version INTEGER PRIMARY KEY REFERENCES versions (key) ON DELETE CASCADE
) STRICT;
CREATE TABLE staged_chunks (
    key INTEGER PRIMARY KEY,
    version INTEGER NOT NULL REFERENCES staged_versions (version) ON DELETE CASCADE,
    {CHUNK_FIELDS},
    vector BLOB NOT NULL
) STRICT;
CREATE INDEX staged_chunks_version ON staged_chunks (version);
CREATE VIEW stored_chunks AS
    SELECT c.id, c.start, c."end", c.tokens, c.text, c.context, c.heading_path, c.page, d.id AS document_id,
        d.collection, v.title, v.source, v.key AS version, v.authority, v.effective, v.metadata
    FROM chunks c JOIN versions v ON v.key = c.version JOIN documents d ON d.key = v.document;
CREATE VIEW live_chunks AS
    SELECT s.* FROM stored_chunks s JOIN documents d ON d.version = s.version;
"""
