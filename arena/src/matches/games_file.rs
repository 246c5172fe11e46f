//! The games of a match as files: UHP GameStrings, one a line, or PDN, and beside them a table of who played and how it
//! ended.

use std::fs::{File, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use shared::game::{Game, Outcome, Side, Value};

use super::error::MatchError;
use super::finished::{Ending, FinishedGame};
use super::match_game::MatchGame;

/// Two files, opened before the first game is played.
pub struct GamesFile {
    games: BufWriter<File>,
    table: BufWriter<File>,
    written_count: usize,
}

impl GamesFile {
    /// Makes `path` and `path.tsv`, or opens them: what they hold is kept until there are games to write.
    ///
    /// # Errors
    /// [`MatchError::OutputNeeded`], [`MatchError::OutputBusy`] or [`MatchError::OutputCreate`].
    pub fn create(path: &Path, needed: &[PathBuf]) -> Result<Self, MatchError> {
        let mut table = path.as_os_str().to_owned();
        table.push(".tsv");
        let create = |path: &Path| create(path, needed);
        Ok(Self { games: create(path)?, table: create(&PathBuf::from(table))?, written_count: 0 })
    }

    /// Writes those of the finished games, which are in their order, that come next: one that ended early waits for
    /// those before it. So a match that is killed leaves the beginning of the file that it would
    /// have written.
    ///
    /// # Errors
    /// [`MatchError::OutputEmpty`] or [`MatchError::OutputWrite`].
    pub fn write_next<G: MatchGame>(
        &mut self,
        rules: &G,
        names: &[String; 2],
        finished: &[FinishedGame<G>],
    ) -> Result<(), MatchError> {
        let is_next = |(place, game): &(usize, &FinishedGame<G>)| game.planned.index == *place;
        let next_count = finished.iter().enumerate().skip(self.written_count).take_while(is_next).count();
        self.write_all(rules, names, &finished[..self.written_count + next_count])
    }

    /// Writes all finished games, which are in their order, that have not been written.
    ///
    /// # Errors
    /// [`MatchError::OutputEmpty`] or [`MatchError::OutputWrite`].
    pub fn write_all<G: MatchGame>(
        &mut self,
        rules: &G,
        names: &[String; 2],
        finished: &[FinishedGame<G>],
    ) -> Result<(), MatchError> {
        let new = &finished[self.written_count..];
        if new.is_empty() {
            return Ok(());
        }
        if self.written_count == 0 {
            self.begin().map_err(MatchError::OutputEmpty)?;
        }
        for game in new {
            self.write(rules, names, game).map_err(MatchError::OutputWrite)?;
            self.written_count += 1;
        }
        Ok(())
    }

    fn write<G: MatchGame>(&mut self, rules: &G, names: &[String; 2], game: &FinishedGame<G>) -> std::io::Result<()> {
        self.games.write_all(rules.game_text(sides(names, game), game).as_bytes())?;
        self.games.flush()?;
        writeln!(self.table, "{}", table_line(names, game))?;
        self.table.flush()
    }

    /// Empties the files of an earlier match.
    fn begin(&mut self) -> std::io::Result<()> {
        for file in [&self.games, &self.table] {
            // A pipe or a device has nothing to empty.
            if file.get_ref().metadata().is_ok_and(|metadata| metadata.is_file()) {
                file.get_ref().set_len(0)?;
            }
        }
        writeln!(self.table, "game\tpair\twhite\tblack\tresult\tplies\topening_plies\tending\tvalues")
    }
}

fn create(path: &Path, needed: &[PathBuf]) -> Result<BufWriter<File>, MatchError> {
    let is_needed = |file: &PathBuf| path.canonicalize().is_ok_and(|own| file.canonicalize().is_ok_and(|it| it == own));
    if needed.iter().any(is_needed) {
        return Err(MatchError::OutputNeeded(path.to_owned()));
    }
    let opened = File::options().write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|source| MatchError::OutputCreate { path: path.to_owned(), source })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file())
        && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    {
        return Err(MatchError::OutputBusy(path.to_owned()));
    }
    Ok(BufWriter::new(file))
}

/// Returns the names of White and Black.
fn sides<'a, G: Game>(names: &'a [String; 2], game: &FinishedGame<G>) -> [&'a str; 2] {
    let first_is_black = usize::from(game.planned.first_side == Side::Black);
    [&names[first_is_black], &names[1 - first_is_black]]
}

fn table_line<G: Game>(names: &[String; 2], game: &FinishedGame<G>) -> String {
    let [white, black] = sides(names, game);
    let result = match game.outcome {
        Outcome::Win(Side::White) => "white",
        Outcome::Win(Side::Black) => "black",
        Outcome::Draw => "draw",
    };
    let ending = match &game.ending {
        Ending::Rules(ending) => (*ending).to_owned(),
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
