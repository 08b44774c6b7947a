"""The dashboard and its JSON API: parse a request, call the library, show the result."""
