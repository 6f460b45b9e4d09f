"""The store: documents, their versions, chunks and embeddings in SQLite: the truth that vectors are derived from."""
