"""Searches in a process that has loaded another libtorch, as `import torch` does, before or after that of the wheel.

Usage: two_libtorches.py LIBTORCH_CPU_SO before|after
"""

import ctypes
import sys

library, order = sys.argv[1:]
if order == "before":
    ctypes.CDLL(library)

import alveare  # noqa: E402

if order == "after":
    ctypes.CDLL(library)
position = alveare.Game("dama").new_position()
result = alveare.search(position, alveare.Network("ready", game="dama"), simulations=10)
assert result.simulations == 10, result
