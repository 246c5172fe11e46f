//! `learner import`: the real program on an archive of zips, interrupted, repeated and grown.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

const GAMES: [&str; 3] =
    ["Base;Draw;Black[1];wS1", "Base+L;WhiteWins;White[2];wS1;bS1 wS1-", "Base+MLP;BlackWins;White[2];wL;bS1 wL-"];
const TREE: &str = "(;GM[27]VV[1]SU[hive-p]P0[id \"playerA\"]P1[id \"playerB\"]\n\
    ; P0[0 Start P0]; P0[1 dropb wP1 N 13 .]; P0[2 done]; P1[7 resign]; P1[8 done])\n";

fn import(paths: &[&Path], out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_learner"));
    command.arg("import").args(paths).arg("--out").arg(out).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write_zip(path: &Path, entries: &[(&str, &str)]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("a file"));
    for (name, text) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("an entry");
    }
    zip.finish().expect("an archive");
}

#[test]
fn an_archive_of_zips_becomes_one_file_of_games() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (archive, out) = (dir.path().join("hivegames"), dir.path().join("games.uhp"));
    write_zip(&archive.join("archive-2013/games-1.zip"), &[("a.sgf", TREE), ("b.sgf", "(;GM[1]"), ("c.txt", "")]);
    write_zip(&archive.join("archive-2014/games-2.zip"), &[("d.uhp", &GAMES[..2].join("\n")), ("e.sgf", TREE)]);
    fs::write(archive.join("broken.zip"), "PK\u{3}\u{4} and nothing more").expect("a file");
    fs::write(archive.join("README"), "no game").expect("a file");
    let output = import(&[&archive], &out);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found = text(&output.stdout);
    assert!(
        found.starts_with("files 3, games added 3, there already 1, contradicted by their source 0, left out 2\n"),
        "{found}"
    );
    assert!(found.contains(&format!("next: learner pretrain --preset NAME --games {}", out.display())), "{found}");
    let complaints = text(&output.stderr);
    assert!(complaints.contains("games-1.zip: b.sgf: node 0: ") && complaints.contains("broken.zip: "), "{complaints}");
    let report = fs::read_to_string(dir.path().join("games.uhp.left-out.txt")).expect("a report");
    assert_eq!(report.lines().count(), 2, "{report}");
    let games = fs::read_to_string(&out).expect("the games");
    assert_eq!(games, format!("Base+P;WhiteWins;Black[1];wP\n{}\n{}\n", GAMES[0], GAMES[1]));

    // Again: nothing is read. Then the archive has grown, and the program was killed while it wrote.
    assert!(text(&import(&[&archive], &out).stdout).starts_with("files 0, games added 0,"));
    write_zip(&archive.join("archive-2015/games-3.zip"), &[("f.uhp", &GAMES.join("\n"))]);
    fs::OpenOptions::new().append(true).open(&out).expect("a file").write_all(b"Base+MLP;Bl").expect("written");
    assert!(text(&import(&[&archive], &out).stdout).starts_with("files 1, games added 1, there already 2,"));
    assert_eq!(fs::read_to_string(&out).expect("the games"), format!("{games}{}\n", GAMES[2]));

    let nothing = import(&[&archive.join("README")], &dir.path().join("nothing.uhp"));
    assert!(
        text(&nothing.stdout)
            .ends_with("none of the files holds a game of Hive; `alveare book` reads those of draughts\n")
    );

    // Nobody's file is written over, and nobody reads what they write.
    let other = dir.path().join("other.uhp");
    fs::write(&other, "mine").expect("a file");
    let refused = import(&[&archive], &other);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("name another file"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_to_string(&other).expect("a file"), "mine");
    let refused = import(&[dir.path()], &out);
    assert_eq!(refused.status.code(), Some(64), "{}", text(&refused.stderr));
}
