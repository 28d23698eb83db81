"""Pictures for a model: decoded, scaled, with the numbers of elements drawn on."""
