//! Lines and names that users and other programs type: commands of engines, players of matches, addresses.

use arena::players::{PlayerDefaults, PlayerSpec};
use notation::dama::hub_level::HubLevel;
use notation::dama::hub_line::{HubLine, quoted};
use notation::uhp::command::{BestMoveLimit, Command};
use runtime::limits::Address;

/// What counts for players that do not say it.
const DEFAULTS: PlayerDefaults = PlayerDefaults { simulation_count: 400, exploration: 2.5, limit: None };

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A command of the Universal Hive Protocol.
pub fn uhp_command(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match Command::parse(text) {
        Ok(Command::BestMove(BestMoveLimit::Simulations(count))) => assert!(count > 0, "a search of nothing: {text}"),
        Ok(Command::Undo(count)) => assert!(count > 0, "an undo of nothing: {text}"),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// A line of the hub protocol: each value is found again when it is written as the engine writes it.
pub fn hub_line(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let line = HubLine::parse(text);
    let Some(value) = line.value("moves") else { return };
    let written = format!("{} moves={}", quoted(&line.command), quoted(value));
    let again = HubLine::parse(&written);
    let is_clean = !value.contains(|letter: char| letter == '"' || letter.is_control());
    assert!(!is_clean || again.value("moves") == Some(value), "{written}");
}

/// The limits of a search in the hub protocol.
pub fn hub_level(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match HubLevel::parse(&HubLine::parse(text)) {
        Ok(level) => {
            let left = level.time.map(|time| time.without(std::time::Duration::ZERO));
            assert!(left.is_none_or(|time| std::time::Instant::now().checked_add(time).is_some()), "{text}: {left:?}");
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// A player of a match: one that needs no network is called as it may be written.
pub fn player(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match PlayerSpec::parse(text, &DEFAULTS) {
        Ok(spec) if spec.network().is_none() => {
            let name = spec.name(&[]);
            let again = PlayerSpec::parse(&name, &DEFAULTS).unwrap_or_else(|error| panic!("{text}: {name}: {error}"));
            // Tables and books are called by the last part of their path.
            let has_files = spec.tables().is_some() || spec.book().is_some();
            assert!(again == spec || has_files && again.name(&[]) == name, "{text}: {name}");
        }
        Ok(spec) => assert!(!spec.name(b"weights").is_empty(), "{text}"),
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
}

/// An address of a learner.
pub fn address(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(address) = text.parse::<Address>() else { return };
    let written = address.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&address), "{text}");
    let _ = address.endpoint();
}
