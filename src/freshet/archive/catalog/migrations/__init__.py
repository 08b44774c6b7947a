"""The catalog's migrations, oldest first; each says how one version becomes the next."""
