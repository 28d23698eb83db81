"""Pictures as the cells and images of a terminal."""
