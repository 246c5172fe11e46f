//! A whole system of real processes in a temporary run directory: a learner, and workers that reach it over gRPC.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

/// Nothing that is awaited here may take longer.
const DEADLINE: Duration = Duration::from_secs(100);
/// Time between two looks at what is not told by a log line.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Lines of a log that are shown when a test fails.
const TAIL_LINES: usize = 40;

/// A run directory and the settings of its learner.
pub struct System {
    dir: tempfile::TempDir,
    preset: PathBuf,
    settings: Vec<String>,
    variables: Vec<(&'static str, String)>,
    address: String,
    open_files_max: Option<u32>,
    process_count: u32,
}

impl System {
    /// Makes a run of tic-tac-toe as the shipped preset has it, but for `settings` (`key=value`).
    pub fn new(settings: &[&str]) -> Self {
        Self::of("tictactoe", settings)
    }

    /// Makes a run as the shipped preset of this name has it, but for `settings`.
    pub fn of(name: &str, settings: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let (preset, address) = (preset_named(name), "127.0.0.1:0".to_owned());
        Self { dir, preset, settings, variables: Vec::new(), address, open_files_max: None, process_count: 0 }
    }

    /// Gives the learner these variables of the environment.
    pub fn set_variables(&mut self, variables: Vec<(&'static str, String)>) {
        self.variables = variables;
    }

    /// Lets the learner open no more than so many files.
    pub fn limit_open_files(&mut self, count: u32) {
        self.open_files_max = Some(count);
    }

    /// Returns the run directory.
    pub fn run_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// Returns the address at which workers reach the learner.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the variables of the environment that the learner is given.
    pub fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// Returns the command that starts the learner.
    pub fn learner_command(&self, flags: &[&str]) -> Command {
        let mut command = learner_command(&self.preset);
        command.arg("--run-dir").arg(self.run_dir()).args(["--listen", &self.address]);
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        command.args(flags);
        if let Some(count) = self.open_files_max {
            command = with_open_files_max(count, &command);
        }
        command.envs(self.variables.iter().cloned());
        command
    }

    /// Starts the learner, at the address that it had before, and waits until it listens and its store is there.
    pub fn start_learner(&mut self, flags: &[&str]) -> Process {
        self.start_as_learner(self.learner_command(flags))
    }

    /// Starts the learner with no more than so many open files, as [`Self::start_learner`] does.
    pub fn start_learner_with_files(&mut self, file_count_max: u32, flags: &[&str]) -> Process {
        let learner = self.learner_command(flags);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {file_count_max} && exec \"$0\" \"$@\"")]);
        shell.arg(learner.get_program()).args(learner.get_args());
        shell.envs(self.variables.iter().cloned());
        self.start_as_learner(shell)
    }

    /// Starts the learner deaf to a signal, as [`Self::start_learner`] does.
    pub fn start_learner_ignoring(&mut self, signal: &str) -> Process {
        let learner = self.learner_command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("trap '' {signal} && exec \"$0\" \"$@\"")]);
        shell.arg(learner.get_program()).args(learner.get_args());
        shell.envs(self.variables.iter().cloned());
        self.start_as_learner(shell)
    }

    fn start_as_learner(&mut self, command: Command) -> Process {
        let mut process = self.start("learner", command);
        let line = process.wait_for("listening address=");
        self.address = line.rsplit("address=").next().expect("the address ends the line").to_owned();
        process.wait_for("best network network_id=");
        process
    }

    /// Starts an actor or evaluator with one thread.
    pub fn start_worker(&mut self, program: &'static str) -> Process {
        let mut command = Command::new(worker_program(program));
        command.args(["--learner", &self.url(), "--threads", "1", "--set", "reconnect_wait_max=200ms"]);
        self.start(program, command)
    }

    /// Starts any process, its log in the run's temporary directory.
    pub fn start(&mut self, name: &'static str, command: Command) -> Process {
        self.process_count += 1;
        Process::start(name, command, &self.dir.path().join(format!("{name}-{}.log", self.process_count)))
    }

    /// Trains until there is a candidate, with a kill once each of `kills` steps is checkpointed. Returns a look at the
    /// store then.
    pub fn train_with_kills(&mut self, kills: &[i64]) -> Look {
        for kill in kills {
            self.train_until_killed(*kill);
        }
        let mut learner = self.start_learner(&[]);
        learner.wait_for("candidate ready");
        learner.kill_hard();
        self.look()
    }

    /// Trains until so many steps are checkpointed, and kills the learner.
    pub fn train_until_killed(&mut self, steps: i64) {
        let mut learner = self.start_learner(&[]);
        let look = self.look();
        let network_count = look.number("SELECT count(*) FROM networks");
        learner.wait_until("a checkpoint", || {
            (look.number("SELECT coalesce(max(training_step), 0) FROM checkpoints") >= steps).then_some(())
        });
        learner.kill_hard();
        assert_eq!(look.number("SELECT count(*) FROM networks"), network_count, "killed in the middle of training");
    }

    /// Opens the store to look into it while the learner runs.
    pub fn look(&self) -> Look {
        Look::open(&self.run_dir())
    }
}

