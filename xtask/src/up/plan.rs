//! What `up` will start: which programs, with which arguments, on which port, how many.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::UpArguments;
use super::children::Program;
use crate::workspace::{LIBRARY_PATH, Workspace, library_path};

/// Taken if it is free, so that the address in the README is right most of the time.
const USUAL_PORT: u16 = 50_051;
/// The same for the web page.
const USUAL_PAGE_PORT: u16 = 8080;
/// More processes than this gain nothing: an actor has as many threads as it is told.
const ACTOR_COUNT_MAX: usize = 4;
/// The network that the learner carries.
const READY: &str = "ready";
/// The presets whose games and networks are those of a ready network, or that it grows into; a test of the learner compares
/// both.
const READY_PRESETS: [&str; 5] = ["hive-cpu", "hive-cpu-zero", "hive-4090", "dama-cpu", "dama-4090"];
/// The store of a run in its folder.
const DATABASE_FILE: &str = "alveare.db";
/// Files beside the presets that are not presets.
const WORKER_SETTINGS: [&str; 2] = ["actor", "evaluator"];

/// A run on this machine, ready to be started.
#[derive(Debug)]
pub struct Plan {
    preset: PathBuf,
    run_dir: PathBuf,
    /// Network that a new run starts from.
    resume: Option<PathBuf>,
    /// Where backups are kept, and where a run directory without a run is filled from.
    restore: Option<String>,
    iterations: Option<u32>,
    address: String,
    page_address: String,
    actor_count: usize,
    threads_per_actor: usize,
    libtorch: PathBuf,
    programs_dir: PathBuf,
}

impl Plan {
    /// Chooses a port and shares out the cores.
    pub fn new(workspace: &Workspace, arguments: &UpArguments, preset: PathBuf, libtorch: PathBuf) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (actor_count, threads_per_actor) = share_cores(cores, arguments.actors);
        let run_dir = arguments.run_dir.display();
        ensure!(!arguments.run_dir.is_file(), "--run-dir: {run_dir} is a file: name a folder");
        fs::create_dir_all(&arguments.run_dir).with_context(|| format!("create {run_dir}"))?;
        Ok(Self {
            preset,
            run_dir: arguments.run_dir.clone(),
            resume: arguments.resume.clone(),
            restore: arguments.restore.clone(),
            iterations: arguments.iterations,
            address: format!("127.0.0.1:{}", free_port(USUAL_PORT)?),
            page_address: format!("127.0.0.1:{}", free_port(USUAL_PAGE_PORT)?),
            actor_count,
            threads_per_actor,
            libtorch,
            programs_dir: workspace.target_dir()?.join("release"),
        })
    }

    /// One line that says what is about to happen.
    pub fn summary(&self) -> String {
        let actors = if self.actor_count == 1 { "1 actor".to_owned() } else { format!("{} actors", self.actor_count) };
        let threads = self.threads_per_actor;
        format!(
            "learner on {}, {actors} with {threads} thread(s) each, 1 evaluator; preset {}, run in {}; watch it at \
             http://{}/; Ctrl-C stops",
            self.address,
            self.preset.display(),
            self.run_dir.display(),
            self.page_address
        )
    }

    /// The folder of the programs, as short as a person would type it.
    pub fn programs_dir(&self) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        self.programs_dir.strip_prefix(&here).map_or_else(|_| self.programs_dir.clone(), Path::to_owned)
    }

    /// Room for the longest name in front of a line.
    pub fn name_width(&self) -> usize {
        "evaluator".len()
    }

    /// The learner first, then the workers.
    pub fn programs(&self) -> Vec<Program> {
        let mut programs = vec![self.learner()];
        programs.extend((1..=self.actor_count).map(|number| {
            let name = if self.actor_count == 1 { "actor".to_owned() } else { format!("actor-{number}") };
            self.worker(name, "actor", self.threads_per_actor)
        }));
        programs.push(self.worker("evaluator".to_owned(), "evaluator", 1));
        programs
    }

    fn learner(&self) -> Program {
        let mut arguments = vec!["--config".into(), self.preset.clone().into_os_string(), "--run-dir".into()];
        arguments.push(self.run_dir.clone().into_os_string());
        arguments.extend(["--listen".into(), self.address.clone().into()]);
        arguments.extend(["--page".into(), self.page_address.clone().into()]);
        if let Some(iterations) = self.iterations {
            arguments.extend(["--iterations".into(), iterations.to_string().into()]);
        }
        if let Some(resume) = &self.resume {
            arguments.extend(["--resume".into(), resume.clone().into_os_string()]);
        }
        if let Some(restore) = &self.restore {
            arguments.extend(["--restore".into(), restore.clone().into()]);
        }
        let variables = vec![(LIBRARY_PATH, library_path(&self.libtorch))];
        Program { name: "learner".to_owned(), path: self.programs_dir.join("learner"), arguments, variables }
    }

    fn worker(&self, name: String, program: &str, threads: usize) -> Program {
        let learner = format!("http://{}", self.address);
        let arguments = vec!["--learner".into(), learner.into(), "--threads".into(), threads.to_string().into()];
        Program { name, path: self.programs_dir.join(program), arguments, variables: Vec::new() }
    }
}

