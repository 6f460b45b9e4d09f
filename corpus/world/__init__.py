"""An invented world: a seeded generator of documents, facts and questions that no model has read before."""
