"""The catalog in SQL that SQLite and PostgreSQL both understand, one family of tables a module."""
