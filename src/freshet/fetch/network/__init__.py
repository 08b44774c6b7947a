"""Connections: resolved addresses, certificates, proxies, limits and failures."""
