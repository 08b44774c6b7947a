"""Threads in a live crawl: their posts, the pages on which they continue, and the next post."""
