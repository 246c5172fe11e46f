//! `cargo xtask up`: a whole training run on this machine, from nothing, with one log.
//!
//! Here stands what is started and when it ends; `children` owns the processes, `screen` what is shown, `learner_log`
//! reads the lines of the learner's log that matter here.

mod children;
mod learner_log;
mod plan;
mod screen;

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::libtorch;
use crate::steps::PROGRAM_PACKAGES;
use crate::workspace::{Workspace, ended, run};
use children::{Child, Line};
use learner_log::BestNetwork;
use plan::Plan;
use screen::Screen;

/// How often children and signals are looked at when there is nothing to show.
const TICK: Duration = Duration::from_millis(100);
/// How long a child may take to store what it holds after it was asked to stop.
const STOP_DEADLINE: Duration = Duration::from_secs(30);
/// How long the last lines of a child that ended are waited for.
const LAST_LINES_DEADLINE: Duration = Duration::from_secs(2);
/// Lines waiting to be shown. When it is full, the child that writes waits.
const LINE_QUEUE_CAPACITY: usize = 1024;

/// What to run.
#[derive(Debug, Args)]
pub struct UpArguments {
    /// Settings to train with: a file `config/PRESET.toml`.
    #[arg(long, default_value = "hive-cpu")]
    preset: String,
    /// Where the run is kept. Started again with the same folder, it goes on.
    #[arg(long, default_value = "run")]
    run_dir: PathBuf,
    /// Stop after this many iterations, counted from this start; 0: never.
    #[arg(long, value_name = "N")]
    iterations: Option<u32>,
    /// Number of actor processes; by default as many as keep the cores busy.
    #[arg(long)]
    actors: Option<usize>,
    /// Network that a new run starts from: ready (the one that the learner carries; it grows where the preset's is larger), a
    /// file, a run directory (its best network), or the folder of `learner pretrain` or `learner train`. A run that is there
    /// goes on if it began from this network, and is refused if not.
    #[arg(long, value_name = "ready|FILE|DIR")]
    resume: Option<PathBuf>,
    /// Keep backups in a folder, file:///FOLDER or s3://BUCKET/PREFIX, and begin with the newest there, if there is one and
    /// the run directory has no run.
    #[arg(long, value_name = "URL")]
    restore: Option<String>,
}

/// Builds, starts, watches and stops everything.
pub fn up(workspace: &Workspace, arguments: &UpArguments) -> Result<ExitCode> {
    let preset = plan::preset_file(workspace.root(), &arguments.preset)?;
    plan::check_resume(arguments)?;
    let libtorch = libtorch::ensure(libtorch::Flavour::of_this_machine())?;
    let mut build = workspace.cargo_with(&libtorch);
    build.args(["build", "--release"]);
    for package in PROGRAM_PACKAGES {
        build.args(["--package", package]);
    }
    run(&mut build).context("build the programs")?;

    let plan = Plan::new(workspace, arguments, preset, libtorch)?;
    let signals = count_signals()?;
    let (sender, lines) = sync_channel(LINE_QUEUE_CAPACITY);
    let screen = Screen::new(plan.name_width());
    screen.say(&plan.summary());
    let children = plan.programs().into_iter().map(|program| Child::new(program, sender.clone())).collect();
    let mut programs =
        RunningPrograms { children, lines, screen, signals, programs_dir: plan.programs_dir(), best_network: None };
    let outcome = programs.run();
    programs.stop_all();
    programs.report(outcome)
}

/// How a run came to its end.
#[derive(Debug)]
enum Outcome {
    /// The learner has done all it was asked for.
    Finished,
    /// A person or the system asked for it.
    Interrupted,
    /// The learner failed, or a program could not be started.
    Failed(anyhow::Error),
}

/// The end of a learner that failed.
#[derive(Debug, thiserror::Error)]
#[error("the learner {}: {last_words}", ended(*.status))]
pub struct LearnerFailed {
    status: ExitStatus,
    last_words: String,
}

