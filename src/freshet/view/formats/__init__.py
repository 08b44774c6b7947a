"""Readers of document formats: HTML, feeds, sitemaps, JSON, Markdown, plain text, OPML."""
