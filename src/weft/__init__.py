"""weft: what should this network do?"""
