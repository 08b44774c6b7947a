"""WARC files: building records, writing, reading, checking and recovering them."""
