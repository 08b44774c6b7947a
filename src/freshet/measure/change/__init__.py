"""Two views of a page compared: similarity, significance, words and links."""
