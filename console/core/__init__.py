"""Reach a core: own one, attach to one, defer one until it is open, read what is stored."""
