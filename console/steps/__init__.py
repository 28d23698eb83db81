"""Stored steps and sessions for reading: records, frames, texts, pages of a list."""
