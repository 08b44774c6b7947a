"""Real pages from nothing known, in continuous time, with the days on which whole sites change."""
