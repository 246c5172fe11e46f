//! The games of a match as files: UHP GameStrings, one a line, and beside them a table of who played and how it ended.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use shared::game::hive::{Hive, HiveRules};
use shared::game::{Outcome, Side, Value};
use shared::notation::{self, PlayedGame};

use super::play::{Ending, FinishedGame};

/// Two files, opened before the first game is played.
pub struct GamesFile {
    games: BufWriter<File>,
    table: BufWriter<File>,
}

impl GamesFile {
    /// Makes `path` and `path.tsv`.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let mut table = path.as_os_str().to_owned();
        table.push(".tsv");
        Ok(Self { games: create(path)?, table: create(&PathBuf::from(table))? })
    }

    /// Writes all games, in their order.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(mut self, hive: &Hive, names: &[String; 2], games: &[FinishedGame]) -> anyhow::Result<()> {
        writeln!(self.table, "game\tpair\twhite\tblack\tresult\tplies\topening_plies\tending\tvalues")?;
        for game in games {
            writeln!(self.games, "{}", game_string(hive, game))?;
            writeln!(self.table, "{}", table_line(names, game))?;
        }
        self.games.flush().context("write the games")?;
        self.table.flush().context("write the table of games")
    }
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    File::create(path).map(BufWriter::new).with_context(|| format!("--out: create {}", path.display()))
}

/// Returns the game with the result of the match, whatever its last position says.
fn game_string(hive: &Hive, game: &FinishedGame) -> String {
    let ending = match game.ending {
        Ending::QueenSurrounded => notation::Ending::QueenSurrounded,
        Ending::Repetition => notation::Ending::Repetition,
        Ending::PlyLimit | Ending::Forfeit(..) => notation::Ending::Stated,
    };
    PlayedGame {
        rules: HiveRules { ply_limit: u32::MAX, repetition_draw: false, ..*hive.rules() },
        moves: game.moves.clone(),
        outcome: Some(game.outcome),
        ending,
        stated_outcome: None,
        remarks: vec![],
    }
    .to_game_string()
}

fn table_line(names: &[String; 2], game: &FinishedGame) -> String {
    let first_is_black = usize::from(game.planned.first_side == Side::Black);
    let (white, black) = (&names[first_is_black], &names[1 - first_is_black]);
    let result = match game.outcome {
        Outcome::Win(Side::White) => "white",
        Outcome::Win(Side::Black) => "black",
        Outcome::Draw => "draw",
    };
    let ending = match &game.ending {
        Ending::QueenSurrounded => "queen surrounded".to_owned(),
        Ending::Repetition => "repetition".to_owned(),
        Ending::PlyLimit => "ply limit".to_owned(),
        Ending::Forfeit(side, reason) => format!("{side:?} forfeits: {reason}"),
    };
    let value = |value: &Option<Value>| value.map_or_else(|| "-".to_owned(), |value| format!("{:+.2}", value.get()));
    let values = game.values.iter().map(value).collect::<Vec<_>>().join(" ");
    let numbers = (game.planned.index + 1, game.planned.pair_index() + 1);
    let fields = [
        white,
        black,
        result,
        &game.moves.len().to_string(),
        &game.planned.opening.len().to_string(),
        &ending,
        &values,
    ];
    let fields = fields.map(|field| field.replace(['\t', '\n', '\r'], " ")).join("\t");
    format!("{}\t{}\t{fields}", numbers.0, numbers.1)
}