impl LearnerFailed {
    /// Returns the exit code that the learner's end asks for, which tells wrong settings (64) from other failures (1).
    pub fn exit_code(&self) -> u8 {
        self.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }
}

/// The running programs. The learner is the first child.
struct RunningPrograms {
    children: Vec<Child>,
    lines: Receiver<Line>,
    screen: Screen,
    signals: Arc<AtomicUsize>,
    /// Where the programs lie, for a person to type.
    programs_dir: PathBuf,
    /// As the learner's last lines name it.
    best_network: Option<BestNetwork>,
}

impl RunningPrograms {
    fn run(&mut self) -> Outcome {
        loop {
            self.show_lines(TICK);
            if self.signals.load(Ordering::Relaxed) > 0 {
                return Outcome::Interrupted;
            }
            for index in 0..self.children.len() {
                if let Some(outcome) = self.look_at(index) {
                    return outcome;
                }
            }
        }
    }

    /// Starts a child whose time has come and notices one that ended.
    fn look_at(&mut self, index: usize) -> Option<Outcome> {
        let child = &mut self.children[index];
        let is_learner = index == 0;
        if let Err(error) = child.start_if_due(Instant::now()) {
            return Some(Outcome::Failed(error));
        }
        let status = child.ended()?;
        let name = child.name().to_owned();
        if is_learner && status.success() {
            return Some(Outcome::Finished);
        }
        if is_learner {
            self.hear_out(index);
            let last_words = self.children[index].last_error().unwrap_or("it said nothing").to_owned();
            return Some(Outcome::Failed(LearnerFailed { status, last_words }.into()));
        }
        let wait = self.children[index].restart_later(Instant::now());
        self.screen.say(&format!("{name} {}, starts again in {} s", ended(status), wait.as_secs()));
        None
    }

    /// Shows all that a child that ended has written; what it started may hold its output open for longer.
    fn hear_out(&mut self, index: usize) {
        let deadline = Instant::now() + LAST_LINES_DEADLINE;
        while !self.children[index].has_said_all() && Instant::now() < deadline {
            self.show_lines(TICK);
        }
        self.show_lines(Duration::ZERO);
    }

    /// Shows what is waiting, at most for `wait` if nothing is.
    fn show_lines(&mut self, wait: Duration) {
        let mut next = self.lines.recv_timeout(wait).ok();
        while let Some(line) = next {
            self.show(&line);
            next = self.lines.try_recv().ok();
        }
    }

    fn show(&mut self, line: &Line) {
        if let Some(child) = self.children.iter_mut().find(|child| child.name() == line.name) {
            child.note(line);
        }
        if let Some(best) = BestNetwork::parse(&line.text) {
            self.best_network = Some(best);
        }
        self.screen.show(line);
    }

    /// Asks every child to stop, and ends those that do not in time or at a second signal.
    fn stop_all(&mut self) {
        self.screen.say("stopping");
        let signals_before = self.signals.load(Ordering::Relaxed);
        // Workers first: the learner is still there for what they report last.
        self.children.iter().rev().for_each(Child::ask_to_stop);
        let deadline = Instant::now() + STOP_DEADLINE;
        while self.children.iter_mut().any(Child::is_running) {
            self.show_lines(TICK);
            let is_urged = self.signals.load(Ordering::Relaxed) > signals_before.max(1);
            if is_urged || Instant::now() >= deadline {
                self.kill_rest();
                break;
            }
        }
        self.show_lines(TICK);
    }

    fn kill_rest(&mut self) {
        for child in &mut self.children {
            if child.is_running() {
                self.screen.say(&format!("{} did not stop and is killed", child.name()));
                child.kill();
            }
        }
    }

    fn report(&self, outcome: Outcome) -> Result<ExitCode> {
        match outcome {
            Outcome::Finished => self.screen.say("the run has done all its iterations"),
            Outcome::Interrupted => self.screen.say("stopped; the same command goes on from here"),
            Outcome::Failed(error) => return Err(error),
        }
        self.say_how_to_play();
        Ok(ExitCode::SUCCESS)
    }

