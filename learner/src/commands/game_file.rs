//! Writes games as other programs read them: UHP GameStrings, or PDN.

use std::path::Path;

use notation::dama::pdn::{self, PdnGame};
use notation::uhp::{GameState, join_game};
use samples::part_file::{PartFile, PartFileError};
use shared::catalog::GameFormat;
use shared::game::Game;
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::GameType;

use super::game_sources::DataGame;

/// A file of games that is being written.
pub struct GameFile {
    format: GameFormat,
    file: PartFile,
    game_count: usize,
}

impl GameFile {
    /// Begins a file that will be `path`.
    ///
    /// # Errors
    /// [`PartFileError`].
    pub fn create(path: &Path, format: GameFormat) -> Result<Self, PartFileError> {
        Ok(Self { format, file: PartFile::create(path)?, game_count: 0 })
    }

    /// Appends a game.
    ///
    /// # Errors
    /// If the file cannot be written, or the game is not of this format.
    pub fn write(&mut self, game: &DataGame) -> anyhow::Result<()> {
        self.game_count += 1;
        let text = match self.format {
            GameFormat::Uhp => uhp_text(game)?,
            GameFormat::Pdn => pdn_text(game, self.game_count)?,
        };
        Ok(self.file.write(text.as_bytes())?)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`PartFileError`].
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
    let tags = [("Event", game.origin.word().to_owned()), ("Round", number.to_string())];
    let tags = tags.map(|(name, value)| (name.to_owned(), value)).to_vec();
    Ok(pdn::write(&PdnGame { tags, start, moves, result: game.outcome }) + "\n")
}
