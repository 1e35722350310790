"""Random worlds of machines, lived through on every engine: what differs is a fault of the faster one.

`worlds.py` draws a world from a seed: definition, how callbacks are given, what happens. `life.py` lives
through it on one engine and writes down everything that a program could notice; `callbacks.py` and
`happening.py` are what it does from inside and from outside. `telling.py` makes plain data of what was
noticed. `comparing.py` lives through a world on two engines and finds the first difference, in as few steps
as it takes.
"""
