//! Whether a wheel works where nothing else is installed: the example of its README runs, the tests in Python pass, and the
//! types are those of the code.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::python::VirtualEnvironment;
use crate::workspace::run;

/// What checks types.
const MYPY: &str = "mypy==1.19.1";

/// Installs `wheel` into a new `environment` and runs what is in the folder of the package, `python`. `work` is a folder for
/// what that writes.
pub fn check(wheel: &Path, environment: &Path, work: &Path, python: &Path) -> Result<()> {
    if work.exists() {
        fs::remove_dir_all(work).with_context(|| format!("remove {}", work.display()))?;
    }
    fs::create_dir_all(work).with_context(|| format!("create {}", work.display()))?;
    let readme = python.join("README.md");
    let text = fs::read_to_string(&readme).with_context(|| format!("read {}", readme.display()))?;
    let example = example(&text).with_context(|| format!("{} has no example in Python", readme.display()))?;
    fs::write(work.join("example.py"), example).context("write the example")?;

    let environment = VirtualEnvironment::fresh(environment)?;
    environment.install(&[wheel])?;
    let run_python = |arguments: &[&str]| run(environment.command("python").current_dir(work).args(arguments));
    run_python(&["example.py"]).context("the example of python/README.md")?;
    run(environment.command("python").current_dir(work).args(["-m", "unittest", "discover", "--start-directory"]).arg(python.join("tests")))
        .context("the tests in python/tests")?;
    environment.install(&[MYPY])?;
    run_python(&["-m", "mypy", "--strict", "example.py"]).context("the types of the example")?;
    run_python(&["-m", "mypy.stubtest", "alveare"]).context("python/alveare/_native.pyi beside the module")
}

/// Returns the first block of Python in a text in Markdown.
fn example(markdown: &str) -> Option<&str> {
    let (_, rest) = markdown.split_once("```python\n")?;
    rest.split_once("```").map(|(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_of_python_is_the_example() {
        let text = "a\n```sh\npip\n```\n```python\nimport alveare\n```\n```python\nmore\n```\n";
        assert_eq!(example(text), Some("import alveare\n"));
        assert_eq!(example("```sh\npip\n```\n"), None);
    }
}
