//! Where games come from: the store of a run, data sets, or files of human games. Each comes with its samples.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rayon::prelude::*;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use runtime::logging;
use samples::dataset::{DataSet, DataSetGame, identity_of, is_data_set};
use samples::human_games::check_paths;
use shared::catalog::{GameSpec, GameVisitor};
use shared::encoding::Encoding;
use shared::encoding::hive::HiveEncoding;
use shared::game::Outcome;
use shared::game::hive::{Hive, HiveRules};
use shared::ids::GameId;
use shared::record::{ReplayError, Sample, replay};
use store::{DATABASE_FILE, GameKind, Reader, StoreError, StoredGame};

use super::human_games;

/// Games that are made into samples at once, so that few are held unpacked.
pub(super) const CHUNK_GAMES: usize = 256;

/// Which games to read.
#[derive(Debug, Clone, clap::Args)]
pub struct SourceArgs {
    /// The folder of a run, or data sets, or human games: files, folders with all below them, zip archives.
    #[arg(value_name = "RUN_DIR|PATH", num_args = 1.., required = true)]
    paths: Vec<PathBuf>,
    /// Cells on a side of the network's frame, 8 to 32, for human games; a run has its own.
    #[arg(long, value_name = "N", default_value_t = HiveEncoding::FRAME_DEFAULT)]
    frame: u8,
    /// Plies after which a game ends, for a data set of human games; as game.ply_limit of what is to learn from it.
    #[arg(long, value_name = "N", default_value_t = HiveRules::default().ply_limit, value_parser = number_in(1..=u32::MAX))]
    ply_limit: u32,
    /// Only the newest N games; of human games, the last N.
    #[arg(long, value_name = "N", value_parser = number_in(1..=usize::MAX))]
    newest: Option<usize>,
}

impl SourceArgs {
    /// Returns whether `file` exists and is, or lies in, one of the paths.
    pub fn contains(&self, file: &Path) -> bool {
        let Ok(file) = file.canonicalize() else { return false };
        self.paths.iter().filter_map(|path| path.canonicalize().ok()).any(|path| file.starts_with(path))
    }

    /// Returns the error where no finished game is in the paths.
    pub fn no_games(&self) -> anyhow::Error {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        anyhow::anyhow!("{}: no finished games there", paths.join(", "))
    }
}

/// Where a game comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// It was played in a run.
    Run(GameKind),
    /// It is one of the human games.
    HumanGames,
    /// It is from a data set, which does not say.
    DataSet,
}

impl Origin {
    /// Returns the name of its column.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run(kind) => kind.word(),
            Self::HumanGames => "human_games",
            Self::DataSet => "data_set",
        }
    }
}

/// A game with its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DataGame {
    /// Where it comes from.
    pub origin: Origin,
    /// Name of the game and its type.
    pub type_name: String,
    /// Whether it began from an endgame instead of the initial position.
    pub is_from_endgame: bool,
    /// The position that it began from instead, if it is known.
    pub start: Option<String>,
    /// Number of plies.
    pub ply_count: u32,
    /// Equal for equal games.
    pub identity: u64,
    /// The moves in notation; none where only positions are kept.
    pub move_texts: Vec<String>,
    /// Who won; `None` if it is unknown.
    pub outcome: Option<Outcome>,
    /// Whether it ended at the ply limit.
    pub is_cut_off: bool,
    /// Positions to learn from.
    pub samples: Vec<Sample>,
}

/// What is done with each game.
pub trait VisitGames {
    /// Visits the next game; `encoding` is the encoding of its samples.
    fn visit_game<E: Encoding>(&mut self, encoding: &E, game: &DataGame) -> anyhow::Result<()>;

    /// Hears of games that cannot be visited.
    fn hear_of_lost(&mut self, what: &str) {
        logging::print_line(what);
    }
}

/// Games that can be visited.
pub enum GameSource {
    /// The finished games of a run.
    Run { reader: Box<Reader>, spec: GameSpec, newest: usize },
    /// Data sets of one game.
    DataSets { paths: Vec<PathBuf>, spec: GameSpec, newest: usize },
    /// Human games of all types, shown as `encoding` shows them.
    HumanGames { paths: Vec<PathBuf>, spec: GameSpec, encoding: HiveEncoding, newest: usize },
}

