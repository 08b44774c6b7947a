"""From forecasts to plans: page states, posteriors, values, and the policies.

All policies share ``page_states`` (the state of pages, in the growable arrays of ``columns``),
``top_k`` (the k highest values, with tie breaks) and ``policies`` (every policy by its name). The
published rules are in ``ranking_rules``. ``formula_policy`` ranks pages by a formula,
``extended_formula_policy`` by a formula that uses the forecast too, and ``model_file`` reads and
writes learned formulas. ``allocation`` computes optimal visit rates for known change rates.

The default policy, from a look to a choice: ``posterior`` (the change rate of a page, given its
looks), ``prior`` (the change rates of its host, site and collection), ``lookaround`` (the recent
pace of its directory), ``forecast_model`` (all three together), ``objectives`` (the value of a
look), ``bayes_policy`` (the pages to visit) and ``explanation`` (the figures behind a value).

``bursts`` has the rules of bursts, which are looks minutes apart, and ``burst_queue`` their order.
"""
