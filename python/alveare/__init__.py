"""Rules, networks, search and samples of Hive and Italian draughts.

    >>> import alveare
    >>> position = alveare.Game("hive", type="Base+MLP").new_position()
    >>> position.play("wL").side_to_move
    'black'

Both games have one shape: a Game makes Positions, which never change; a Network evaluates them, search searches them,
and read_samples reads what networks learn from as arrays of numpy.
"""

from importlib.metadata import version

from ._native import Game, Network, Position, SampleBatch, Samples, SearchResult, read_samples, search

__version__ = version("alveare")
__all__ = ["Game", "Network", "Position", "SampleBatch", "Samples", "SearchResult", "read_samples", "search"]
