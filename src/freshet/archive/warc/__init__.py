"""WARC files: build, write, read, check and recover records."""
