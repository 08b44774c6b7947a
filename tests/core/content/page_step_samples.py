"""Small generated pages by steps for tests."""

import numpy as np

from freshet.core.content.link_graph import build_link_graph
from freshet.core.content.new_links import NewLinks
from freshet.core.content.page_steps import PageMeasures, PageSteps, UrlDepths
from freshet.core.types import Float32Array


def generated_steps(
    page_count: int = 60, step_count: int = 7, *, seed: int = 1, missing: float = 0.0
) -> PageSteps:
    """Return pages of ten sites whose rates of new links differ by site and by page."""
    rng = np.random.default_rng(seed)
    shape = page_count, step_count
    sites = np.arange(page_count) % 10
    rates = rng.gamma(2.0, 0.3, 10)[sites] * rng.gamma(2.0, 0.5, page_count)
    known = rng.random(shape) >= missing
    countable = known & np.roll(known, 1, axis=1)
    countable[:, 0] = False

    def column(values: Float32Array) -> Float32Array:
        return np.where(known, values, np.nan).astype(np.float32)

    def counts(share: float) -> Float32Array:
        values = rng.poisson(share * rates[:, None], shape)
        return np.where(countable, values, np.nan).astype(np.float32)

    internal, external = counts(1.0), counts(0.3)
    sizes = rng.lognormal(6, 1, (page_count, 1)) * rng.uniform(0.9, 1.1, shape)
    unranked = np.full(shape, np.nan, np.float32)
    links = rng.integers(0, page_count, (2, step_count, page_count * 4))
    vectors = rng.normal(size=(page_count, 8)).astype(np.float32)
    return PageSteps(
        page_names=tuple(f"https://site{site}.test/{page}" for page, site in enumerate(sites)),
        sites=sites.astype(np.uint64),
        times=np.arange(step_count) * 7.0,
        known=known,
        url_depths=UrlDepths(
            rng.integers(0, 4, page_count).astype(np.float32), np.zeros(page_count, np.float32)
        ),
        measures=PageMeasures(
            column(sizes * 20),
            column(sizes),
            column(np.sqrt(sizes)),
            column(rates[:, None] * 20 + rng.integers(0, 5, shape)),
            column(rng.integers(0, 9, shape).astype(np.float32)),
            unranked,
            unranked,
        ),
        new_links=NewLinks(internal, external, internal, external),
        changed=np.where(countable, internal + external > 0, np.nan).astype(np.float32),
        link_graphs=tuple(
            build_link_graph(links[0, step], links[1, step], page_count)
            for step in range(step_count)
        ),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        vector_step=0,
    )
