//! Writes games as other programs read them: UHP GameStrings or PGN, or PDN.

use std::path::Path;

use notation::dama::pdn::{self, PdnGame};
use notation::pgn;
use notation::uhp::{GameState, join_game};
use samples::part_file::{PartFile, PartFileError};
use shared::catalog::GameFormat;
use shared::game::Game;
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::GameType;

use super::game_sources::DataGame;

/// How games are written.
#[derive(Debug, Clone, Copy)]
enum Written {
    /// Hive, a GameString a line.
    Uhp,
    /// Hive, with tags.
    Pgn,
    /// Draughts.
    Pdn,
}

/// A file of games that is being written.
pub struct GameFile {
    written: Written,
    file: PartFile,
    game_count: usize,
}

impl GameFile {
    /// Begins a file that will be `path`. Games of Hive are written as PGN if its name ends in `.pgn`.
    ///
    /// # Errors
    /// [`PartFileError`]: `path` is a folder, a pipe or a device, or the system refuses to create the file.
    pub fn create(path: &Path, format: GameFormat) -> Result<Self, PartFileError> {
        let is_pgn = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgn"));
        let written = match format {
            GameFormat::Uhp if is_pgn => Written::Pgn,
            GameFormat::Uhp => Written::Uhp,
            GameFormat::Pdn => Written::Pdn,
        };
        Ok(Self { written, file: PartFile::create(path)?, game_count: 0 })
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If the file cannot be written, or the game is not of this format.
    pub fn write(&mut self, game: &DataGame) -> anyhow::Result<()> {
        self.game_count += 1;
        let text = match self.written {
            Written::Uhp => uhp_text(game)?,
            Written::Pgn => pgn_text(game, self.game_count)?,
            Written::Pdn => pdn_text(game, self.game_count)?,
        };
        Ok(self.file.write(text.as_bytes())?)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`PartFileError`]: the system refuses to write or rename the file.
    pub fn finish(self) -> Result<(), PartFileError> {
        self.file.finish(b"")
    }
}

fn uhp_text(game: &DataGame) -> anyhow::Result<String> {
    let game_type: GameType = game.type_name.parse()?;
    let state = match game.outcome {
        None if game.move_texts.is_empty() => GameState::NotStarted,
        outcome => GameState::from(outcome),
    };
    Ok(join_game(game_type, state, game.move_texts.len() as u32, &game.move_texts) + "\n")
}

fn pgn_text(game: &DataGame, number: usize) -> anyhow::Result<String> {
    let tags = tags_of(game, number);
    Ok(pgn::write(&tags, game.type_name.parse()?, &game.move_texts, game.outcome) + "\n")
}

fn pdn_text(game: &DataGame, number: usize) -> anyhow::Result<String> {
    // The run's ply limit does not apply to a finished game.
    let dama = Dama::new(DamaRules { ply_limit: u32::MAX });
    let start = dama.start_position(game.start.as_deref())?;
    let mut position = start.clone();
    let moves = game.move_texts.iter().map(|text| {
        let mv = dama.parse_move(&position, text)?;
        dama.play(&mut position, mv);
        Ok(mv)
    });
    let moves = moves.collect::<anyhow::Result<_>>()?;
    let tags = tags_of(game, number);
    Ok(pdn::write(&PdnGame { tags, start, moves, result: game.outcome }) + "\n")
}

fn tags_of(game: &DataGame, number: usize) -> Vec<(String, String)> {
    let tags = [("Event", game.origin.word().to_owned()), ("Round", number.to_string())];
    tags.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
