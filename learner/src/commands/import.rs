//! `learner import`: gathers the games of an archive, as a site publishes it, in one file.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use runtime::exit::UsageError;
use runtime::flags::number_in;
use runtime::{exit, logging};
use samples::game_collection::GameCollection;
use samples::human_games::{DroppedGame, ReadBatch, ReadSettings, is_contradicted, list_files, read_in_batches};

/// Dropped games that are named on stderr; the report lists all of them.
const NAMED_COUNT_MAX: u64 = 20;

/// What to read, and where to put it.
#[derive(Debug, Clone, clap::Args)]
pub struct ImportArgs {
    /// Archives: files, folders with all below them, zip archives; games of Hive in any format that is read.
    #[arg(value_name = "PATH", num_args = 1.., required = true)]
    paths: Vec<PathBuf>,
    /// File of the games, as UHP strings one a line. If it is there, what is missing in it is added; FILE.read lists the
    /// files that were read.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Threads that read; 0: all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_in(ReadSettings::THREADS))]
    read_threads: usize,
}

/// Gathers games in a file.
///
/// # Errors
/// If a path is not there, or the files cannot be written. A file that cannot be read, or a game in it, is left out and
/// named.
pub fn import(args: &ImportArgs) -> anyhow::Result<()> {
    let listed = list_files(&args.paths)?;
    let mut collection = GameCollection::open(&args.out)?;
    let out = args.out.canonicalize().with_context(|| args.out.display().to_string())?;
    let is_own = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == out);
    if listed.files.iter().any(is_own) {
        let what = format!("--out {}: it lies among what is read: name a file elsewhere", args.out.display());
        return Err(UsageError(what).into());
    }
    let files: Vec<PathBuf> = listed.files.into_iter().filter(|file| !collection.has_read(file)).collect();
    let mut import = Import { report_path: report_path(&args.out), ..Import::default() };
    let bar = logging::bar();
    bar.set_length(files.len() as u64);
    bar.set_prefix("files");
    let settings = ReadSettings { threads: args.read_threads, ..ReadSettings::default() };
    read_in_batches(&files, settings, |batch| {
        let file_count = batch.file_count;
        import.add(&mut collection, &batch)?;
        collection.commit(&files[import.done_count..file_count])?;
        import.done_count = file_count;
        bar.set_position(file_count as u64);
        bar.set_message(format!("{} games", collection.game_count()));
        Ok::<_, anyhow::Error>(())
    })?;
    bar.finish_and_clear();
    let text = import.summary(&args.out, &collection);
    exit::print(&text).context("write to stdout")
}

/// What became of the games so far.
#[derive(Debug, Default)]
struct Import {
    report_path: PathBuf,
    done_count: usize,
    added_count: u64,
    known_count: u64,
    left_out_count: u64,
    contradicted_count: u64,
}

impl Import {
    fn add(&mut self, collection: &mut GameCollection, batch: &ReadBatch) -> anyhow::Result<()> {
        for game in &batch.games {
            let is_new = collection.add(game);
            *(if is_new { &mut self.added_count } else { &mut self.known_count }) += 1;
            self.contradicted_count += u64::from(is_contradicted(game));
        }
        self.report(&batch.dropped).with_context(|| self.report_path.display().to_string())
    }

    /// Appends what was left out to the report, the first of it also to stderr.
    fn report(&mut self, dropped: &[DroppedGame]) -> std::io::Result<()> {
        if dropped.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for dropped in dropped {
            self.left_out_count += 1;
            if self.left_out_count <= NAMED_COUNT_MAX {
                logging::print_line(&format!("left out: {dropped}"));
            }
            text += &format!("{dropped}\n");
        }
        OpenOptions::new().append(true).create(true).open(&self.report_path)?.write_all(text.as_bytes())
    }

    fn summary(&self, out: &Path, collection: &GameCollection) -> String {
        let mut text = format!(
            "files {}, games added {}, there already {}, contradicted by their source {}, left out {}\n{}: {} games\n",
            self.done_count,
            self.added_count,
            self.known_count,
            self.contradicted_count,
            self.left_out_count,
            out.display(),
            collection.game_count(),
        );
        if self.left_out_count > 0 {
            text += &format!("what was left out, and why: {}\n", self.report_path.display());
        }
        if collection.game_count() == 0 {
            return text + "none of the files holds a game of Hive; `alveare book` reads those of draughts\n";
        }
        text + &format!("next: learner pretrain --preset NAME --games {}\n", out.display())
    }
}

fn report_path(out: &Path) -> PathBuf {
    let mut path = out.as_os_str().to_owned();
    path.push(".left-out.txt");
    path.into()
}
