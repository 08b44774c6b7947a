"""An observation becomes an acknowledged visit; stored pages are read and repaired."""
