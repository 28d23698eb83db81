"""`pm`, installing and policies."""
