//! Games as text in, text out. The golden files in `tests/play/` hold whole conversations: the first line is the command,
//! what stands behind a prompt was typed. `UPDATE_GOLDEN=1` rewrites them.

use clap::Parser;
use notation::board::View;

use super::*;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn options(arguments: &[&str]) -> Options {
    Cli::try_parse_from([&["play", "--network", "none"], arguments].concat()).unwrap().options
}

fn talk(arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let mut out = vec![];
    run(&options(arguments), false, &mut input.as_bytes(), &mut out)?;
    Ok(String::from_utf8(out)?)
}

/// Says again what the golden file says, and compares.
fn check(name: &str) {
    let path = format!("{}/tests/play/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let golden = std::fs::read_to_string(&path).unwrap();
    let (command, conversation) = golden.split_once('\n').unwrap();
    let arguments: Vec<&str> = command.strip_prefix("$ alveare play --network none ").unwrap().split(' ').collect();
    let typed = conversation.lines().filter_map(|line| {
        ["White to move> ", "Black to move> ", "game over> "].iter().find_map(|prompt| line.strip_prefix(prompt))
    });
    let input: String = typed.filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    let text = format!("{command}\n{}", talk(&arguments, &input).unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    } else {
        assert_eq!(text, golden, "{path}");
    }
}

#[test]
fn a_game_of_hive() {
    check("hive");
}

#[test]
fn a_game_of_draughts() {
    check("dama");
}

#[test]
fn a_resignation_is_taken_back() {
    for before in ["", "wS1\n"] {
        let text = talk(&["--type", "Base", "--level", "1"], &format!("{before}resign\nundo\nboard\n")).unwrap();
        let after = text.rsplit_once("> undo\n").unwrap().1;
        assert!(after.contains("White to move> board"), "{after}");
    }
}

#[test]
fn a_search_without_a_network_has_no_level() {
    let move_of = |preset| {
        let text = talk(&["--game", "dama", "--preset", preset, "--side", "black"], "quit\n").unwrap();
        assert!(!text.contains("level"), "{text}");
        text
    };
    assert!(move_of("vanilla").contains("Alveare"), "it has moved");
    assert!(move_of("grandmaster").contains("Alveare"));
}

#[test]
fn stacks_and_the_last_move_are_shown() {
    let position = "Base;InProgress;White[4];wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wB1 -wQ;bB1 bQ-";
    let text = talk(&["--position", position, "--simulations", "2"], "wB1 wQ\n").unwrap();
    assert!(text.contains("stack, from the top: wB1, wQ\n") && text.contains("╱²╲"), "{text}");
    let options = options(&["--position", position]);
    let (hive, positions, moves) = hive_game(&options.start).unwrap();
    let view = View { last: moves.last().copied(), bottom: Side::White, has_colours: true };
    let drawn = hive.draw(positions.last().unwrap(), view);
    assert!(drawn.contains("\u{1b}[1m\u{1b}[4mbB1\u{1b}[0m"), "{drawn:?}");
    let plain = hive.draw(positions.last().unwrap(), View { has_colours: false, ..view });
    assert_eq!(console::strip_ansi_codes(&drawn), plain);
}

#[test]
fn moves_are_read_as_people_type_them() {
    let (hive, positions, _) =
        hive_game(&options(&["--position", "Base;InProgress;White[2];wS1;bS1 wS1-"]).start).unwrap();
    let position = positions.last().unwrap();
    let expected = hive.parse_move(position, "wQ -wS1").unwrap();
    for text in ["wQ -wS1", "WQ -ws1", "Q -wS1", " q  -WS1 ", "Q -S1", "wQ -s1"] {
        assert_eq!(hive.read(position, text), Ok(expected), "{text}");
    }
    assert!(hive.read(position, "X -wS1").is_err() && hive.read(position, "bQ -wS1").is_err());
    let (dama, starts, _) = dama_game(&options(&["--position", "W:W22:B18"]).start).unwrap();
    let expected = dama.parse_move(&starts[0], "22x13").or_else(|_| dama.parse_move(&starts[0], "22x15")).unwrap();
    let shown = dama.format_move(&starts[0], expected);
    for text in [shown.clone(), shown.replace('x', "-"), shown.replace('x', " "), shown.replace('x', " x ")] {
        assert_eq!(dama.read(&starts[0], &text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_move_says_why() {
    let (hive, positions, _) =
        hive_game(&options(&["--position", "Base;InProgress;White[2];wS1;bS1 wS1-"]).start).unwrap();
    let position = positions.last().unwrap();
    let error = |text: &str| hive.read(position, text).unwrap_err().to_string();
    for text in ["foo", "what", "quit now", "wX1 -wS1", "-"] {
        assert_eq!(error(text), format!("cannot read move \"{text}\": there is no such piece or command"));
    }
    for (text, reason) in [
        ("A1 bQ", "bQ is not on the board"),
        ("wA1 bQ", "bQ is not on the board"),
        ("wq", "it does not say where the piece goes"),
        ("a1", "it does not say where the piece goes"),
        ("A1 -foo", "its second word names no piece"),
        ("A1 -wS1 now", "more than two words"),
        ("A -wS1", "piece \"wA\" has no number"),
        ("A4 -wS1", "there is no piece \"wA4\""),
        ("A1 S1-", "wS1- is occupied: a climb there is written bS1"),
    ] {
        assert_eq!(error(text), format!("cannot read move \"{text}\": {reason}"));
    }
    assert_eq!(error("A1 bS1-"), "illegal move \"A1 bS1-\" at ply 2");
    let said = talk(&["--position", "Base"], "foo\n").unwrap();
    assert!(said.contains("piece or command\nType ? for the moves, help for the commands.\n"), "{said}");
}

#[test]
fn games_are_saved_in_the_format_of_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let input = format!("wS1\nresign\nsave {}\nsave {}\n", path("game.pgn"), path("game.uhp"));
    let text = talk(&["--type", "Base", "--level", "1"], &input).unwrap();
    assert!(
        text.contains("Alveare (level 1) wins. Type undo, save FILE or quit.\n") && text.contains("game over> save "),
        "{text}"
    );
    let pgn = std::fs::read_to_string(path("game.pgn")).unwrap();
    let names = "[White \"person\"]\n[Black \"Alveare (level 1)\"]\n[Result \"BlackWins\"]";
    assert!(pgn.starts_with("[GameType \"Base\"]\n") && pgn.contains(names), "{pgn}");
    let game = std::fs::read_to_string(path("game.uhp")).unwrap();
    assert!(game.starts_with("Base;BlackWins;White[2];wS1;b"), "{game}");
    let input = format!("22-18\nsave {}\nsave {}\n", path("game.pdn"), path("no/such/folder"));
    let text = talk(&["--game", "dama", "--level", "1"], &input).unwrap();
    assert!(text.contains("cannot write "), "{text}");
    let games: Vec<_> = notation::dama::pdn::read(&std::fs::read_to_string(path("game.pdn")).unwrap()).collect();
    assert_eq!(games[0].as_ref().unwrap().moves.len(), 2);
}

#[test]
fn a_file_that_is_no_saved_game_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (game, name, kind) in [
        ("hive", "game.pgn", "a PGN game of Hive"),
        ("hive", "game.uhp", "a file of UHP GameStrings"),
        ("dama", "game.pdn", "a file of PDN games"),
    ] {
        let file = folder.path().join(name);
        let save = |input: &str| {
            talk(&["--game", game, "--level", "1"], &format!("{input}save {}\n", file.display())).unwrap()
        };
        std::fs::write(&file, "# A read me").unwrap();
        let said = save("1\n");
        let refusal = format!("{}: it exists and is not {kind}: choose another name or delete it\n", file.display());
        assert!(said.contains(&refusal), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# A read me");
        std::fs::remove_file(&file).unwrap();
        for input in ["", "1\n"] {
            let said = save(input);
            assert!(said.contains(&format!("saved to {}", file.display())), "a saved game may be replaced: {said}");
        }
    }
}

#[test]
fn a_file_of_several_games_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (game, name) in [("hive", "game.pgn"), ("hive", "game.uhp"), ("dama", "game.pdn")] {
        let file = folder.path().join(name);
        let save = || talk(&["--game", game, "--level", "1"], &format!("1\nsave {}\n", file.display())).unwrap();
        save();
        let games = std::fs::read_to_string(&file).unwrap().repeat(3);
        std::fs::write(&file, &games).unwrap();
        let said = save();
        let refusal = format!("{}: it holds 3 games: choose another name or delete it\n", file.display());
        assert!(said.contains(&refusal), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), games);
    }
    let said = talk(&["--type", "Base", "--level", "1"], "save\n").unwrap();
    assert!(said.contains("Name a file: save FILE.\n") && !said.contains("cannot read move"), "{said}");
}

#[test]
fn every_strength_plays_and_the_same_lines_give_the_same_game() {
    for arguments in [&["--level", "10"][..], &["--simulations", "30"], &["--time", "0.01"], &["--side", "black"], &[]]
    {
        let text = talk(&[arguments, &["--game", "dama"]].concat(), "?\n1\n").unwrap();
        assert!(text.matches(" to move> ").count() == 3 && text.contains("Alveare"), "{arguments:?}: {text}");
    }
    let games = [1, 1, 2].map(|seed| {
        let input = "1\n".repeat(5);
        talk(&["--game", "dama", "--level", "2", "--seed", &seed.to_string()], &input).unwrap()
    });
    assert!(games[0] == games[1] && games[0] != games[2]);
}

#[test]
fn wrong_options_are_wrong_usage() {
    for arguments in [
        &["--game", "dama", "--type", "Base"][..],
        &["--game", "dama", "--position", "nonsense"],
        &["--position", "Base+X"],
        &["--preset", "vanilla", "--level", "3"],
    ] {
        let error = talk(arguments, "").unwrap_err();
        assert!(error.chain().any(|cause| cause.is::<UsageError>()), "{arguments:?}: {error:#}");
    }
    for arguments in [&["--level", "11"][..], &["--level", "2", "--time", "3"], &["--time=-1"], &["--time=1e300"]] {
        assert!(Cli::try_parse_from([&["play"], arguments].concat()).is_err());
    }
    let error = Cli::try_parse_from(["play", "--time=0"]).err().map(|error| error.to_string());
    assert!(error.as_ref().is_some_and(|error| error.contains("not in 1ms..=1day")), "{error:?}");
    assert!(Cli::try_parse_from(["play", "--time=0.001"]).is_ok());
}
