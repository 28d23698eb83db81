"""Gestures beyond one press of an element: points, drags, keypads, links, the clipboard."""
