"""Forecasts become plans: page states, posteriors, values, budgets and the policies.

What all policies share: ``states`` (columns of what is remembered of pages, in ``columns`` that
grow), ``pick`` (the k best, ties by lot), ``policies`` (each by its name), ``allocate`` (the best
visit rates where change rates are known). The classic ones are in ``rules``; those that rank by a
formula in ``ranked``, and ``evolve`` searches for such formulas.

The default policy, from a look to a choice: ``posterior`` (what looks say of a page's change rate,
on the grid of a ``cadence``), ``prior`` (what its host, site and collection say before), then
``lookaround`` (how fast its directory has been changing since it was seen), ``forecast`` (all three
together), ``value`` (what a look is worth for an objective), ``bayes`` (which pages to visit), and
``explain`` (why).
"""
