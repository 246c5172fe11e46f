//! The flags that everything which plays matches shares: how games begin and end, and where networks are computed.

#[cfg(feature = "network")]
use arena::players::NetworkPlaySettings;
use arena::players::PlayerSpec;
use notation::PLY_COUNT_MAX;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use shared::bounds::OPENING_PLIES;
#[cfg(feature = "network")]
use shared::bounds::THREADS;
#[cfg(feature = "network")]
use shared::precision::AnswerPrecision;

/// Games at once if no player is an outside engine: their leaves share batches.
const GAMES_AT_ONCE: usize = 32;

/// How games begin and end, and how many go on at once.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct GameTerms {
    /// Random plies that both games of a pair start with, 0 to 40.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = number_in(OPENING_PLIES))]
    pub opening_plies: u32,
    /// Plies after which a game is a draw.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number_in(1..=PLY_COUNT_MAX))]
    pub ply_limit: u32,
    /// Seed of the openings and of the random choices of players.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Games played at once; by default 32, with outside engines one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    games_at_once: Option<u32>,
}

impl GameTerms {
    /// Checks that games can begin.
    ///
    /// # Errors
    /// [`UsageError`] for an opening as long as the game.
    pub fn check(&self) -> Result<(), UsageError> {
        let Self { opening_plies, ply_limit, .. } = *self;
        if opening_plies >= ply_limit {
            return Err(UsageError(format!("--opening-plies {opening_plies}: not below --ply-limit {ply_limit}")));
        }
        Ok(())
    }

    /// Returns how many games of these players are played at once: as many as the user wants, 32, or one for each core
    /// if an outside engine is among them.
    pub fn games_at_once(&self, players: &[PlayerSpec]) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let usual = if players.iter().any(PlayerSpec::is_engine) { cores } else { GAMES_AT_ONCE };
        self.games_at_once.map_or(usual, |count| count as usize)
    }
}

/// Where networks are computed.
#[cfg(feature = "network")]
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct NetworkTerms {
    /// Where networks are computed: auto, cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: net::DeviceChoice,
    /// In which numbers networks answer: auto, float32, bfloat16, float16 (GPUs) or int8 (processors); a player's own
    /// precision=... goes above it.
    #[arg(long, value_name = "NUMBERS", default_value = "auto")]
    precision: AnswerPrecision,
    /// Threads that compute one network on the CPU; 0: one for each core.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_in(THREADS))]
    network_threads: usize,
}

#[cfg(feature = "network")]
impl NetworkTerms {
    /// Returns how networks are computed.
    pub fn settings(self) -> NetworkPlaySettings {
        NetworkPlaySettings {
            device: self.device,
            precision: self.precision,
            thread_count: self.network_threads,
            batches_at_once: 1,
        }
    }
}
