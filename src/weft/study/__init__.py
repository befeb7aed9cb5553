"""Studies: one verb at many points, on the cores of one machine or of a cluster of them."""
