"""The live crawl on Scrapy: requests, politeness, address guard, limits and observations."""

# Imported before all others, because it inspects every frame of the imports under way.
import scrapy.core.downloader.contextfactory  # noqa: F401
