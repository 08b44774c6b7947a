"""Reading text and attributes in serialised markup."""