impl GameSource {
    /// Finds the games that `args` name.
    ///
    /// # Errors
    /// If a run is named beside something else, or its store cannot be opened.
    pub fn open(args: &SourceArgs) -> anyhow::Result<Self> {
        let newest = args.newest.unwrap_or(usize::MAX);
        if args.paths.iter().any(|path| is_data_set(path)) {
            let spec = common_spec(&args.paths)?;
            return Ok(Self::DataSets { paths: args.paths.clone(), spec, newest });
        }
        let is_run = |path: &&PathBuf| path.join(DATABASE_FILE).is_file();
        let Some(run_dir) = args.paths.iter().find(is_run) else {
            anyhow::ensure!(
                HiveEncoding::FRAMES.contains(&args.frame),
                UsageError(format!("--frame {}: not in 8..=32", args.frame))
            );
            if let Some(missing) = args.paths.iter().find(|path| matches!(path.try_exists(), Ok(false))) {
                let what =
                    format!("{}: no run there, and no games: there is no such file or folder", missing.display());
                return Err(UsageError(what).into());
            }
            check_paths(&args.paths)?;
            let encoding = human_games::as_people_play(args.frame)?;
            let spec = human_games::spec(args.frame, args.ply_limit);
            return Ok(Self::HumanGames { paths: args.paths.clone(), spec, encoding, newest });
        };
        if args.paths.len() > 1 {
            let what = format!("{} is a run: name it alone, or human games", run_dir.display());
            return Err(UsageError(what).into());
        }
        open_run(run_dir, newest).with_context(|| run_dir.display().to_string())
    }

    /// Returns the game of a run or of data sets; `None` for human games.
    pub const fn spec(&self) -> Option<&GameSpec> {
        match self {
            Self::Run { spec, .. } | Self::DataSets { spec, .. } => Some(spec),
            Self::HumanGames { .. } => None,
        }
    }

    /// Returns the game that a data set of the games is of: of human games, Base+MLP by the rules of a run.
    pub fn data_set_spec(&self) -> GameSpec {
        match self {
            Self::Run { spec, .. } | Self::DataSets { spec, .. } | Self::HumanGames { spec, .. } => spec.clone(),
        }
    }

    /// Returns the same games with the samples that a run of [`GameSource::data_set_spec`] has of them: where its rules end
    /// a game, human games end too.
    pub fn for_data_set(self) -> Self {
        match self {
            Self::HumanGames { paths, newest, spec: spec @ GameSpec::Hive { rules, frame }, .. } => {
                Self::HumanGames { paths, spec, encoding: HiveEncoding::new(Hive::new(rules), frame), newest }
            }
            source => source,
        }
    }

    /// Visits each game, in the order in which they finished; of a run, those of `kinds`. A game that cannot be read is
    /// left out, and the visitor hears of it.
    ///
    /// # Errors
    /// An error of `visitor`, or if the source cannot be read at all.
    pub fn visit(&self, kinds: &[GameKind], visitor: &mut impl VisitGames) -> anyhow::Result<()> {
        match self {
            Self::Run { reader, spec, newest } => {
                spec.visit(RunVisit { reader, spec, newest: *newest, kinds, visitor })?
            }
            Self::DataSets { paths, spec, newest } => {
                spec.visit(DataSetVisit { paths, spec, newest: *newest, visitor })?
            }
            Self::HumanGames { paths, encoding, newest, .. } => human_games::visit(paths, encoding, *newest, visitor),
        }
    }
}

/// Opens the games of one path, a run or a data set.
///
/// # Errors
/// If it is neither, or cannot be read.
pub fn open_samples(path: &Path) -> anyhow::Result<GameSource> {
    if path.join(DATABASE_FILE).is_file() {
        return open_run(path, usize::MAX).with_context(|| path.display().to_string());
    }
    let spec = DataSet::open(path)?.spec().clone();
    Ok(GameSource::DataSets { paths: vec![path.to_owned()], spec, newest: usize::MAX })
}

fn open_run(run_dir: &Path, newest: usize) -> anyhow::Result<GameSource> {
    let reader = Reader::of_run(run_dir)?;
    let spec = reader.run()?.game_spec()?;
    Ok(GameSource::Run { reader: Box::new(reader), spec, newest })
}

/// A run of a game that is still to be chosen.
struct RunVisit<'a, T> {
    reader: &'a Reader,
    spec: &'a GameSpec,
    newest: usize,
    kinds: &'a [GameKind],
    visitor: &'a mut T,
}

