"""Networks and searches: they agree with each other, find wins, take functions of Python, and let other threads run."""

import _thread
import signal
import threading
import unittest
from pathlib import Path

import numpy as np

import alveare
from support import GAMES, before_a_win, some_positions

NETWORKS = {game.name: alveare.Network("ready", game=game) for game in GAMES}


class Networks(unittest.TestCase):
    def test_priors_are_of_the_legal_moves_and_values_are_in_range(self) -> None:
        for game in GAMES:
            positions = some_positions(game)
            for position, (priors, value) in zip(positions, NETWORKS[game.name].evaluate(positions)):
                self.assertEqual(list(priors), position.legal_moves())
                self.assertAlmostEqual(sum(priors.values()), 1.0, places=5)
                self.assertTrue(-1 <= value <= 1)
            self.assertEqual(NETWORKS[game.name].evaluate([]), [])

    def test_a_batch_says_what_each_position_alone_does(self) -> None:
        for game in GAMES:
            network, positions = NETWORKS[game.name], some_positions(game)
            # More positions than are computed at once.
            for position, (priors, value) in zip(positions, network.evaluate(positions * 40)[-len(positions) :]):
                ((alone, value_alone),) = network.evaluate([position])
                np.testing.assert_allclose(list(priors.values()), list(alone.values()), atol=1e-4)
                self.assertAlmostEqual(value, value_alone, places=4)

    def test_a_network_sees_the_planes_and_nothing_else(self) -> None:
        for game in GAMES:
            network, positions = NETWORKS[game.name], some_positions(game)
            for position in positions:
                # Its text says no more of a position of draughts than where the pieces stand.
                again = game.new_position(position.text)
                are_alike = (position.planes() == again.planes()).all()
                ((_, value),), ((_, value_again),) = network.evaluate([position]), network.evaluate([again])
                self.assertEqual(value == value_again, are_alike, position)
            planes = {position.planes().tobytes() for position in positions}
            self.assertEqual(len({value for _, value in network.evaluate(positions)}), len(planes))

    def test_a_network_of_hive_plays_every_type(self) -> None:
        types = ["Base", "Base+M", "Base+LP", "Base+MLP"]
        positions = [alveare.Game("hive", type=name).new_position() for name in types]
        self.assertEqual([len(priors) for priors, _ in NETWORKS["hive"].evaluate(positions)], [4, 5, 6, 7])

    def test_networks_are_named_and_refused(self) -> None:
        self.assertEqual(NETWORKS["dama"].game.name, "dama")
        self.assertEqual(alveare.Network("ready").game.type, "Base+MLP")
        file = Path(__file__).parents[2] / "networks" / "dama.safetensors"
        self.assertEqual(alveare.Network(file).game, NETWORKS["dama"].game)
        with self.assertRaisesRegex(ValueError, "plays Italian draughts .*, this wants Hive"):
            alveare.Network(file, game="hive")
        with self.assertRaisesRegex(FileNotFoundError, "network /no/such: cannot read it: No such file"):
            alveare.Network("/no/such")
        with self.assertRaisesRegex(OSError, "not a network file"):
            alveare.Network(__file__)
        with self.assertRaisesRegex(ValueError, 'device "gpu"'):
            alveare.Network("ready", device="gpu")
        with self.assertRaisesRegex(RuntimeError, "device cuda:0: this package has no libraries for GPUs"):
            alveare.Network("ready", device="cuda:0")
        with self.assertRaisesRegex(ValueError, "the position is of another game"):
            NETWORKS["hive"].evaluate([GAMES[1].new_position()])


