"""Rules: perft, positions that never change, texts that come back, and what is refused."""

import pickle
import unittest

import alveare
from support import GAMES, TESTDATA, some_positions, table


def perft(position: alveare.Position, depth: int) -> int:
    moves = position.legal_moves()
    return len(moves) if depth == 1 else sum(perft(position.play(move), depth - 1) for move in moves)


class Perft(unittest.TestCase):
    def test_hive(self) -> None:
        counted = 0
        for row in table(TESTDATA / "hive" / "perft.tsv"):
            if 0 < int(row["depth"]) <= 3:
                position = alveare.Game("hive", type=row["gametype"]).new_position()
                self.assertEqual(perft(position, int(row["depth"])), int(row["nodes"]), row)
                counted += 1
        self.assertEqual(counted, 3 * 8, "three depths of each type")

    def test_draughts(self) -> None:
        game, counted = alveare.Game("dama"), 0
        for row in table(TESTDATA / "dama" / "perft.tsv"):
            # Several ways to capture that come to the same are one move here.
            if row["id"] == "start" and int(row["depth"]) <= 5:
                self.assertEqual(perft(game.new_position(row["fen"]), int(row["depth"])), int(row["nodes"]), row)
                counted += 1
        self.assertEqual(counted, 5)


class Positions(unittest.TestCase):
    def test_playing_leaves_a_position_as_it_was(self) -> None:
        for game in GAMES:
            for position in some_positions(game):
                before = (position.text, position.legal_moves(), str(position), hash(position))
                for move in position.legal_moves():
                    after = position.play(move)
                    self.assertEqual((after.ply, after.moves), (position.ply + 1, position.moves + [move]))
                    self.assertNotEqual(after, position)
                self.assertEqual((position.text, position.legal_moves(), str(position), hash(position)), before)

    def test_texts_come_back(self) -> None:
        for game in GAMES:
            for position in some_positions(game):
                for again in (game.new_position(position.text), game.new_position(position.start, position.moves)):
                    self.assertEqual(again.text, position.text)
                    self.assertEqual(again.legal_moves(), position.legal_moves())
                    self.assertEqual(again.side_to_move, position.side_to_move)
        hive, dama = GAMES
        text = "Base+MLP;InProgress;White[2];wS1;bS1 wS1-"
        self.assertEqual(hive.new_position(text).moves, ["wS1", "bS1 wS1-"])
        begun = dama.new_position("B:W21,K7:B3", moves=["3-6"])
        self.assertEqual((begun.start, begun.moves, begun.side_to_move), ("B:W21,K7:B3", ["3-6"], "white"))

    def test_equal_positions_are_one_key(self) -> None:
        hive, dama = GAMES
        moves = ["wS1", "bS1 wS1-", "wA1 -wS1", "bA1 bS1-", "wQ /wS1", "bQ bS1/"]
        one = hive.new_position(moves=moves)
        other = hive.new_position(moves=[*moves[:2], moves[4], moves[3], moves[2], moves[5]])
        self.assertNotEqual(one.moves, other.moves)
        self.assertEqual(len({one, other, hive.new_position()}), 2)
        self.assertNotEqual(one, alveare.Game("hive", ply_limit=99).new_position(moves=moves))
        self.assertNotEqual(hive.new_position(), dama.new_position())
        # A network of draughts also sees the two plies before.
        one, other = (dama.new_position(moves=moves) for moves in (["21-17", "12-16", "22-18"], ["22-18", "12-16", "21-17"]))
        self.assertEqual(one.text, other.text)
        self.assertNotEqual(one, other)

    def test_positions_can_be_pickled(self) -> None:
        for game in GAMES:
            self.assertEqual(pickle.loads(pickle.dumps(game)), game)
            position = some_positions(game)[-1]
            again = pickle.loads(pickle.dumps(position))
            self.assertEqual((again, again.moves), (position, position.moves))

    def test_results_are_those_of_white(self) -> None:
        dama = alveare.Game("dama")
        for text, move, result in [("W:W22:B18", "22x13", 1), ("B:W22:B18", "18x27", -1)]:
            position = dama.new_position(text)
            self.assertIsNone(position.result)
            over = position.play(move)
            self.assertEqual((over.result, over.is_cut_off, over.legal_moves()), (result, False, []))
        cut_off = alveare.Game("dama", ply_limit=1).new_position(moves=["21-17"])
        self.assertEqual((cut_off.result, cut_off.is_cut_off), (0, True))

    def test_a_board_is_drawn(self) -> None:
        hive, dama = GAMES
        self.assertIn("│wS1│bS1│", str(hive.new_position("Base+MLP;InProgress;White[2];wS1;bS1 wS1-")))
        self.assertIn("│ 1 ●", str(dama.new_position()))
        self.assertEqual(repr(dama.new_position("W:W22:B18")), "<Position W:W22:B18>")


class Planes(unittest.TestCase):
    def test_planes_and_policy_indices_have_the_shape_of_the_game(self) -> None:
        self.assertEqual([game.plane_shape for game in GAMES], [(24, 16, 16), (13, 8, 8)])
        self.assertEqual([game.policy_size for game in GAMES], [5488, 1034])
        self.assertEqual(alveare.Game("hive", frame=26).plane_shape, (24, 26, 26))
        for game in GAMES:
            for position in some_positions(game):
                planes, indices = position.planes(), position.policy_indices()
                self.assertEqual((planes.shape, planes.dtype.name), (game.plane_shape, "float32"))
                self.assertEqual(indices.tolist(), [position.policy_index(move) for move in position.legal_moves()])
                self.assertEqual(len(set(indices)), len(indices))
                self.assertTrue((indices < game.policy_size).all())


class Refusals(unittest.TestCase):
    def refused(self, what: str, call, *arguments, **keywords) -> None:
        with self.assertRaises(ValueError) as refused:
            call(*arguments, **keywords)
        self.assertIn(what, str(refused.exception))
        self.assertNotIn("\n", str(refused.exception))

    def test_games(self) -> None:
        self.refused("chess", alveare.Game, "chess")
        self.refused('the games are "hive" and "dama"', alveare.Game, "tictactoe")
        self.refused("Base+X", alveare.Game, "hive", type="Base+X")
        self.refused("game_type", alveare.Game, "dama", type="Base")
        self.refused("frame: 7 is not in 8..=32", alveare.Game, "hive", frame=7)
        with self.assertRaises(OverflowError):
            alveare.Game("hive", frame=-1)

    def test_moves_and_texts(self) -> None:
        hive, dama = GAMES
        self.refused('illegal move "wQ" at ply 0', hive.new_position().play, "wQ")
        self.refused("wS1 is not on the board", hive.new_position().play, "wA1 wS1-")
        self.refused('cannot read move "e4"', dama.new_position().play, "e4")
        self.refused("21-18", dama.new_position().policy_index, "21-18x")
        self.refused('illegal move "wA1 bS1-" at ply 2', hive.new_position, moves=["wS1", "bS1 wS1-", "wA1 bS1-"])
        self.refused("a game of Base cannot be replayed as Base+MLP", hive.new_position, "Base")
        self.refused("a position is written like", dama.new_position, "W:W21")
        over = dama.new_position("W:W22:B18").play("22x13")
        self.refused("after the end of the game", over.play, "13-9")


if __name__ == "__main__":
    unittest.main()
