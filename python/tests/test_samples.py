"""Samples: arrays of the right shapes and sums, from data sets of both games and from games that people played."""

import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np

import alveare
from support import DATA_SETS, GAMES, HUMAN_GAMES


class Samples(unittest.TestCase):
    def check(self, samples: alveare.Samples) -> alveare.SampleBatch:
        game, count, batch = samples.game, len(samples), samples.batch()
        self.assertEqual((batch.planes.shape, batch.planes.dtype.name), ((count, *game.plane_shape), "float32"))
        starts = batch.move_starts
        self.assertEqual((len(starts), starts[0], starts[-1]), (count + 1, 0, len(batch.policy_indices)))
        np.testing.assert_allclose(np.add.reduceat(batch.policy_targets, starts[:-1]), 1.0, atol=1e-5)
        dense = batch.policy()
        self.assertEqual(dense.shape, (count, game.policy_size))
        np.testing.assert_allclose(dense.sum(axis=1), 1.0, atol=1e-5)
        rows = np.repeat(np.arange(count), np.diff(starts))
        np.testing.assert_array_equal(dense[rows, batch.policy_indices], batch.policy_targets)
        self.assertLessEqual(set(batch.value_targets.tolist()), {-1.0, 0.0, 1.0})
        for number in range(0, count, 7):
            position = samples.position(number)
            np.testing.assert_array_equal(position.planes(), batch.planes[number])
            indices = batch.policy_indices[starts[number] : starts[number + 1]]
            self.assertEqual(position.policy_indices().tolist(), indices.tolist())
            self.assertIsNone(position.moves)
        return batch

    def test_data_sets(self) -> None:
        for name, path in DATA_SETS.items():
            samples = alveare.read_samples(path)
            self.assertEqual(samples.game.name, name)
            batch = self.check(samples)
            self.assertEqual(set(batch.games.tolist()), {0, 1})
            self.assertTrue((np.abs(batch.search_values) <= 1).all())
            with self.assertRaisesRegex(ValueError, "samples of"):
                alveare.read_samples(path, game={"hive": "dama", "dama": "hive"}[name])

    def test_human_games(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = alveare.read_samples(HUMAN_GAMES)
            larger = alveare.read_samples(HUMAN_GAMES, game=alveare.Game("hive", frame=26))
        batch = self.check(samples)
        self.assertTrue(np.isnan(batch.search_values).all())
        # One move of each position was played.
        self.assertEqual(np.count_nonzero(batch.policy_targets), len(samples))
        self.assertEqual((len(larger), larger.game.plane_shape), (len(samples), (24, 26, 26)))

    def test_some_samples_are_made_in_their_order(self) -> None:
        samples = alveare.read_samples(DATA_SETS["dama"])
        everything, some = samples.batch(), samples.batch(np.array([5, 0, 5]))
        np.testing.assert_array_equal(some.planes, everything.planes[[5, 0, 5]])
        self.assertEqual(samples.batch([]).planes.shape, (0, 13, 8, 8))
        with self.assertRaisesRegex(IndexError, f"sample {len(samples)} of {len(samples)}"):
            samples.batch([len(samples)])

    def test_symmetries_turn_the_board_and_keep_the_rest(self) -> None:
        samples = alveare.read_samples(DATA_SETS["hive"])
        plain, turned, again = samples.batch(), samples.batch(symmetry_seed=1), samples.batch(symmetry_seed=1)
        np.testing.assert_array_equal(turned.planes, again.planes)
        self.assertTrue((turned.planes != plain.planes).any())
        np.testing.assert_array_equal(turned.value_targets, plain.value_targets)
        np.testing.assert_array_equal(np.sort(turned.policy_targets), np.sort(plain.policy_targets))

    def test_a_game_that_was_played_here_is_read(self) -> None:
        position = GAMES[0].new_position()
        while position.result is None:
            position = position.play(position.legal_moves()[-1])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.uhp"
            path.write_text(position.text + "\n")
            batch = self.check(alveare.read_samples(path))
        self.assertEqual(len(batch.games), position.ply)

    def test_files_are_refused(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "/no/such"):
            alveare.read_samples("/no/such")
        with self.assertRaisesRegex(ValueError, "no positions to learn from"):
            alveare.read_samples(__file__)
        with self.assertRaisesRegex(ValueError, "Hive only"):
            alveare.read_samples(HUMAN_GAMES, game="dama")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cut.dataset"
            whole = DATA_SETS["dama"].read_bytes()
            path.write_bytes(whole[:-20])
            with self.assertWarnsRegex(UserWarning, "are lost"):
                self.assertEqual(len(alveare.read_samples(path)), 0)
            path.write_bytes(whole[:20])
            with self.assertRaisesRegex(OSError, "cut off inside its header"):
                alveare.read_samples(path)


if __name__ == "__main__":
    unittest.main()
