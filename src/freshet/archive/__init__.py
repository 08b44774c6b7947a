"""Storage of a collection: WARC files, catalog, importers and exporters."""
