"""The embedded store: one writer, blobs, the search index, caches, upkeep."""
