-- What a run has done, for `sqlite3 -readonly run/alveare.db < deploy/monitoring.sql`.
-- The columns are described in docs/store.md.
.mode column
.headers on

.print
.print Iterations
SELECT number, state, game_count, position_count, training_step_end AS step, candidate_id,
       round(flop / 1e15, 3) AS pflop, started_at, finished_at
FROM iterations ORDER BY number DESC LIMIT 10;

.print
.print Generations
SELECT generation, network_id, training_step, state, created_at, file
FROM networks WHERE generation IS NOT NULL ORDER BY generation DESC LIMIT 10;

.print
.print Gates: score of the candidate, a draw counts as half
SELECT candidate_id,
       count(*) AS games,
       sum(result = 'draw') AS draws,
       round(avg(CASE WHEN result = 'draw' THEN 0.5
                      WHEN (result = 'white') = (white_network_id = candidate_id) THEN 1.0
                      ELSE 0.0 END), 3) AS score,
       count(DISTINCT moves_hash) AS distinct_games,
       (SELECT state FROM networks WHERE network_id = candidate_id) AS verdict
FROM games WHERE kind = 'gate' AND opponent_id IS NULL AND state = 'finished'
GROUP BY candidate_id ORDER BY candidate_id DESC LIMIT 10;

.print
.print Yardstick: best networks against earlier ones
SELECT candidate_id AS network, opponent_id AS opponent, count(*) AS games,
       round(avg(CASE WHEN result = 'draw' THEN 0.5
                      WHEN (result = 'white') = (white_network_id = candidate_id) THEN 1.0
                      ELSE 0.0 END), 3) AS score
FROM games WHERE opponent_id IS NOT NULL AND state = 'finished'
GROUP BY candidate_id, opponent_id ORDER BY candidate_id DESC LIMIT 10;

.print
.print Self-play games: what they are like, by iteration
SELECT iteration,
       count(*) AS games,
       round(avg(ply_count), 1) AS plies,
       round(avg(result = 'draw'), 3) AS draw_share,
       round(avg(is_cut_off), 3) AS cut_off_share,
       round(avg(resignation IS 'resigned'), 3) AS resigned_share,
       count(DISTINCT opening_hash) AS distinct_openings
FROM games WHERE kind = 'self_play' AND state = 'finished'
GROUP BY iteration ORDER BY iteration DESC LIMIT 10;

.print
.print Newest metrics
SELECT name, value, step, max(at) AS at FROM metrics GROUP BY name ORDER BY name;

.print
.print Workers: what each played (docs/security.md says how to take the games of one out)
SELECT worker_id, kind, first_seen_at, count(DISTINCT leases.game_id) AS games
FROM workers JOIN leases USING (worker_number) GROUP BY worker_number ORDER BY games DESC LIMIT 10;

.print
.print Quarantined games
SELECT game_id, kind, iteration, reason FROM games WHERE state = 'quarantined' ORDER BY game_id DESC LIMIT 10;
