"""Commands that crawl, plan and explain visits, and keep the crawl running."""
