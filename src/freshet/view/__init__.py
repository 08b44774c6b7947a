"""Parse one snapshot into a View: URL, text, terms, links and DOM rows."""
