"""From forecasts to plans: page states, posteriors, values, and the policies.

All policies share ``page_states`` (the state of pages, in the growable arrays of ``columns``),
``top_k`` (the k highest values, with tie breaks) and ``policies`` (every policy by its name). The
published rules are in ``rules``, and the policies that rank pages by a formula in ``formulas``;
``model_file`` reads and writes learned formulas.

The default policy, from a look to a choice: ``posterior`` (the change rate of a page, given its
looks), ``prior`` (the change rates of its host, site and collection), ``hosts`` (changes of many
pages of a host at once, and the hours and weekdays of a host), ``forecast_model`` (all of these
together), ``objectives`` (the value of a look), ``due_pages`` and ``sentinels`` (which pages to
score), ``bayes_policy`` (the pages to visit), ``mixture`` (the safety net around it) and
``explanation`` (the figures behind a value).

``bursts`` has the rules of bursts, which are looks minutes apart, and their queue.
"""
