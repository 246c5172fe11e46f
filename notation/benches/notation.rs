//! Reading human games: parsed, checked against the rules, and packed.
//!
//! Bar: all 5,167 games in 20 s on one core.

use divan::Bencher;
use notation::{ReadOptions, games};
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Game;
use shared::game::hive::{Hive, HiveRules};

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn read_check_and_pack(bencher: Bencher<'_, '_>) {
    let text = testdata::read("bga/games.uhp");
    let encoding = HiveEncoding::new(Hive::new(HiveRules { queen_first_allowed: true, ..HiveRules::default() }), 16);
    let mut packed = Vec::new();
    bencher.bench_local(|| {
        let (mut game_count, mut position_count, mut byte_count) = (0, 0, 0);
        for game in games::read_lines(&text, ReadOptions { queen_first_allowed: true }) {
            let game = game.expect("every game is legal if a queen may open");
            let hive = game.hive();
            let mut position = hive.initial_position();
            for mv in &game.moves {
                packed.clear();
                encoding.pack(&position, &mut packed);
                byte_count += packed.len();
                position_count += 1;
                hive.play(&mut position, *mv);
            }
            game_count += 1;
        }
        assert_eq!((game_count, position_count), (5_167, POSITION_COUNT));
        assert!(byte_count > position_count);
    });
}

const POSITION_COUNT: usize = 267_972;
