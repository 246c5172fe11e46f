//! Counting human games: Hive as everywhere else that human games are read, draughts as PDN.

use std::path::PathBuf;

use book::{OpeningWalk, Step};
use notation::PlayedGame;
use notation::dama::pdn::{self, PdnGame};
use rayon::ThreadPool;
use rayon::prelude::*;
use samples::human_games::{ReadSettings, list_files, read_in_batches};
use shared::catalog::NetworkGame;
use shared::game::Game;
use shared::game::dama::Dama;
use shared::game::hive::Hive;
use shared::game::hive::text::lowest_in_hand;

use super::counting::Counting;
use super::sources::pdn_files;

/// A game of which there are human games in files.
pub trait HumanGame: NetworkGame {
    /// Counts the games in files and folders.
    ///
    /// # Errors
    /// A path that cannot be listed. A file or game that cannot be read is left out.
    fn count_human_games(counting: &mut Counting<Self>, paths: &[PathBuf], pool: &ThreadPool) -> anyhow::Result<()>;
}

impl HumanGame for Hive {
    fn count_human_games(counting: &mut Counting<Self>, paths: &[PathBuf], pool: &ThreadPool) -> anyhow::Result<()> {
        let files = list_files(paths)?.files;
        counting.bar.set_prefix("files");
        counting.bar.set_length(files.len() as u64);
        let settings = ReadSettings { threads: pool.current_num_threads(), ..ReadSettings::default() };
        read_in_batches(&files, settings, |batch| {
            batch.dropped.iter().for_each(|dropped| counting.leave_out(&dropped.to_string()));
            let game_type = counting.game.rules().game_type;
            let (own, others): (Vec<_>, Vec<_>) =
                batch.games.into_iter().partition(|game| game.rules.game_type == game_type);
            counting.left_out.other_type += others.len() as u64;
            counting.left_out.without_result += own.iter().filter(|game| game.outcome.is_none()).count() as u64;
            let book = &*counting;
            let steps = |game: &PlayedGame| Some((steps_of_hive(book, game), game.outcome?));
            let counted: Vec<_> = pool.install(|| own.par_iter().filter_map(steps).collect());
            counting.add(counted);
            counting.bar.set_position(batch.file_count as u64);
            anyhow::Ok(())
        })
    }
}

/// Returns the steps of a game up to the first that the rules of the book do not allow.
fn steps_of_hive(counting: &Counting<Hive>, game: &PlayedGame) -> Vec<Step> {
    let mut walk = OpeningWalk::new(&counting.encoding, counting.plies);
    let mut legal = Vec::new();
    for mv in &game.moves {
        legal.clear();
        counting.game.legal_moves(walk.position(), &mut legal);
        // Records number equal pieces in any order, and later moves refer to the number.
        if walk.is_over() || !legal.contains(&lowest_in_hand(walk.position(), *mv)) {
            break;
        }
        walk.play(*mv, true);
    }
    walk.into_steps()
}

impl HumanGame for Dama {
    fn count_human_games(counting: &mut Counting<Self>, paths: &[PathBuf], pool: &ThreadPool) -> anyhow::Result<()> {
        let files: Vec<PathBuf> = paths.iter().flat_map(|path| pdn_files(path)).collect();
        counting.bar.set_prefix("files");
        counting.bar.set_length(files.len() as u64);
        for file in files {
            match std::fs::read(&file) {
                Ok(bytes) => add_pdn(counting, pool, &file.display().to_string(), &notation::decode(bytes)),
                Err(error) => counting.leave_out(&format!("{}: {error}", file.display())),
            }
            counting.bar.inc(1);
        }
        Ok(())
    }
}

fn add_pdn(counting: &mut Counting<Dama>, pool: &ThreadPool, place: &str, text: &str) {
    let mut games = Vec::new();
    for game in pdn::read(text) {
        match game {
            Ok(game) => games.push(game),
            Err(error) => counting.leave_out(&format!("{place}: {error}")),
        }
    }
    let start = counting.game.hash(&counting.game.initial_position());
    let (own, others): (Vec<_>, Vec<_>) = games.into_iter().partition(|game| counting.game.hash(&game.start) == start);
    counting.left_out.other_start += others.len() as u64;
    counting.left_out.without_result += own.iter().filter(|game| game.result.is_none()).count() as u64;
    let (encoding, plies) = (&counting.encoding, counting.plies);
    let steps = |game: &PdnGame| {
        let mut walk = OpeningWalk::new(encoding, plies);
        for mv in &game.moves {
            if walk.is_over() {
                break;
            }
            walk.play(*mv, true);
        }
        Some((walk.into_steps(), game.result?))
    };
    let counted: Vec<_> = pool.install(|| own.par_iter().filter_map(steps).collect());
    counting.add(counted);
}
