#!/usr/bin/env python3
"""Reads what `learner export --samples FILE` writes, with Python's standard library alone.

The format is safetensors: eight bytes with the header's length, a JSON header that says where each tensor lies, then the
numbers. docs/export.md describes the tensors. With numpy and safetensors, `safetensors.numpy.load_file` does the same.

Usage: read_samples.py FILE [POSITION]
"""

import json
import sys
from array import array

ARRAY_TYPES = {"F32": "f", "I32": "i"}


class Samples:
    """Positions with their planes, legal moves and targets."""

    def __init__(self, path):
        with open(path, "rb") as file:
            header_length = int.from_bytes(file.read(8), "little")
            self.header = json.loads(file.read(header_length))
            self.data_start = 8 + header_length
        self.path = path
        self.metadata = self.header.pop("__metadata__", {})

    def shape(self, name):
        """The tensor's length in each dimension."""
        return self.header[name]["shape"]

    def tensor(self, name, first=0, count=None):
        """`count` numbers of a tensor from number `first` on; all that follow if no count is given."""
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        numbers = array(ARRAY_TYPES[entry["dtype"]])
        if count is None:
            count = (end - begin) // numbers.itemsize - first
        with open(self.path, "rb") as file:
            file.seek(self.data_start + begin + first * numbers.itemsize)
            numbers.fromfile(file, count)
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def planes(self, position):
        """The planes of one position: a list of rows for each plane."""
        _, plane_count, row_count, column_count = self.shape("planes")
        size = plane_count * row_count * column_count
        numbers = self.tensor("planes", position * size, size)
        rows = [numbers[at : at + column_count].tolist() for at in range(0, size, column_count)]
        return [rows[at : at + row_count] for at in range(0, len(rows), row_count)]

    def moves(self, position):
        """(policy index, share of the policy target) of each legal move of one position."""
        first, end = self.tensor("move_starts", position, 2)
        indices = self.tensor("policy_indices", first, end - first)
        return list(zip(indices, self.tensor("policy_targets", first, end - first)))


def main(path, position=0):
    samples = Samples(path)
    position_count = samples.shape("planes")[0]
    print(f"game: {samples.metadata['game']}")
    print(f"{position_count} positions, planes {samples.shape('planes')[1:]}, {samples.metadata['policy_size']} policy indices")
    print(f"position {position}: value target {samples.tensor('value_targets', position, 1)[0]:+.2f}")
    for index, share in sorted(samples.moves(position), key=lambda move: -move[1]):
        print(f"  policy index {index:5}  {share:6.1%}")
    occupied = [number for number, rows in enumerate(samples.planes(position)) if any(map(any, rows))]
    print(f"  planes that are not empty: {occupied}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
