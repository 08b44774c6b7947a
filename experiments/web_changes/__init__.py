"""How pages change: the tables and figures of Adar et al. 2009, reproduced."""
