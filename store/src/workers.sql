-- Since schema 6. What each column means: docs/store.md.
CREATE TABLE IF NOT EXISTS workers (
    worker_number INTEGER PRIMARY KEY,
    worker_id TEXT NOT NULL UNIQUE,
    kind TEXT CHECK (kind IN ('self_play', 'gate')),
    key_sha256 TEXT,
    first_seen_at TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS leases (
    lease_number INTEGER PRIMARY KEY,
    game_id INTEGER NOT NULL REFERENCES games,
    worker_number INTEGER NOT NULL REFERENCES workers,
    ply INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS leases_by_game ON leases (game_id);
CREATE INDEX IF NOT EXISTS leases_by_worker ON leases (worker_number);

CREATE TABLE IF NOT EXISTS set_aside (
    game_id INTEGER PRIMARY KEY REFERENCES games,
    worker_number INTEGER NOT NULL REFERENCES workers,
    state TEXT NOT NULL CHECK (state IN ('open', 'finished')),
    finish_number INTEGER,
    result TEXT
) STRICT;