/// The file of a preset; the error lists the presets there are.
pub fn preset_file(root: &Path, preset: &str) -> Result<PathBuf> {
    let folder = root.join("config");
    let file = folder.join(format!("{preset}.toml"));
    if file.is_file() && !WORKER_SETTINGS.contains(&preset) {
        return Ok(file);
    }
    let entries = fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))?;
    let files =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension() == Some("toml".as_ref()));
    let names = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| !WORKER_SETTINGS.contains(&name.as_str())).collect();
    names.sort();
    bail!("there is no preset {preset:?}; there are: {}", names.join(", "))
}

/// Refuses a network that is not there, or that the preset cannot start from, before minutes of building. A run that
/// exists needs none, and the learner carries the ready ones.
pub fn check_resume(arguments: &UpArguments) -> Result<()> {
    let UpArguments { preset, run_dir, resume, .. } = arguments;
    let Some(path) = resume.as_ref().filter(|_| !run_dir.join(DATABASE_FILE).is_file()) else { return Ok(()) };
    if path == Path::new(READY) {
        let fits = READY_PRESETS.contains(&preset.as_str());
        ensure!(
            fits,
            "--resume ready: no ready network fits --preset {preset}; it goes with {}",
            READY_PRESETS.join(", ")
        );
    } else {
        ensure!(
            path.exists(),
            "--resume: there is no {}: make it with `learner pretrain`, or name another",
            path.display()
        );
    }
    Ok(())
}

/// Processes and threads of each: one core is left to the learner, which evaluates and trains.
fn share_cores(cores: usize, actors: Option<usize>) -> (usize, usize) {
    let threads = cores.saturating_sub(1).max(1);
    let actors = actors.unwrap_or_else(|| threads.min(ACTOR_COUNT_MAX));
    (actors, (threads / actors.max(1)).max(1))
}

fn free_port(usual: u16) -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", usual)).or_else(|_| TcpListener::bind(("127.0.0.1", 0)));
    let address = listener.and_then(|listener| listener.local_addr()).context("find a free port")?;
    Ok(address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_out() {
        assert_eq!(share_cores(1, None), (1, 1));
        assert_eq!(share_cores(2, None), (1, 1));
        assert_eq!(share_cores(16, None), (4, 3));
        assert_eq!(share_cores(2, Some(3)), (3, 1));
        assert_eq!(share_cores(8, Some(0)), (0, 7));
    }

    #[test]
    fn an_unknown_preset_is_answered_with_the_known_ones() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("config")).unwrap();
        for name in ["b.toml", "a.toml", "actor.toml", "notes.md"] {
            fs::write(root.path().join("config").join(name), "").unwrap();
        }
        assert!(preset_file(root.path(), "a").unwrap().ends_with("config/a.toml"));
        let error = preset_file(root.path(), "c").unwrap_err();
        assert_eq!(error.to_string(), "there is no preset \"c\"; there are: a, b");
    }

    #[test]
    fn a_new_run_wants_the_network_it_is_to_start_from() {
        let run_dir = tempfile::tempdir().unwrap();
        let network = run_dir.path().join("n.safetensors");
        let arguments = |preset: &str, resume: Option<&Path>| UpArguments {
            preset: preset.to_owned(),
            run_dir: run_dir.path().to_owned(),
            iterations: None,
            actors: None,
            resume: resume.map(Path::to_owned),
            restore: None,
        };
        let check = || check_resume(&arguments("hive-cpu", Some(&network)));
        let error = check().unwrap_err().to_string();
        assert!(error.contains("n.safetensors: make it with `learner pretrain`"), "{error}");
        fs::write(run_dir.path().join(DATABASE_FILE), "").unwrap();
        check().unwrap();
        fs::remove_file(run_dir.path().join(DATABASE_FILE)).unwrap();
        fs::write(&network, "").unwrap();
        check().unwrap();
        check_resume(&arguments("tictactoe", None)).unwrap();
        let ready = |preset: &str| check_resume(&arguments(preset, Some(Path::new(READY))));
        READY_PRESETS.iter().for_each(|preset| ready(preset).unwrap());
        let error = ready("tictactoe").unwrap_err().to_string();
        let presets = READY_PRESETS.join(", ");
        assert_eq!(error, format!("--resume ready: no ready network fits --preset tictactoe; it goes with {presets}"));
    }

    #[test]
    fn the_learner_comes_first_and_every_worker_is_told_where_it_is() {
        let plan = Plan {
            preset: "p.toml".into(),
            run_dir: "run".into(),
            resume: Some("pretrained".into()),
            restore: Some("backup".into()),
            iterations: Some(2),
            address: "127.0.0.1:1".to_owned(),
            page_address: "127.0.0.1:2".to_owned(),
            actor_count: 2,
            threads_per_actor: 3,
            libtorch: "torch".into(),
            programs_dir: "bin".into(),
        };
        let programs = plan.programs();
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["learner", "actor-1", "actor-2", "evaluator"]);
        assert_eq!(
            programs[0].arguments,
            [
                "--config",
                "p.toml",
                "--run-dir",
                "run",
                "--listen",
                "127.0.0.1:1",
                "--page",
                "127.0.0.1:2",
                "--iterations",
                "2",
                "--resume",
                "pretrained",
                "--restore",
                "backup"
            ]
        );
        assert_eq!(programs[1].arguments, ["--learner", "http://127.0.0.1:1", "--threads", "3"]);
    }
}
