"""The catalog of a collection: pages, visits, changes and links in a SQL database."""
