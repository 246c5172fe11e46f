//! Books of both games: what is equal, what is chosen, what is refused.

use book::{Book, BookBuilder, BookError, BookHeader, OpeningWalk, Results, encode, position_key, rules_key};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use shared::catalog::NetworkGame;
use shared::encoding::{Encoding, Symmetry};
use shared::game::dama::{Dama, Position, fen};
use shared::game::hive::{GameType, Hive, HiveRules};
use shared::game::{Game, Outcome, Side};

const WHITE: Outcome = Outcome::Win(Side::White);
const BLACK: Outcome = Outcome::Win(Side::Black);

/// Returns the position after moves as people write them.
fn after<G: Game>(game: &G, texts: &[&str]) -> G::Position {
    let mut position = game.initial_position();
    for text in texts {
        let mv = game.parse_move(&position, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        game.play(&mut position, mv);
    }
    position
}

/// Returns a book of games, each with its result, which counts `plies` and every move.
fn book<G: NetworkGame>(game: &G, games: &[(&[&str], Outcome)], plies: u32, games_min: u32) -> Book {
    let encoding = game.encoding(G::USUAL_VIEW);
    let mut builder = BookBuilder::default();
    for (texts, outcome) in games {
        let mut walk = OpeningWalk::new(&encoding, plies);
        for text in *texts {
            if walk.is_over() {
                break;
            }
            let mv = game.parse_move(walk.position(), text).expect("a legal move");
            walk.play(mv, true);
        }
        builder.add(&walk.into_steps(), *outcome);
    }
    builder.finish(game, plies, games_min).expect("a book")
}

/// Returns the moves that a book has of the position after `texts`, as people write them.
fn known<G: NetworkGame>(book: &Book, game: &G, texts: &[&str]) -> Vec<(String, Results)> {
    let position = after(game, texts);
    book.moves(game, &position).iter().map(|found| (game.format_move(&position, found.mv), found.results)).collect()
}

const fn results(wins: u32, draws: u32, losses: u32) -> Results {
    Results { wins, draws, losses }
}

#[test]
fn positions_of_hive_that_a_symmetry_makes_equal_are_one() {
    let hive = Hive::default();
    // The same opening: turned by 60 degrees, mirrored, and with other numbers of equal pieces.
    let games: [(&[&str], Outcome); 3] = [
        (&["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-"], WHITE),
        (&["wS1", "bS1 wS1/", "wQ /wS1", "bQ bS1/"], BLACK),
        (&["wS1", "bS1 -wS1", "wQ wS1-", "bQ -bS1"], Outcome::Draw),
    ];
    let book = book(&hive, &games, 16, 1);
    assert_eq!((book.entries().len(), book.position_count(), book.header().game_count), (4, 4, 3));
    assert_eq!(known(&book, &hive, &[]), [("wS1".to_owned(), results(1, 1, 1))]);
    for side in ["bS1 wS1\\", "bS1 \\wS1", "bS1 wS1-", "bS1 /wS1"] {
        assert_eq!(known(&book, &hive, &["wS1", side]).len(), 1, "{side}");
    }
    let black = known(&book, &hive, &["wS1", "bS1 wS1-", "wQ -wS1"]);
    assert_eq!(black, [("bQ bS1-".to_owned(), results(1, 1, 1))], "as who plays the move sees it");
    assert!(known(&book, &hive, &["wS1", "bS1 wS1-", "wQ /wS1"]).is_empty(), "another place of the queen");
}

#[test]
fn a_random_position_has_one_key_in_all_symmetries() {
    let encoding = Hive::default().encoding(Hive::USUAL_VIEW);
    let (game, mut random) = (encoding.game(), Pcg64Mcg::seed_from_u64(7));
    let mut position = game.initial_position();
    for _ in 0..40 {
        let Some(mv) = game.choose_move(&position, random.random(), &mut vec![]) else { break };
        game.play(&mut position, mv);
        let key = position_key(&encoding, &position);
        for symmetry in 0..encoding.symmetry_count() {
            let turned = encoding.transform(&position, Symmetry(symmetry));
            assert_eq!(position_key(&encoding, &turned), key, "symmetry {symmetry} at ply {}", position.ply());
        }
    }
    assert!(position.ply() > 30);
}

#[test]
fn colours_of_draughts_are_not_swapped_and_orders_of_moves_meet() {
    let dama = Dama::default();
    let games: [(&[&str], Outcome); 2] =
        [(&["21-17", "9-13", "22-19", "12-16"], WHITE), (&["22-19", "12-16", "21-17", "9-13"], BLACK)];
    let book = book(&dama, &games, 16, 1);
    assert_eq!(known(&book, &dama, &[]).len(), 2);
    // Both orders lead to the position after the last move, and to none in between.
    let encoding = dama.encoding(Dama::USUAL_VIEW);
    let last: Vec<u64> = games.iter().map(|(texts, _)| position_key(&encoding, &after(&dama, texts))).collect();
    assert_eq!(last[0], last[1]);
    let turned = fen::read("B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12").unwrap();
    assert!(book.moves(&dama, &turned).is_empty(), "Black's turn");
}

#[test]
fn moves_count_once_a_game_up_to_the_last_ply_and_from_enough_games_on() {
    let dama = Dama::default();
    let games: [(&[&str], Outcome); 3] =
        [(&["21-17", "9-13"], WHITE), (&["21-17", "12-16"], WHITE), (&["22-19", "12-16"], BLACK)];
    let all = book(&dama, &games, 16, 1);
    assert_eq!(known(&all, &dama, &["21-17"]).len(), 2);
    let frequent = book(&dama, &games, 16, 2);
    assert_eq!(known(&frequent, &dama, &[]), [("21-17".to_owned(), results(2, 0, 0))]);
    assert_eq!((frequent.entries().len(), frequent.header().game_count), (1, 3));
    assert_eq!(book(&dama, &games, 1, 1).entries().len(), 2, "one ply");

    let encoding = dama.encoding(Dama::USUAL_VIEW);
    let mut walk = OpeningWalk::new(&encoding, 16);
    let mut play = |text: &str, is_chosen| {
        let mv = dama.parse_move(walk.position(), text).unwrap();
        walk.play(mv, is_chosen);
    };
    play("21-17", false);
    play("9-13", true);
    assert_eq!(walk.into_steps().len(), 1, "nobody chose the first move");
}

#[test]
fn a_move_is_chosen_by_its_points_and_by_the_seed() {
    let dama = Dama::default();
    let mut games: Vec<(&[&str], Outcome)> = vec![(&["21-17"], WHITE); 3];
    games.extend([(&["22-19"] as &[&str], Outcome::Draw); 2]);
    games.extend([(&["23-20"] as &[&str], BLACK); 5]);
    let book = book(&dama, &games, 16, 1);
    let start = dama.initial_position();
    let choose = |share| book.choose(&dama, &start, share).map(|found| dama.format_move(&start, found.mv));
    let shares = |count: u64| (0..count).map(move |at| ((at << 32) / count) as u32);
    let chosen: Vec<String> = shares(800).filter_map(choose).collect();
    let count = |text: &str| chosen.iter().filter(|chosen| *chosen == text).count();
    assert_eq!((count("21-17"), count("22-19"), count("23-20")), (600, 200, 0), "6 points, 2, and none");
    assert_eq!(choose(u32::MAX), choose(u32::MAX), "the same number, the same move");
}

#[test]
fn a_move_that_draws_by_repetition_is_not_chosen() {
    let dama = Dama::default();
    let start = fen::read("W:WK25,21:BK8,12").unwrap();
    let cycle = ["25-29", "8-4", "29-25", "4-8"];
    let encoding = dama.encoding(Dama::USUAL_VIEW);
    let play = |position: &mut Position, text: &str| {
        let mv = dama.parse_move(position, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        dama.play(position, mv);
    };
    // A book that knows the last move of the cycle.
    let mut before = start.clone();
    cycle[..3].iter().for_each(|text| play(&mut before, text));
    let mut end = before.clone();
    play(&mut end, cycle[3]);
    let entry = book::BookEntry {
        position: position_key(&encoding, &before),
        after: position_key(&encoding, &end),
        results: results(4, 0, 0),
    };
    let header = BookHeader { game_count: 4, ..BookHeader::of(&dama, 16, 1) };
    let book = Book::new(header, vec![entry]).unwrap();
    assert!(book.choose(&dama, &before, 0).is_some(), "the position comes up for the second time");
    cycle[3..].iter().chain(&cycle[..3]).for_each(|text| play(&mut before, text));
    assert_eq!(book.moves(&dama, &before).len(), 1, "the book still knows it");
    assert!(book.choose(&dama, &before, 0).is_none(), "the third time is a draw");
}

#[test]
fn a_move_that_loses_at_once_is_not_chosen() {
    let dama = Dama::default();
    // 22-18 gives the last man away; 22-19 does not.
    let position = fen::read("W:W22:B1,13").unwrap();
    let encoding = dama.encoding(Dama::USUAL_VIEW);
    let entry = |text: &str, wins| {
        let mut end = position.clone();
        dama.play(&mut end, dama.parse_move(&position, text).expect("legal"));
        let (position, after) = (position_key(&encoding, &position), position_key(&encoding, &end));
        book::BookEntry { position, after, results: results(wins, 0, 0) }
    };
    let mut entries = vec![entry("22-18", 9), entry("22-19", 1)];
    entries.sort_by_key(|entry| entry.after);
    let header = BookHeader { game_count: 10, ..BookHeader::of(&dama, 16, 1) };
    let book = Book::new(header, entries).unwrap();
    for share in [0, 1 << 31, u32::MAX] {
        let chosen = book.choose(&dama, &position, share).expect("a move");
        assert_eq!(dama.format_move(&position, chosen.mv), "22-19");
    }
}

#[test]
fn a_book_of_another_game_or_type_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.book");
    let name = path.display();
    let base = Hive::new(HiveRules { game_type: GameType::default(), ..HiveRules::default() });
    std::fs::write(&path, encode(&book(&base, &[(&["wS1"], WHITE)], 16, 1))).unwrap();
    let refused = |error: Result<Book, BookError>| error.expect_err("refused").to_string();
    assert!(book::open(&path, Some(&base)).is_ok() && book::open::<Hive>(&path, None).is_ok());
    assert_eq!(
        refused(book::open(&path, Some(&Hive::default()))),
        format!("opening book {name}: it is of Base, not of Base+MLP: name another book")
    );
    assert_eq!(
        refused(book::open::<Dama>(&path, None)),
        format!("opening book {name}: it is of hive, not of dama: name another book")
    );
    let header = BookHeader { rules: 1, ..BookHeader::of(&base, 16, 1) };
    std::fs::write(&path, encode(&Book::new(header, vec![]).unwrap())).unwrap();
    assert!(refused(book::open(&path, Some(&base))).ends_with("made for other rules of Base: make the book anew"));
    std::fs::write(&path, "nothing").unwrap();
    assert!(refused(book::open(&path, Some(&base))).ends_with("a.book: not an opening book of Alveare"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(refused(book::open(&path, Some(&base))), format!("read opening book {name}"));
}

#[test]
fn the_rules_have_a_key() {
    let of_hive = rules_key(&Hive::default().encoding(Hive::USUAL_VIEW));
    assert_eq!(of_hive, rules_key(&Hive::default().encoding(26)), "whatever a network sees");
    assert_ne!(of_hive, rules_key(&Dama::default().encoding(Dama::USUAL_VIEW)));
    let base = Hive::new(HiveRules { game_type: GameType::default(), ..HiveRules::default() });
    assert_ne!(of_hive, rules_key(&base.encoding(Hive::USUAL_VIEW)), "fewer moves");
}
