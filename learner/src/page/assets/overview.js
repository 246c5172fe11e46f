// How the run is doing: now, over time, iteration by iteration.

import { ask, badge, bar, brief, count, decimal, el, operations, percent, signed, span, table, time } from "./dom.js";
import { chart } from "./charts.js";

const NOW_SECONDS = 5, CHART_SECONDS = 60;
const METRICS = ["policy_loss", "value_loss", "learning_rate", "mean_ply_count", "draw_share", "cut_off_share"];
const PHASES = { self_play: "self-play", training: "training", gate: "gate", promoted: "promoted", rejected: "rejected" };

/** Calls `work` at once and then again and again, while the view is there and is looked at. */
function repeat(work, seconds, signal) {
  const again = async () => {
    if (signal.aborted) return;
    if (!document.hidden) await work().catch(() => {});
    setTimeout(again, seconds * 1000);
  };
  setTimeout(again, seconds * 1000);
}

export async function showOverview(place, _parts, _query, signal) {
  const head = el("div"), charts = el("div", { class: "charts" }), tail = el("div");
  const draw = (overview) => {
    if (signal.aborted) return;
    const open = [...tail.querySelectorAll("details")].map((one) => one.open);
    head.replaceChildren(...headOf(overview));
    tail.replaceChildren(...tailOf(overview));
    [...tail.querySelectorAll("details")].forEach((one, index) => { one.open = Boolean(open[index]); });
  };
  // All are asked at once: the page is whole after one round trip.
  const points = Math.max(120, Math.min(400, Math.round(place.clientWidth / 2)));
  const seriesAsked = ask("/api/series", { names: METRICS.join(), points });
  const eloAsked = ask("/api/elo", { points }).catch((error) => ({ error }));
  const overview = await ask("/api/overview");
  if (signal.aborted) return;
  draw(overview);
  place.replaceChildren(head, charts, tail);
  const drawCharts = async (seriesAsked, eloAsked) => {
    const isFirst = !charts.children.length;
    if (isFirst) charts.append(el("figure", {}, el("figcaption", {}, "Elo over generations"), el("p", {}, "Adding up the gates …")));
    const { series } = await seriesAsked;
    const rest = seriesCharts(series, overview.limits);
    if (isFirst && !signal.aborted) charts.append(...rest);
    let elo = await eloAsked;
    while (elo.error && elo.error.isBusy && !signal.aborted) {
      await new Promise((done) => setTimeout(done, 2000));
      elo = await ask("/api/elo", { points }).catch((error) => ({ error }));
    }
    const first = elo.error ? el("figure", {}, el("figcaption", {}, "Elo over generations"), el("p", { class: "problem" }, elo.error.message)) : eloChart(elo);
    if (!signal.aborted) charts.replaceChildren(first, ...rest);
  };
  await drawCharts(seriesAsked, eloAsked);
  repeat(async () => draw(await ask("/api/overview")), overview.live ? NOW_SECONDS : CHART_SECONDS, signal);
  repeat(() => drawCharts(ask("/api/series", { names: METRICS.join(), points }), ask("/api/elo", { points }).catch((error) => ({ error }))), CHART_SECONDS, signal);
}

function headOf(run) {
  const { best, progress, totals, cost, live } = run;
  const card = (value, text) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, text));
  return [
    el("h1", {}, run.game),
    el("p", { class: "quiet small" }, `Run ${run.run_id}, begun ${time(run.created_at)}. `,
      live ? "A learner is at work." : "Read from the run directory; what a learner is doing right now is not shown."),
    progress && phase(progress, live),
    el("div", { class: "cards" },
      best && card(count(best.generation), `generation: network ${best.network_id} is the best, made ${time(best.since)}`),
      card(`${count(totals.promotions)} of ${count(totals.iterations)}`, "iterations promoted their candidate"),
      card(brief(totals.self_play_games), `self-play games, ${brief(totals.positions)} positions`),
      cost && card(operations(cost.pflop), `cost: ${brief(cost.evaluation_count)} evaluations, ${brief(cost.training_sample_count)} samples learned from`),
      live && card(brief(live.evaluations_per_second), `evaluations a second, batches ${percent(live.batch_fill)} full`),
      live && card(brief(live.replay_positions), "positions in the replay buffer")),
  ].filter(Boolean);
}

function phase(progress, live) {
  const { done, total } = progress;
  const far = total ? `${count(done)} of ${progress.phase === "gate" ? "at most " : ""}${count(total)} ${progress.unit}` : `${count(done)} ${progress.unit}`;
  return el("div", { class: "panel phase" },
    el("div", { class: "row" },
      el("span", {}, el("b", {}, `Iteration ${count(progress.iteration)}`), ": ", PHASES[progress.phase]),
      el("span", { class: "quiet" }, far)),
    total ? bar(done / total, "bar") : null,
    live && live.waiting_for ? el("div", { class: "quiet small" }, `Waiting for ${live.waiting_for}`) : null);
}

