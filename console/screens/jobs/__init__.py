"""The jobs screen, its lists, forms and reviews."""
