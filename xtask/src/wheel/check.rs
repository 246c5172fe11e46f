//! Whether a wheel works where nothing else is installed: the example of its README runs, the tests in Python pass, it bears
//! another libtorch in its process, and its types are those of the code.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::python::VirtualEnvironment;
use crate::workspace::run;

/// Runs in `environment`, where the wheel is installed, what is in the folder of the package. `work` is a folder for what that
/// writes, `libtorch` has the other libtorch.
pub fn check(environment: &VirtualEnvironment, work: &Path, package: &Path, libtorch: &Path) -> Result<()> {
    if work.exists() {
        fs::remove_dir_all(work).with_context(|| format!("remove {}", work.display()))?;
    }
    fs::create_dir_all(work).with_context(|| format!("create {}", work.display()))?;
    let (readme, tests) = (package.join("README.md"), package.join("tests"));
    let text = fs::read_to_string(&readme).with_context(|| format!("read {}", readme.display()))?;
    let example = example(&text).with_context(|| format!("{} has no example in Python", readme.display()))?;
    fs::write(work.join("example.py"), example).context("write the example")?;
    let python = || {
        let mut command = environment.command("python");
        command.current_dir(work);
        command
    };
    run(python().arg("example.py")).context("the example of python/README.md")?;
    run(python().args(["-m", "unittest", "discover", "--start-directory"]).arg(&tests))
        .context("the tests in python/tests")?;
    for order in ["before", "after"] {
        let library = libtorch.join("lib/libtorch_cpu.so");
        run(python().arg(tests.join("two_libtorches.py")).arg(library).arg(order))
            .with_context(|| format!("another libtorch in the process, {order} that of the wheel"))?;
    }
    run(python().args(["-m", "mypy", "--strict", "example.py"])).context("the types of the example")?;
    run(python().args(["-m", "mypy.stubtest", "alveare"])).context("python/alveare/_native.pyi beside the module")
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
