"""What several tests use."""

from __future__ import annotations

import csv
from pathlib import Path

import alveare

REPOSITORY = Path(__file__).parents[2]
TESTDATA = REPOSITORY / "testdata"
HUMAN_GAMES = REPOSITORY / "samples" / "tests" / "human_games" / "games.uhp"
# Two games of each, by `alveare selfplay --network ready --game GAME --games 2 --simulations 8 --out FILE`.
DATA_SETS = {name: Path(__file__).parent / "data" / f"{name}.dataset" for name in ("hive", "dama")}
GAMES = [alveare.Game("hive"), alveare.Game("dama")]


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a table in testdata."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def some_positions(game: alveare.Game, count: int = 12) -> list[alveare.Position]:
    """Positions of one game, each two plies after the one before: always the same."""
    positions = [game.new_position()]
    for step in range(2 * count - 2):
        moves = positions[-1].legal_moves()
        positions.append(positions[-1].play(moves[(7 * step + 3) % len(moves)]))
    return positions[::2]


def before_a_win(game: alveare.Game) -> alveare.Position:
    """A position in which the side to move can win at once, and another move does not."""
    if game.name == "dama":
        return game.new_position("W:W22,23:B18")
    for line in HUMAN_GAMES.read_text(encoding="utf-8").splitlines():
        game_type, _, _, *moves = line.split(";")
        position = alveare.Game("hive", type=game_type).new_position(moves=moves[:-1])
        if position.play(moves[-1]).result in (-1, 1):
            return position
    raise AssertionError("no game ends with a surrounded queen")
