"""Features of pages for models of new links: look back in time, look around at related pages.

Each base feature is declared once (``base_features``). Its history and its averages over related
pages are derived (``taxonomy``) and computed at any step from the past only (``feature_table``).
"""
