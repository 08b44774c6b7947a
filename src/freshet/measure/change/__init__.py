"""Compare two versions of a page: changed words and links, similarity, differences as text."""
