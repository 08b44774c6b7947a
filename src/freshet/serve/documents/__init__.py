"""The documents of the dashboard: what each page shows, read from the collection."""
