"""What people hold: a collection, its pages, and one module per operation on them."""