    fn say_how_to_play(&self) {
        let Some(best) = &self.best_network else { return };
        let (file, generation) = (best.file.display(), best.generation);
        self.screen.say(&format!("the best network is {file}, generation {generation}"));
        let programs = self.programs_dir.display();
        for (purpose, command) in best.play_commands() {
            self.screen.say(&format!("{purpose}: {programs}/{command}"));
        }
    }
}

/// Counts SIGINT, SIGTERM and SIGHUP from now on instead of dying of them.
fn count_signals() -> Result<Arc<AtomicUsize>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let count = Arc::new(AtomicUsize::new(0));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).context("listen for signals")?;
    let counter = Arc::clone(&count);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        })
        .context("start the thread that listens for signals")?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use children::Program;

    fn programs(scripts: &[(&str, &str)]) -> RunningPrograms {
        let (sender, lines) = sync_channel(LINE_QUEUE_CAPACITY);
        let child = |(name, script): &(&str, &str)| {
            let arguments = vec!["-c".into(), script.into()];
            let program =
                Program { name: (*name).to_owned(), path: "/bin/sh".into(), arguments, variables: Vec::new() };
            Child::new(program, sender.clone())
        };
        let children = scripts.iter().map(child).collect();
        let signals = Arc::new(AtomicUsize::new(0));
        let programs_dir = "bin".into();
        RunningPrograms { children, lines, screen: Screen::new(8), signals, programs_dir, best_network: None }
    }

    #[test]
    fn a_learner_that_is_done_ends_the_run_and_the_workers() {
        let mut programs = programs(&[("learner", "exit 0"), ("actor", "exec tail -f /dev/null")]);
        assert!(matches!(programs.run(), Outcome::Finished));
        programs.stop_all();
        assert!(programs.children.iter_mut().all(|child| !child.is_running()));
        programs.report(Outcome::Finished).unwrap();
    }

    #[test]
    fn the_best_network_is_known_at_the_end() {
        let script =
            "echo 'INFO best network generation=2 file=\"run/networks/n.safetensors\" game=\"hive\"' >&2; exec sleep 9";
        let mut programs = programs(&[("learner", script)]);
        let deadline = Instant::now() + Duration::from_secs(5);
        programs.look_at(0);
        while programs.best_network.is_none() && Instant::now() < deadline {
            programs.show_lines(TICK);
        }
        assert_eq!(programs.best_network.as_ref().unwrap().generation, 2);
        programs.stop_all();
        programs.report(Outcome::Interrupted).unwrap();
    }

    #[test]
    fn a_learner_that_fails_is_quoted() {
        let script = "echo starting; echo 'learner: config: replay: is 0' >&2; exit 64";
        let mut programs = programs(&[("learner", script)]);
        let outcome = programs.run();
        assert!(matches!(outcome, Outcome::Failed(_)), "the run goes on");
        let error = programs.report(outcome).unwrap_err();
        assert_eq!(error.to_string(), "the learner ended with exit code 64: learner: config: replay: is 0");
        assert_eq!(error.downcast_ref::<LearnerFailed>().unwrap().exit_code(), 64);
    }

    #[test]
    fn a_worker_that_dies_is_started_again() {
        let mark = tempfile::NamedTempFile::new().unwrap();
        // The learner ends once the actor has been started for the second time.
        let learner = format!("while [ $(wc -l < {0}) -lt 2 ]; do :; done", mark.path().display());
        let actor = format!("echo started >> {0}; exit 3", mark.path().display());
        let mut programs = programs(&[("learner", &learner), ("actor", &actor)]);
        assert!(matches!(programs.run(), Outcome::Finished));
        programs.stop_all();
    }

    #[test]
    fn a_signal_stops_everything() {
        let mut programs = programs(&[("learner", "exec tail -f /dev/null"), ("actor", "exec tail -f /dev/null")]);
        programs.signals.store(1, Ordering::Relaxed);
        assert!(matches!(programs.run(), Outcome::Interrupted));
        programs.stop_all();
        assert!(programs.children.iter_mut().all(|child| !child.is_running()));
    }
}
