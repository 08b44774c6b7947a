"""Pages as vectors of their meaning, the nearest pages, and averages over them.

Dang et al. (2023), look back, look around (LBLA), section 5.2. The steps, each a call:

    model = fit_semantic_model(grid.terms, grid.vocabulary)    # words -> 192 dimensions
    vectors = model.transform(grid.terms, grid.vocabulary)     # also for pages found later
    index = ExactIndex(vectors)                                # or ApproximateIndex(vectors)
    related = index.neighbours(30)                             # RelatedPages
    averages = neighbour_averages(related, values)             # values: [pages, features]

The model, the groups of dimensions and the neighbours are never computed again for pages that are
found later: ``transform``, ``index.add`` and ``index.neighbours(30, known=related)`` extend them.
"""
