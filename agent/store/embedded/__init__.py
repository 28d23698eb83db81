"""The embedded store: writer, blobs, search index, caches, upkeep."""
