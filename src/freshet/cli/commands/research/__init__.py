"""Commands that analyse changes, back-test policies and learn formulas."""
