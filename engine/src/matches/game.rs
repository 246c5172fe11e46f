//! Which game a match is of: the one that is named, that of the run, that of the players, or the only one of a ladder, in
//! this order.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;
use arena::players::{EngineSpec, PlayerSpec, Protocol};
use arena::{RunGameError, game_of_run};
use runtime::exit::UsageError;
use shared::catalog::{GameSpec, NetworkGame};
use shared::game::dama::{Dama, DamaRules};
use shared::game::hive::{GameType, Hive, HiveRules};

use super::options::{ChosenGame, PlayOptions};
use crate::start::{GameName, ensure_absent};

/// A game, and of Hive its type, as far as they are known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownGame {
    name: Option<GameName>,
    game_type: Option<GameType>,
}

impl KnownGame {
    /// Returns the game of the run in `dir`, of which nothing is known if there is none: such a folder has a ladder too.
    fn of_run(dir: &Path) -> anyhow::Result<Self> {
        let spec = match game_of_run(dir) {
            Err(RunGameError::NoRun(_)) => return Ok(Self::default()),
            spec => spec?,
        };
        let Some(name) = GameName::of_spec(&spec) else {
            let what = format!("{}: there are no matches of {spec}: name another --run-dir", dir.display());
            bail!(UsageError(what));
        };
        let game_type = if let GameSpec::Hive { rules, .. } = spec { Some(rules.game_type) } else { None };
        Ok(Self { name: Some(name), game_type })
    }

    /// Returns the game that results of this kind are of; `None` for a kind that this program does not know.
    fn of_type_name(text: &str) -> Option<Self> {
        if text == Dama::default().spec(Dama::USUAL_VIEW).type_name() {
            return Some(Self { name: Some(GameName::Dama), game_type: None });
        }
        text.parse().ok().map(|game_type| Self { name: Some(GameName::Hive), game_type: Some(game_type) })
    }

    /// Returns the only one of the `kept` kinds of game that this can be; itself if it can be none of them.
    fn or_only_of(self, kept: &BTreeSet<String>) -> Result<Self, UsageError> {
        let is_fitting = |kept: &Self| {
            self.name.is_none_or(|name| kept.name == Some(name))
                && self.game_type.is_none_or(|game_type| kept.game_type == Some(game_type))
        };
        let fitting = kept.iter().filter_map(|text| Self::of_type_name(text)).filter(is_fitting);
        match fitting.collect::<Vec<_>>()[..] {
            [] => Ok(self),
            [only] => Ok(only),
            ref several => {
                let flags: Vec<String> = several.iter().map(Self::flag).collect();
                Err(UsageError(format!("--run-dir: matches of several games are there: say {}", flags.join(" or "))))
            }
        }
    }

    /// Returns what names it on the command line.
    fn flag(&self) -> String {
        match self.game_type {
            Some(game_type) => format!("--type {game_type}"),
            None => format!("--game {}", self.name.unwrap_or(GameName::Hive).flag()),
        }
    }
}

impl PlayOptions {
    /// Returns the game of a match between these players by its rules, whose result is kept in the ladder of `run_dir`. Where
    /// nothing else says it, that is the only one of the games of `kept`, if there are any.
    ///
    /// # Errors
    /// [`UsageError`] for a text that is not a player, players and a run of which one is of another game, several `kept` games
    /// of which none is named, an option of another game, or an opening as long as the game; a run that cannot be read.
    pub(super) fn game(
        &self,
        texts: [&str; 2],
        run_dir: Option<&Path>,
        kept: &BTreeSet<String>,
    ) -> anyhow::Result<ChosenGame> {
        let known = self.known_game(run_dir)?;
        let players = self.players(texts, Hive::EXPLORATION)?;
        let [first, second] = [0, 1].map(|index| game_of_player(&players[index]));
        if let (None, Some(first), Some(second)) = (known.name, first, second)
            && first != second
        {
            let [a, b] = texts;
            let what = format!("player {a} plays {first}, player {b} {second}: name two of one game (--game)");
            bail!(UsageError(what));
        }
        let name = known.name.or(first).or(second);
        for (player, found) in texts.iter().zip([first, second]) {
            if let (Some(found), Some(name)) = (found, name)
                && found != name
            {
                let why = match run_dir.filter(|_| self.game.is_none()) {
                    Some(dir) => format!("the run {} {name}: name another player or --run-dir", dir.display()),
                    None => format!("--game {} is {name}: say --game {}", name.flag(), found.flag()),
                };
                bail!(UsageError(format!("player {player}: plays {found}, and {why}")));
            }
        }
        self.rules(KnownGame { name, ..known }.or_only_of(kept)?)
    }

    /// Returns the game whose ladder in `run_dir` is shown, by its rules. In a folder without a run it is the only one of
    /// the games of `kept`.
    ///
    /// # Errors
    /// [`UsageError`] for another game than that of the run, several `kept` games of which none is named, an option of
    /// another game, or an opening as long as the game; a run that cannot be read.
    pub(super) fn ladder_game(&self, run_dir: &Path, kept: &BTreeSet<String>) -> anyhow::Result<ChosenGame> {
        self.rules(self.known_game(Some(run_dir))?.or_only_of(kept)?)
    }

    /// Returns the game that is named, else that of the run in `run_dir`.
    fn known_game(&self, run_dir: Option<&Path>) -> anyhow::Result<KnownGame> {
        let of_run = run_dir.map(KnownGame::of_run).transpose()?.unwrap_or_default();
        if let (Some(named), Some(of_run), Some(dir)) = (self.game, of_run.name, run_dir)
            && named != of_run
        {
            let (dir, flag) = (dir.display(), named.flag());
            bail!(UsageError(format!(
                "--game {flag}: the run {dir} plays {of_run}: leave --game away or name another --run-dir"
            )));
        }
        Ok(KnownGame { name: self.game.or(of_run.name), game_type: self.game_type.or(of_run.game_type) })
    }

    fn rules(&self, known: KnownGame) -> anyhow::Result<ChosenGame> {
        self.terms.check()?;
        let ply_limit = self.terms.ply_limit;
        match known.name {
            None | Some(GameName::Hive) => {
                let game_type = known.game_type.unwrap_or(GameType::MLP);
                Ok(ChosenGame::Hive(Hive::new(HiveRules { game_type, ply_limit, ..HiveRules::default() })))
            }
            Some(GameName::Dama) => {
                ensure_absent(self.game_type.is_none(), "--type", "hive")?;
                Ok(ChosenGame::Dama(Dama::new(DamaRules { ply_limit })))
            }
        }
    }
}

/// Returns the game that a player plays, if it plays one alone.
fn game_of_player(player: &PlayerSpec) -> Option<GameName> {
    match player {
        PlayerSpec::Engine(EngineSpec { protocol: Protocol::Uhp, .. }) => Some(GameName::Hive),
        PlayerSpec::Engine(EngineSpec { protocol: Protocol::Hub, .. }) => Some(GameName::Dama),
        player => GameName::of_network(player.network()?),
    }
}
