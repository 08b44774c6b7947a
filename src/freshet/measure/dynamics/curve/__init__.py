"""The change curve of a page, its knot and its shape."""
