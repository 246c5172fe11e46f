//! The games of a match as files: UHP GameStrings, one a line, or PDN, and beside a regular file a table of who played and
//! how it ended.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use runtime::replaced_file::FileKind;
use shared::game::{Game, Outcome, Side, Value};

use super::error::MatchError;
use super::finished::{Ending, FinishedGame};
use super::match_game::MatchGame;

/// The first line of the table.
const TABLE_HEAD: &str = "game\tpair\twhite\tblack\tresult\tplies\topening_plies\tending\tvalues\n";
const TABLE: FileKind =
    FileKind { name: "the table of a match", is_start: |start| start.starts_with(TABLE_HEAD.as_bytes()) };

/// Two files, opened before the first game is played. Those that it made and wrote nothing to are gone with it.
pub struct GamesFile {
    games: OutputFile,
    /// `None` beside a pipe or a device.
    table: Option<OutputFile>,
    written_count: usize,
}

impl GamesFile {
    /// Makes `path`, a file of games of this `kind`, and `path.tsv`, or opens them: what they hold is kept until there are
    /// games to write. A pipe or a device at `path` is opened alone.
    ///
    /// # Errors
    /// [`MatchError::OutputNeeded`], [`MatchError::OutputOther`], [`MatchError::OutputBusy`] or
    /// [`MatchError::OutputCreate`].
    pub fn create(path: &Path, kind: &FileKind, needed: &[PathBuf]) -> Result<Self, MatchError> {
        let mut table = path.as_os_str().to_owned();
        table.push(".tsv");
        let games = OutputFile::create(path, kind, needed)?;
        let create_table = || OutputFile::create(Path::new(&table), &TABLE, needed);
        let table = games.is_regular().then(create_table).transpose()?;
        Ok(Self { games, table, written_count: 0 })
    }

    /// Writes those of the finished games, which are in their order, that come next: one that ended early waits for
    /// those before it. So a match that is killed leaves the beginning of the file that it would
    /// have written.
    ///
    /// # Errors
    /// [`MatchError::OutputWrite`].
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
    /// [`MatchError::OutputWrite`].
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
            self.games.empty()?;
            self.table.as_ref().map_or(Ok(()), OutputFile::empty)?;
        }
        for game in new {
            self.games.write(&rules.game_text(sides(names, game), game))?;
            if let Some(table) = &mut self.table {
                if self.written_count == 0 {
                    table.write(TABLE_HEAD)?;
                }
                table.write(&table_line(names, game))?;
            }
            self.written_count += 1;
        }
        Ok(())
    }
}

/// One of the files.
struct OutputFile {
    path: PathBuf,
    file: File,
    /// Whether it was not there before.
    is_new: bool,
}

impl OutputFile {
    fn create(path: &Path, kind: &FileKind, needed: &[PathBuf]) -> Result<Self, MatchError> {
        let is_needed =
            |file: &PathBuf| path.canonicalize().is_ok_and(|own| file.canonicalize().is_ok_and(|it| it == own));
        if needed.iter().any(is_needed) {
            return Err(MatchError::OutputNeeded(path.to_owned()));
        }
        kind.check_replaced(path)?;
        let made = File::create_new(path);
        let is_new = made.is_ok();
        let opened = made.or_else(|_| File::options().write(true).create(true).truncate(false).open(path));
        let file = opened.map_err(|source| MatchError::OutputCreate { path: path.to_owned(), source })?;
        let file = Self { path: path.to_owned(), file, is_new };
        if file.is_regular() && matches!(file.file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(MatchError::OutputBusy(path.to_owned()));
        }
        Ok(file)
    }

    /// Returns whether it is a file: a pipe or a device has nothing to empty, and may be written by many.
    fn is_regular(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// Removes what an earlier match wrote.
    fn empty(&self) -> Result<(), MatchError> {
        let emptied = if self.is_regular() { self.file.set_len(0) } else { Ok(()) };
        emptied.map_err(|source| self.error(source))
    }

    fn write(&mut self, text: &str) -> Result<(), MatchError> {
        self.file.write_all(text.as_bytes()).map_err(|source| self.error(source))
    }

    fn error(&self, source: std::io::Error) -> MatchError {
        MatchError::OutputWrite { path: self.path.clone(), source }
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.is_new && self.file.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
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
    format!("{}\t{}\t{fields}\n", numbers.0, numbers.1)
}
