"""Results as data: the operator's JSON Schema, and whether what a model gives fits it."""