impl<T: VisitGames> GameVisitor for RunVisit<'_, T> {
    type Output = anyhow::Result<()>;

    fn visit<E: Encoding>(self, encoding: E) -> anyhow::Result<()> {
        let type_name = self.spec.type_name();
        for &kind in self.kinds {
            let game_ids = self.reader.finished_game_ids(kind)?;
            let first = game_ids.len().saturating_sub(self.newest);
            let thinned_count = self.reader.thinned_game_count(kind)?;
            if thinned_count > 0 && game_ids.len() < self.newest {
                let what = format!("left out: {thinned_count} games without plies (store.keep_games)");
                self.visitor.hear_of_lost(&what);
            }
            for chunk in game_ids[first..].chunks(CHUNK_GAMES) {
                let stored = chunk.iter().filter_map(|game_id| stored(self.reader, *game_id).transpose());
                let stored: Vec<_> = stored.collect::<anyhow::Result<_>>()?;
                let replayed: Vec<_> =
                    stored.into_par_iter().map(|game| game.and_then(|game| of_run(&encoding, game))).collect();
                for game in replayed {
                    match game {
                        Ok(game) => {
                            self.visitor.visit_game(&encoding, &DataGame { type_name: type_name.clone(), ..game })?
                        }
                        Err(error) => {
                            self.visitor.hear_of_lost(&format!("left out: {:#}", anyhow::Error::from(error)));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Why a game of a run is left out.
#[derive(Debug, thiserror::Error)]
enum UnreadableGame {
    #[error("{0}")]
    Damaged(String),
    #[error("game {game_id}")]
    Replay { game_id: GameId, source: ReplayError },
}

/// Reads a game from the store; the inner error says why it is left out.
fn stored(reader: &Reader, game_id: GameId) -> anyhow::Result<Option<Result<StoredGame, UnreadableGame>>> {
    match reader.game(game_id) {
        Ok(game) => Ok(game.map(Ok)),
        Err(StoreError::Damaged { what }) => Ok(Some(Err(UnreadableGame::Damaged(what)))),
        Err(error) => Err(error.into()),
    }
}

/// Replays a stored game.
fn of_run<E: Encoding>(encoding: &E, game: StoredGame) -> Result<DataGame, UnreadableGame> {
    let failed = |source| UnreadableGame::Replay { game_id: game.game.game_id, source };
    let replayed = replay(encoding, &game.record).map_err(failed)?;
    let move_texts: Vec<String> = game.record.plies.into_iter().map(|ply| ply.move_text).collect();
    Ok(DataGame {
        origin: Origin::Run(game.game.kind),
        type_name: String::new(),
        is_from_endgame: game.record.start.is_some(),
        ply_count: replayed.ply_count,
        identity: identity_of_moves(game.record.start.as_deref(), &move_texts),
        start: game.record.start,
        move_texts,
        outcome: replayed.outcome,
        is_cut_off: replayed.is_cut_off,
        samples: replayed.samples,
    })
}

/// Returns the game that all of `paths` are data sets of.
fn common_spec(paths: &[PathBuf]) -> anyhow::Result<GameSpec> {
    let mut common: Option<GameSpec> = None;
    for path in paths {
        if !is_data_set(path) {
            let what = format!("{} is not a data set: name only data sets, or none", path.display());
            return Err(UsageError(what).into());
        }
        let spec = DataSet::open(path)?.spec().clone();
        let common = common.get_or_insert_with(|| spec.clone());
        if !common.has_samples_of(&spec) {
            return Err(UsageError(format!("{} is of another game than {}", path.display(), paths[0].display())).into());
        }
    }
    common.context("no data set was named")
}

/// Data sets of a game that is still to be chosen.
struct DataSetVisit<'a, T> {
    paths: &'a [PathBuf],
    spec: &'a GameSpec,
    newest: usize,
    visitor: &'a mut T,
}

impl<T: VisitGames> GameVisitor for DataSetVisit<'_, T> {
    type Output = anyhow::Result<()>;

    fn visit<E: Encoding>(self, encoding: E) -> anyhow::Result<()> {
        let mut skip_count = match self.newest {
            usize::MAX => 0,
            newest => count_games(self.paths)?.saturating_sub(newest),
        };
        for path in self.paths {
            let mut data = DataSet::open(path)?;
            while let Some(games) = data.next_games()? {
                let skipped = skip_count.min(games.len());
                skip_count -= skipped;
                let of_set = |game| of_data_set(&encoding, self.spec, game);
                let games: Vec<_> = games.into_par_iter().skip(skipped).map(of_set).collect();
                for game in &games {
                    self.visitor.visit_game(&encoding, game)?;
                }
            }
            if let Some(loss) = data.loss() {
                self.visitor.hear_of_lost(&loss);
            }
        }
        Ok(())
    }
}

/// Returns the number of games that can be read.
fn count_games(paths: &[PathBuf]) -> anyhow::Result<usize> {
    let mut count = 0;
    for path in paths {
        let mut data = DataSet::open(path)?;
        while let Some(games) = data.next_games()? {
            count += games.len();
        }
    }
    Ok(count)
}

fn of_data_set<E: Encoding>(encoding: &E, spec: &GameSpec, game: DataSetGame) -> DataGame {
    let game_type = game.samples.first().and_then(|sample| spec.packed_game_type(&sample.packed));
    DataGame {
        origin: Origin::DataSet,
        type_name: game_type.map_or_else(|| spec.type_name(), |game_type| game_type.to_string()),
        is_from_endgame: game.is_from_endgame,
        start: None,
        ply_count: game.ply_count,
        identity: identity_of(encoding, &game.samples),
        move_texts: Vec::new(),
        outcome: Some(game.outcome),
        is_cut_off: game.is_cut_off,
        samples: game.samples,
    }
}

/// Returns a number that is equal for games with the same start and moves.
pub(super) fn identity_of_moves(start: Option<&str>, move_texts: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (start, move_texts).hash(&mut hasher);
    hasher.finish()
}
