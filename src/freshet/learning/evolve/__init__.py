"""Learning, from a trace, the formula by which a crawl ranks its pages."""