/// Returns a command that starts the same program by a shell that lowers the limit, the hard one too.
fn with_open_files_max(count: u32, command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {count} && exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args());
    limited
}

/// Returns the path of the shipped preset for tic-tac-toe.
pub fn preset() -> PathBuf {
    preset_named("tictactoe")
}

fn preset_named(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../config/{name}.toml"))
}

/// Returns the command that starts a learner with this configuration file.
pub fn learner_command(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.arg("--config").arg(config);
    command
}

/// Returns the path of a worker's program, which must have been built.
pub fn worker_program(program: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_learner")).with_file_name(program);
    assert!(path.is_file(), "{} is not there: run `cargo build -p actor -p evaluator` first", path.display());
    path
}

/// A process that is killed when the test lets it go, and whose log is shown when the test fails.
pub struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Process {
    fn start(name: &'static str, mut command: Command, log: &Path) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        let mut file = std::fs::File::create(log).expect("a log file");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = writeln!(file, "{line}");
                let _ = sender.send(line);
            }
        });
        Self { name, child, log: log.to_owned(), lines, seen: Vec::new() }
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the memory that the process holds, in MiB.
    pub fn memory_mib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the process runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line about the memory");
        let kib = line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number");
        kib / 1024
    }

    /// Returns what it has logged.
    pub fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).expect("a log file")
    }

    /// Returns how many bytes it has logged.
    pub fn log_bytes(&self) -> u64 {
        self.log.metadata().expect("a log file").len()
    }

    /// Waits for the next line that contains `text`, and returns it.
    pub fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            assert!(Instant::now() < deadline, "{}: {text:?} is not in the log after {DEADLINE:?}", self.name);
            match self.lines.recv_timeout(LOOK_INTERVAL) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("{} ended without {text:?} in its log", self.name),
            }
        }
    }

    /// Looks again and again until `look` finds something, while the process runs.
    pub fn wait_until<T>(&mut self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < deadline, "{}: {what} has not come after {DEADLINE:?}", self.name);
            match self.lines.recv_timeout(LOOK_INTERVAL) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("{} ended while {what} was awaited", self.name),
            }
        }
    }

    /// Kills the process as `kill -9` does.
    pub fn kill_hard(&mut self) {
        self.child.kill().expect("the process was running");
        self.child.wait().expect("a killed process ends");
    }

    /// Asks the process to stop, as a machine that is about to go does.
    pub fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    }

    /// Waits until the process ends by itself; returns how, and its log.
    pub fn wait_for_end(mut self) -> (ExitStatus, Vec<String>) {
        let deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline {
            match self.lines.recv_timeout(LOOK_INTERVAL) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().expect("the process has ended");
                    return (status, std::mem::take(&mut self.seen));
                }
            }
        }
        panic!("{} still runs after {DEADLINE:?}", self.name)
    }

    fn read_rest(&mut self) {
        self.seen.extend(self.lines.iter());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            self.read_rest();
            let tail = &self.seen[self.seen.len().saturating_sub(TAIL_LINES)..];
            eprintln!("--- the last lines of {}:\n{}", self.name, tail.join("\n"));
        }
    }
}

/// A look into a store, from outside.
pub struct Look(Connection);

impl Look {
    /// Opens the store of a run for reading.
    pub fn open(run_dir: &Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(run_dir.join("alveare.db"), flags).expect("the store opens");
        connection.busy_timeout(DEADLINE).expect("a time to wait");
        Self(connection)
    }

    /// Returns one number.
    pub fn number(&self, sql: &str) -> i64 {
        self.0.query_row(sql, [], |row| row.get(0)).expect(sql)
    }

    /// Returns one text, if there is one.
    pub fn text(&self, sql: &str) -> Option<String> {
        self.rows(sql, |row| row.get(0)).pop()
    }

    /// Returns all rows.
    pub fn rows<T>(&self, sql: &str, read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut statement = self.0.prepare(sql).expect(sql);
        statement.query_map([], read).expect(sql).collect::<rusqlite::Result<_>>().expect(sql)
    }

    /// Returns number and state of the last iteration.
    pub fn iteration(&self) -> (i64, String) {
        let sql = "SELECT number, state FROM iterations ORDER BY number DESC LIMIT 1";
        self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?))).pop().unwrap_or_default()
    }
}
