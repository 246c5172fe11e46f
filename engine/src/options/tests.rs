//! Tests of the options.

use shared::game::dama::Dama;
use shared::game::hive::Hive;

use super::*;

#[test]
fn every_option_can_be_set_to_what_it_shows() {
    let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
    assert_eq!(options.search().check(), Ok(()));
    for shown in options.shown() {
        for name in [shown.name, shown.hub_name].into_iter().filter(|name| !name.is_empty()) {
            options.set(name, &shown.value).unwrap();
            assert_eq!(options.one(name).unwrap(), shown);
        }
        for bound in &shown.allowed {
            options.set(shown.name, bound).unwrap();
            assert_eq!(options.search().check(), Ok(()), "{} set to {bound}", shown.name);
        }
    }
}

#[test]
fn an_impossible_value_changes_nothing() {
    let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
    let before = options.shown();
    for (name, value) in [
        ("Simulations", "1"),
        ("Simulations", "-5"),
        ("Exploration", "NaN"),
        ("Exploration", "inf"),
        ("Threads", "many"),
        ("RepetitionDraw", "maybe"),
        ("Preset", "stockfish"),
        ("Level", "11"),
    ] {
        let error = options.set(name, value).unwrap_err();
        assert!(matches!(error, OptionError::Value { .. }), "{error}");
    }
    assert_eq!(options.set("Magic", "1"), Err(OptionError::Unknown("Magic".to_owned())));
    assert_eq!(options.shown(), before);
}

#[test]
fn a_preset_brings_its_own_exploration() {
    let mut options = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
    let before = options.tree_key();
    options.set("preset", "vanilla").unwrap();
    assert_eq!(options.exploration.value, std::f32::consts::SQRT_2);
    options.set("Exploration", "1").unwrap();
    options.set("Preset", "Vanilla").unwrap();
    assert_eq!(options.exploration.value, 1.0, "the preset is what it was");
    options.set("Preset", "alphazero").unwrap();
    assert_eq!(options.tree_key(), before);
    let error = options.set("Preset", "pure").unwrap_err().to_string();
    assert_eq!(error, "option Preset: \"pure\" is not one of vanilla, grandmaster, alphazero");
}

#[test]
fn a_game_brings_its_own_exploration() {
    let mut options = EngineOptions::new::<Dama>(SearchPreset::AlphaZero);
    let shown = options.one("Exploration").unwrap();
    assert_eq!((shown.value.as_str(), shown.default.as_str()), ("1", "1"));
    options.set("Preset", "grandmaster").unwrap();
    assert_eq!(options.exploration.value, std::f32::consts::SQRT_2);
    options.set("Preset", "alphazero").unwrap();
    assert_eq!(options.exploration.value, 1.0);
    let hive = EngineOptions::new::<Hive>(SearchPreset::AlphaZero);
    assert_eq!(hive.exploration.value, 1.25);
    let mut without = hive.without_network();
    assert_eq!(without.one("Exploration").unwrap().default, "2.5");
    without.set("Preset", "grandmaster").unwrap();
    without.set("Preset", "alphazero").unwrap();
    assert_eq!(without.exploration.value, 2.5);
}

#[test]
fn a_level_limits_every_search() {
    let mut options = EngineOptions::new::<Hive>(SearchPreset::Grandmaster);
    options.set("SearchThreads", "4").unwrap();
    let before = options.tree_key();
    assert_eq!(options.limits(Some(5000), None).thread_count, 4);
    options.set("level", "8").unwrap();
    let LevelPlay::Search { simulation_count } = StrengthLevel::new(8).unwrap().play(Hive::LEVELS) else { panic!() };
    assert_eq!(options.preset(), SearchPreset::AlphaZero, "levels are of the network");
    for (wanted, limit) in [(None, simulation_count), (Some(5000), simulation_count), (Some(3), 3)] {
        let limits = options.limits(wanted, None);
        assert_eq!((limits.simulation_count, limits.thread_count), (limit, 1));
    }
    options.set("Level", "1").unwrap();
    assert_eq!(options.limits(None, None).simulation_count, 2);
    assert_eq!(options.search().check(), Ok(()));
    options.set("Level", "0").unwrap();
    assert_eq!(options.tree_key(), before);
}
