"""The wire formats of the remote providers, one file each; `provider.py` defines their shape.

`registry.py`, one level up, lists them and imports each when it is first used.
"""
