//! `learner export`: writes games as other programs read them, and samples as tensors or as a data set.

use std::path::PathBuf;

use anyhow::Context;
use runtime::exit::UsageError;
use runtime::{exit, logging};
use samples::dataset::{DataSetGame, DataSetWriter};
use shared::catalog::GameFormat;
use shared::encoding::Encoding;
use store::GameKind;

use super::game_file::GameFile;
use super::game_sources::{DataGame, GameSource, SourceArgs, VisitGames};
use super::sample_file::{NO_POSITIONS, SampleFile};

/// What to write, and where.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Write the games to this file: of Hive as UHP strings, one a line, or as PGN if its name ends in .pgn; of draughts
    /// as PDN.
    #[arg(long, value_name = "FILE")]
    games: Option<PathBuf>,
    /// Write the samples to this file, as tensors (.safetensors); a position of a frame of 16 takes 25 kB.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Write the samples to this file, as a data set to learn from again (`learner train --data`). Of human games: those
    /// up to where the rules of a run end a game (--ply-limit, a third repetition), of all types of Hive.
    #[arg(long, value_name = "FILE")]
    dataset: Option<PathBuf>,
    /// Which games of a run.
    #[arg(long, value_enum, value_name = "KIND", default_value_t = ExportedGames::SelfPlay)]
    kind: ExportedGames,
}

/// Games of a run, by what they were played for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportedGames {
    /// Games to learn from.
    SelfPlay,
    /// Games of gates; they have no samples.
    Gate,
    /// Both, self-play first.
    All,
}

impl ExportedGames {
    const fn kinds(self) -> &'static [GameKind] {
        match self {
            Self::SelfPlay => &[GameKind::SelfPlay],
            Self::Gate => &[GameKind::Gate],
            Self::All => &[GameKind::SelfPlay, GameKind::Gate],
        }
    }
}

/// Writes the files that the flags name.
///
/// # Errors
/// If the games cannot be read, there are none, or a file cannot be written.
pub fn export(args: &ExportArgs) -> anyhow::Result<()> {
    if args.games.is_none() && args.samples.is_none() && args.dataset.is_none() {
        let what = "name what to write: --games FILE, --samples FILE.safetensors, --dataset FILE.samples";
        return Err(UsageError(what.into()).into());
    }
    let source = GameSource::open(&args.source)?;
    check(args, &source)?;
    let source = if args.dataset.is_some() { source.for_data_set() } else { source };
    let mut export = Export {
        games: args
            .games
            .as_deref()
            .zip(format_of(&source))
            .map(|(path, format)| GameFile::create(path, format))
            .transpose()?,
        samples: args.samples.as_deref().map(SampleFile::create).transpose()?,
        dataset: args
            .dataset
            .as_deref()
            .map(|path| DataSetWriter::create(path, &source.data_set_spec()))
            .transpose()?,
        game_count: 0,
        spinner: logging::spinner(),
    };
    source.visit(args.kind.kinds(), &mut export)?;
    export.spinner.finish_and_clear();
    if export.game_count == 0 {
        return Err(args.source.no_games());
    }
    let game = source.spec().map_or_else(|| Ok(r#"{"name":"hive"}"#.to_owned()), serde_json::to_string)?;
    let mut output = format!("games {}\n", export.game_count);
    if let Some(samples) = export.samples {
        output += &format!("samples {}\n", samples.sample_count());
        samples.finish(&game)?;
    }
    if let Some(dataset) = export.dataset {
        anyhow::ensure!(dataset.counts().samples > 0, NO_POSITIONS);
        let counts = dataset.finish()?;
        output += &format!("data set: games {}, samples {}\n", counts.games, counts.samples);
    }
    export.games.map(GameFile::finish).transpose()?;
    exit::print(&output).context("write to stdout")
}

/// Refuses what cannot be exported from the source.
fn check(args: &ExportArgs, source: &GameSource) -> Result<(), UsageError> {
    let refused = |what: &str| Err(UsageError(what.to_owned()));
    let files: Vec<_> = [&args.games, &args.samples, &args.dataset].into_iter().flatten().collect();
    for (index, file) in files.iter().enumerate() {
        if files[..index].contains(file) {
            return refused(&format!("{}: named twice; each file needs a name of its own", file.display()));
        }
        if args.source.contains(file) {
            return refused(&format!("{}: it is part of what is read; name another file", file.display()));
        }
    }
    match source {
        GameSource::DataSets { .. } if args.games.is_some() => {
            refused("--games: a data set holds positions, not moves")
        }
        GameSource::Run { .. } if args.games.is_some() && format_of(source).is_none() => {
            refused("--games: no other program plays this game, so there is no format for it")
        }
        _ => Ok(()),
    }
}

/// Returns how games are written; `None` if only this project plays them.
const fn format_of(source: &GameSource) -> Option<GameFormat> {
    match source.spec() {
        Some(spec) => spec.format(),
        // Human games are games of Hive.
        None => Some(GameFormat::Uhp),
    }
}

/// What is being written.
struct Export {
    games: Option<GameFile>,
    samples: Option<SampleFile>,
    dataset: Option<DataSetWriter>,
    game_count: usize,
    spinner: indicatif::ProgressBar,
}

impl VisitGames for Export {
    fn visit_game<E: Encoding>(&mut self, encoding: &E, game: &DataGame) -> anyhow::Result<()> {
        if let Some(games) = &mut self.games {
            games.write(game)?;
        }
        if let Some(samples) = &mut self.samples {
            samples.push(encoding, &game.samples, self.game_count)?;
        }
        // A game without samples, such as one of a gate, is left out of a data set.
        if let (Some(dataset), Some(outcome), false) = (&mut self.dataset, game.outcome, game.samples.is_empty()) {
            let DataGame { is_from_endgame, is_cut_off, ply_count, .. } = *game;
            let samples = game.samples.clone();
            dataset.push(&DataSetGame { outcome, is_from_endgame, is_cut_off, ply_count, samples })?;
        }
        self.game_count += 1;
        self.spinner.set_message(format!("{} games", self.game_count));
        self.spinner.tick();
        Ok(())
    }
}