class Searches(unittest.TestCase):
    def test_the_priors_of_a_search_are_those_of_the_network(self) -> None:
        for game in GAMES:
            for position in some_positions(game, 4):
                ((priors, value),) = NETWORKS[game.name].evaluate([position])
                result = alveare.search(position, NETWORKS[game.name], simulations=2, batch_size=1)
                self.assertEqual(set(result.priors), set(priors))
                for move, prior in result.priors.items():
                    self.assertAlmostEqual(prior, priors[move], places=5)

    def test_a_search_counts_its_simulations(self) -> None:
        for game in GAMES:
            position = game.new_position()
            for network in (None, NETWORKS[game.name]):
                result = alveare.search(position, network, simulations=100)
                # The first one is of the position itself.
                self.assertEqual((result.simulations, sum(result.visits.values())), (100, 99))
                self.assertEqual(set(result.visits), set(position.legal_moves()))
                self.assertAlmostEqual(sum(result.policy.values()), 1.0, places=5)
                self.assertEqual(result.best_move, max(result.visits, key=result.visits.get))
                self.assertEqual(result.principal_variation[0], result.best_move)
                self.assertEqual(position.moves, [], "the position that was searched is as it was")
                game.new_position(moves=result.principal_variation)

    def test_a_win_in_one_is_found(self) -> None:
        for game in GAMES:
            position = before_a_win(game)
            for root in ("puct", "gumbel"):
                result = alveare.search(position, NETWORKS[game.name], simulations=800, root=root)
                won = 1 if position.side_to_move == "white" else -1
                self.assertEqual((position.play(result.best_move).result, result.proof, result.value), (won, "win", 1.0))

    def test_the_same_seed_gives_the_same_result(self) -> None:
        keywords = dict(simulations=60, dirichlet_alpha=0.3, temperature=1.0)
        for game in GAMES:
            position = game.new_position()
            results = [alveare.search(position, NETWORKS[game.name], seed=seed, **keywords) for seed in (1, 1, 2)]
            self.assertEqual((results[0].visits, results[0].best_move), (results[1].visits, results[1].best_move))
            self.assertNotEqual(results[0].priors, results[2].priors)

    def test_settings_are_refused(self) -> None:
        position = GAMES[0].new_position()
        for keywords, what in [
            (dict(simulations=1), "search.simulation_count: 1 is not in 2"),
            (dict(exploration=-1.0), "search.exploration: -1"),
            (dict(batch_size=0), "search.leaves_per_game: 0"),
            (dict(root="ucb"), "ucb"),
        ]:
            with self.assertRaisesRegex(ValueError, what):
                alveare.search(position, **keywords)
        with self.assertRaisesRegex(ValueError, "the game is over"):
            alveare.search(GAMES[1].new_position("W:W22:B18").play("22x13"))
        with self.assertRaisesRegex(ValueError, "the position is of another game"):
            alveare.search(position, NETWORKS["dama"])

    def test_other_threads_run_meanwhile(self) -> None:
        position, network = GAMES[0].new_position(), NETWORKS["hive"]
        is_over, count = threading.Event(), 0

        def look_on() -> None:
            nonlocal count
            while not is_over.is_set():
                count += 1
                is_over.wait(0.001)

        thread = threading.Thread(target=look_on)
        thread.start()
        while count == 0:
            is_over.wait(0.001)
        before = count
        alveare.search(position, network, simulations=3000)
        seen = count - before
        is_over.set()
        thread.join()
        self.assertGreater(seen, 10)

    def test_ctrl_c_ends_a_search(self) -> None:
        # Python has no handler where the shell has made it ignore Ctrl-C, as for programs in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.2, _thread.interrupt_main)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            alveare.search(GAMES[0].new_position(), NETWORKS["hive"], simulations=1_000_000)
        timer.join()


class Functions(unittest.TestCase):
    def test_a_function_that_asks_the_network_searches_as_the_network(self) -> None:
        for game in GAMES:
            network, position = NETWORKS[game.name], some_positions(game, 3)[-1]
            sizes = []

            def by_move(positions):
                sizes.append(len(positions))
                return network.evaluate(positions)

            def by_order(positions):
                return [(np.array(list(priors.values())), np.float32(value)) for priors, value in by_move(positions)]

            native = alveare.search(position, network, simulations=120)
            for evaluator in (by_move, by_order):
                self.assertEqual(alveare.search(position, evaluator, simulations=120).visits, native.visits)
            self.assertEqual(max(sizes), 8)

    def test_a_function_sees_positions_without_their_moves(self) -> None:
        for game in GAMES:
            seen = []

            def uniform(positions):
                seen.extend(positions)
                return [([1.0] * len(position.legal_moves()), 0.0) for position in positions]

            root = game.new_position()
            result = alveare.search(root, uniform, simulations=20)
            self.assertEqual(result.visits, alveare.search(root, uniform, simulations=20).visits)
            self.assertEqual((seen[0], seen[0].moves, seen[0].planes().shape), (root, None, game.plane_shape))
            if game.name == "hive":
                with self.assertRaisesRegex(ValueError, "moves that led to this position are not known"):
                    seen[0].text

    def test_what_a_function_raises_is_passed_on(self) -> None:
        def fails(positions):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            alveare.search(GAMES[0].new_position(), fails)
        position = GAMES[1].new_position()
        for answer, what in [
            ([], "answered 0 positions of 1"),
            ([([0.5], 0.0)], "1 priors for 7 legal moves"),
            ([([0.0] * 7, 0.0)], "a sum above 0"),
            ([([float("nan")] * 7, 0.0)], "not numbers"),
            ([({"1-2": 1.0}, 0.0)], "moves that are not legal"),
            ([([1.0] * 7, 1.5)], "the value 1.5"),
        ]:
            with self.assertRaisesRegex(ValueError, what):
                alveare.search(position, lambda positions: answer)
        with self.assertRaises(TypeError):
            alveare.search(position, lambda positions: 7)
        with self.assertRaises(TypeError):
            alveare.search(position, "ready")


if __name__ == "__main__":
    unittest.main()
