"""Files of the models that a collection has learned: written whole, read strictly, no pickle."""
