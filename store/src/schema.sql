-- Schema 8 of a run's store. What each column means: docs/store.md. Tables about workers: workers.sql.
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    game TEXT NOT NULL,
    config TEXT NOT NULL,
    seed INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    start_network TEXT
) STRICT;

CREATE TABLE networks (
    network_id INTEGER PRIMARY KEY CHECK (network_id > 0),
    generation INTEGER UNIQUE CHECK (generation >= 0),
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    training_step INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('candidate', 'best', 'former_best', 'rejected')),
    created_at TEXT NOT NULL,
    CHECK ((state IN ('best', 'former_best')) = (generation IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX networks_one_best ON networks (state) WHERE state = 'best';
CREATE TRIGGER networks_generation_stays BEFORE UPDATE OF generation ON networks
    WHEN OLD.generation IS NOT NULL AND NEW.generation IS NOT OLD.generation
    BEGIN SELECT RAISE(ABORT, 'the generation of a network never changes'); END;
CREATE TRIGGER networks_generation_rises BEFORE UPDATE OF generation ON networks
    WHEN OLD.generation IS NULL AND NEW.generation <= (SELECT max(generation) FROM networks)
    BEGIN SELECT RAISE(ABORT, 'the generation never falls'); END;

CREATE TABLE iterations (
    number INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    window_finish_number INTEGER,
    training_step_start INTEGER NOT NULL,
    training_step_end INTEGER,
    candidate_id INTEGER REFERENCES networks,
    game_count INTEGER NOT NULL,
    position_count INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    evaluation_count INTEGER,
    training_sample_count INTEGER,
    flop REAL
) STRICT;

CREATE TABLE games (
    game_id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('self_play', 'gate')),
    iteration INTEGER NOT NULL,
    pair_index INTEGER,
    candidate_id INTEGER,
    white_network_id INTEGER NOT NULL,
    black_network_id INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    settings TEXT NOT NULL,
    opening TEXT NOT NULL,
    opening_ply_count INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'finished', 'quarantined', 'abandoned')),
    finish_number INTEGER UNIQUE,
    result TEXT CHECK (result IN ('white', 'black', 'draw')),
    ply_count INTEGER,
    sample_count INTEGER,
    is_cut_off INTEGER,
    reason TEXT,
    opening_hash INTEGER,
    final_hash INTEGER,
    moves_hash INTEGER,
    created_at TEXT NOT NULL,
    finished_at TEXT,
    start_position TEXT,
    opponent_id INTEGER,
    checksum INTEGER,
    is_thinned INTEGER NOT NULL DEFAULT 0,
    resignation TEXT CHECK (resignation IN ('resigned', 'right', 'false')),
    CHECK ((state = 'finished') = (finish_number IS NOT NULL)),
    CHECK ((state = 'finished') = (result IS NOT NULL)),
    CHECK ((kind = 'gate') = (candidate_id IS NOT NULL))
) STRICT;
CREATE INDEX games_open ON games (game_id) WHERE state = 'open';
CREATE INDEX games_gate ON games (candidate_id) WHERE kind = 'gate';
CREATE INDEX games_with_plies ON games (kind, finish_number) WHERE is_thinned = 0;

CREATE TABLE plies (
    game_id INTEGER NOT NULL REFERENCES games,
    ply INTEGER NOT NULL,
    move_text TEXT NOT NULL,
    policy_target BLOB,
    root_value REAL NOT NULL,
    simulation_count INTEGER NOT NULL,
    network_id INTEGER NOT NULL,
    PRIMARY KEY (game_id, ply)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    value REAL,
    step INTEGER NOT NULL
) STRICT;
CREATE INDEX metrics_by_name ON metrics (name, step);

CREATE TABLE checkpoints (
    training_step INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
