//! What the rest of a game brought, as positions learn it, checked against the game itself.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use shared::encoding::dama::{DamaEncoding, PolicyCoding};
use shared::encoding::hive::HiveEncoding;
use shared::encoding::{Encoding, Ending, Mv, Outlook, Pos, Symmetry, TrainingBatch};
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{Hive, HiveRules, Piece};
use shared::game::{Game, Side};
use shared::record::batch::{SampleScratch, StoredSample, push_sample};
use shared::record::{GameRecord, PlyRecord, PolicyTarget, ReplayedGame, replay};

/// A game of random moves, each the whole policy target: its record, positions and moves.
fn random_game<E: Encoding>(encoding: &E, seed: u64) -> (GameRecord, Vec<Pos<E>>, Vec<Mv<E>>) {
    let (game, mut random) = (encoding.game(), Pcg64::seed_from_u64(seed));
    let (mut record, mut moves) = (GameRecord::default(), Vec::new());
    let mut positions = vec![game.initial_position()];
    while let Some(position) = positions.last().filter(|position| game.outcome(position).is_none()) {
        let (mut legal, mut index) = (Vec::new(), Vec::new());
        game.legal_moves(position, &mut legal);
        let mv = legal[random.random_range(0..legal.len())];
        encoding.policy_indices(position, &[mv], &mut index);
        let policy_target = Some(PolicyTarget::from_visits([(index[0], 1)]).expect("a visit"));
        record.plies.push(PlyRecord { policy_target, ..PlyRecord::unsearched(game.format_move(position, mv)) });
        let mut next = position.clone();
        game.play(&mut next, mv);
        moves.push(mv);
        positions.push(next);
    }
    (record, positions, moves)
}

fn outlooks(game: &ReplayedGame) -> Vec<Outlook> {
    game.samples.iter().filter_map(|sample| sample.outlook).collect()
}

/// A game of Hive that ends by the rules, and one of the same length at most that is cut off.
fn hive() -> HiveEncoding {
    HiveEncoding::new(Hive::new(HiveRules { ply_limit: 400, ..HiveRules::default() }), 16)
}

#[test]
fn pieces_of_hive_that_move_again_are_those_of_the_moves_to_come() {
    let encoding = hive();
    let mut checked = 0;
    for seed in 0..20 {
        let (record, positions, moves) = random_game(&encoding, seed);
        let game = replay(&encoding, &record).expect("a game by the rules");
        let found = outlooks(&game);
        let Some(last) = positions.last().filter(|_| !game.is_cut_off) else {
            assert!(found.is_empty(), "the rest of a game that was cut off is not known");
            continue;
        };
        for (ply, outlook) in found.iter().enumerate() {
            let movers = Piece::all().filter(|piece| {
                (ply..moves.len()).any(|at| moves[at].piece() == Some(*piece) && positions[at].is_on_board(*piece))
            });
            assert_eq!(
                outlook.movers,
                movers.fold(0, |bits, piece| bits | 1 << piece.index()),
                "seed {seed}, ply {ply}"
            );
            let side = positions[ply].side_to_move();
            let around = [side, side.opponent()].map(|side| last.queen_neighbour_count(side) as u8);
            let ending = Ending { plies_left: (moves.len() - ply) as u16, counts: [around[0], around[1], 0, 0] };
            assert_eq!(outlook.ending, Some(ending), "seed {seed}, ply {ply}");
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} positions of games that ended by the rules");
}

#[test]
fn a_game_that_was_resigned_tells_of_its_pieces_alone() {
    let encoding = hive();
    let (record, positions, moves) = random_game(&encoding, 3);
    let ply_count = moves.len() / 2;
    let plies = record.plies[..ply_count].to_vec();
    let loser = positions[0].side_to_move();
    let game =
        replay(&encoding, &GameRecord { plies, resigned_by: Some(loser), ..record }).expect("a game by the rules");
    let found = outlooks(&game);
    assert_eq!(found.len(), ply_count);
    assert!(found.iter().all(|outlook| outlook.ending.is_none()), "the board was left before its end");
    assert!(found[0].movers != 0 && found[0].movers & found[ply_count - 1].movers == found[ply_count - 1].movers);
}

#[test]
fn a_turned_board_tells_the_same_of_each_piece() {
    let encoding = hive();
    let (record, positions, _) = random_game(&encoding, 3);
    let game = replay(&encoding, &record).expect("a game by the rules");
    let mut scratch = SampleScratch::new(&encoding);
    let ply = positions.len() / 2;
    let outlook = Outlook { movers: 0x0aaa_aaaa, ending: Some(Ending { plies_left: 32, counts: [6, 3, 0, 0] }) };
    let sample = &game.samples[ply];
    let target = sample.policy_target.to_bytes();
    let stored =
        StoredSample { packed: &sample.packed, policy_target: &target, value_target: 0.0, outlook: Some(outlook) };
    let mut batch = TrainingBatch::default();
    for symmetry in 0..encoding.symmetry_count() {
        push_sample(&encoding, &stored, Symmetry(symmetry), &mut batch, &mut scratch).expect("a good sample");
        let turned = encoding.transform(&positions[ply], Symmetry(symmetry));
        let found = (batch.outlook.pieces.iter().zip(&batch.outlook.moves_again))
            .filter_map(|(&(position, cell), &moves)| (position == u32::from(symmetry)).then_some((cell, moves)));
        let on_top = Piece::all().filter_map(|piece| {
            let cell = turned.cell_of(piece).filter(|cell| turned.top(*cell) == Some(piece))?;
            Some((encoding.frame_cell(&turned, cell)?, (piece.index() % 2) as f32))
        });
        assert!(found.eq(on_top), "symmetry {symmetry}");
    }
    push_sample(&encoding, &StoredSample { outlook: None, ..stored }, Symmetry(0), &mut batch, &mut scratch)
        .expect("a good sample");
    assert_eq!(batch.outlook.endings[..3], [1.0, 0.5, 0.5], "own queen, the other, half of the way");
    assert_eq!(batch.outlook.endings[36..], [0.0; 3]);
    assert_eq!((batch.outlook.known[0], batch.outlook.known[12], batch.outlook.known.len()), (1.0, 0.0, 13));
}

#[test]
fn the_end_of_draughts_is_its_material() {
    let encoding = DamaEncoding::new(Dama::new(DamaRules::default()), PolicyCoding::Lossless);
    let (record, positions, moves) = random_game(&encoding, 1);
    let game = replay(&encoding, &record).expect("a game by the rules");
    assert!(!game.is_cut_off, "seed 1 ends by the rules");
    let board = positions[moves.len()].board();
    for (ply, outlook) in outlooks(&game).iter().enumerate() {
        let side = positions[ply].side_to_move();
        let count = |side: Side| [board.men(side).count_ones() as u8, board.kings(side).count_ones() as u8];
        let ending = outlook.ending.expect("an end by the rules");
        assert_eq!((outlook.movers, usize::from(ending.plies_left)), (0, moves.len() - ply));
        assert_eq!(ending.counts, [count(side), count(side.opponent())].concat()[..]);
    }
    assert_eq!(game.samples.len(), moves.len());
}