function eloChart(elo) {
  const { chain, yardstick } = elo;
  const numbers = (gate) => `${gate[0]} won, ${gate[1]} drawn, ${gate[2]} lost`;
  const series = [
    { name: "sum of gates", x: chain.map((one) => one.generation), y: chain.map((one) => one.elo), low: chain.map((one) => one.low), high: chain.map((one) => one.high),
      tip: (index) => (chain[index].generation ? `network ${chain[index].network_id}; its gate: ${numbers(chain[index].gate)}` : "the first network") },
    { name: "games against network 1", x: yardstick.map((one) => one.generation), y: yardstick.map((one) => one.elo), low: yardstick.map((one) => one.low), high: yardstick.map((one) => one.high),
      tip: (index) => `network ${yardstick[index].network_id}: ${numbers(yardstick[index].games)}` },
  ];
  const note = yardstick.length
    ? "The sum adds what each gate measured against the network before, luck of the promoted included: it says too much. Games against network 1 measure directly."
    : "A chain: each promoted network's gate against the one before it, added up. Luck of the promoted is added too, so it says too much; set yardstick.games to measure directly.";
  return chart(series, { title: "Elo over generations", note, over: "generation", format: (elo) => decimal(elo, 0), legend: true }).node;
}

function seriesCharts(all, limits) {
  const line = (metric, name) => {
    const { x, mean, low, high } = all[metric];
    return { name, x, y: mean, low, high };
  };
  const iteration = { over: "iteration", zero: true };
  return [
    chart([line("policy_loss", "policy"), line("value_loss", "value")], { title: "Losses", over: "step" }),
    chart([line("draw_share", "draws"), line("cut_off_share", "cut off at the ply limit")],
      { ...iteration, title: "Draws", format: (share) => percent(share), limit: all.draw_share.x.length ? limits.draw_share : undefined,
        note: limits.draw_share ? `Of self-play games. An alarm comes above ${percent(limits.draw_share)} draws or ${percent(limits.cut_off_share)} cut off.` : "Of self-play games." }),
    chart([line("mean_ply_count", "plies")], { ...iteration, title: "Length of self-play games", note: "Mean number of plies." }),
    chart([line("learning_rate", "rate")], { title: "Learning rate", over: "step", zero: true, height: 150 }),
  ].map(({ node }) => node);
}

function tailOf(run) {
  const { live } = run;
  const parts = [];
  if (live && live.alarms.length) {
    parts.push(el("h2", {}, `Alarms (${live.alarms.length})`),
      live.alarms.map(({ name, text }) => el("p", { class: "problem" }, `${name}: ${text}`)));
  }
  if (live) {
    const rows = live.workers.map((worker) => [worker.name, worker.kind, count(worker.held_games), `${span(worker.silent_seconds)} ago`]);
    parts.push(el("h2", {}, `Workers (${rows.length})`),
      rows.length ? table([["name", true], ["kind", true], ["games held"], ["last seen"]], rows) : el("p", { class: "problem" }, "No worker gave a sign of life in the last two minutes."));
  }
  parts.push(el("h2", {}, "Newest iterations"), iterationTable(run.recent));
  if (run.next_before) parts.push(el("p", {}, el("a", { href: "#/iterations" }, "All iterations")));
  if (live) {
    const counters = Object.entries(live.counters).sort();
    parts.push(el("details", {}, el("summary", {}, `Counters (${counters.length})`),
      el("dl", {}, counters.map(([name, value]) => [el("dt", {}, name), el("dd", {}, count(value))]))));
  }
  return parts;
}

function iterationTable(lines) {
  const columns = [["", false], ["state", true], ["candidate"], ["gate: score", false], ["W-D-L"], ["Elo"], ["games"], ["positions"], ["steps"], ["cost"], ["time"]];
  const rows = lines.map((line) => {
    const gate = line.gate && line.gate.wins + line.gate.draws + line.gate.losses ? line.gate : null;
    const seconds = line.finished_at ? (new Date(line.finished_at) - new Date(line.started_at)) / 1000 : null;
    const steps = line.training_step_end === null ? "–" : count(line.training_step_end - line.training_step_start);
    const title = gate ? `95 % interval ${percent(gate.low, 1)} to ${percent(gate.high, 1)}` : null;
    return [
      count(line.number),
      [badge(line.state), line.generation === null ? null : ` gen. ${line.generation}`],
      line.candidate_id === null ? "–" : el("a", { href: `#/games?kind=gate&iteration=${line.number}` }, `network ${line.candidate_id}`),
      gate ? el("span", { title }, percent(gate.score, 1), el("span", { class: "quiet" }, ` ±${decimal((gate.high - gate.low) * 50, 1)}`)) : "–",
      gate ? `${gate.wins}-${gate.draws}-${gate.losses}` : "–",
      gate && gate.elo !== null ? signed(gate.elo) : "–",
      el("a", { href: `#/games?kind=self_play&iteration=${line.number}` }, line.game_count ? count(line.game_count) : "…"),
      line.position_count ? count(line.position_count) : "–",
      steps,
      line.cost ? operations(line.cost.pflop) : "–",
      seconds === null ? "–" : span(seconds),
    ];
  });
  return rows.length ? table(columns, rows) : el("p", { class: "quiet" }, "The first iteration has not begun.");
}

export async function showIterations(place, _parts, _query, signal) {
  let lines = [], before;
  const list = el("div"), more = el("button", {}, "Earlier iterations");
  const load = async () => {
    more.disabled = true;
    const page = await ask("/api/iterations", { before, limit: 100 });
    if (signal.aborted) return;
    lines = lines.concat(page.iterations);
    before = page.next_before;
    list.replaceChildren(iterationTable(lines));
    more.disabled = false;
    more.hidden = !before;
  };
  more.addEventListener("click", () => load().catch((error) => list.append(el("p", { class: "problem" }, error.message))));
  await load();
  place.replaceChildren(el("h1", {}, "Iterations and their candidates"),
    el("p", { class: "quiet small" }, "Each iteration makes a candidate, and its gate decides whether it becomes the best network. Scores with half the width of their 95 % interval."),
    list, el("p", {}, more));
}
