// Lists of games, a game on the board, and a position to try moves from.

import { ask, badge, bar, count, decimal, el, percent, table, time } from "./dom.js";
import { chart } from "./charts.js";
import { drawBoard, drawHand } from "./board.js";

const KINDS = [["", "all kinds"], ["self_play", "self-play"], ["gate", "gate"], ["yardstick", "yardstick"]];
const RESULTS = [["", "all results"], ["white", "White won"], ["black", "Black won"], ["draw", "draw"], ["cut_off", "cut off"]];
const STATES = [["", "all"], ["finished", "finished"], ["open", "going on"], ["quarantined", "quarantined"], ["abandoned", "abandoned"]];
/** Moves that are marked on the board. */
const MARKED_MOVES = 8;

const network = (number) => (number ? `network ${number}` : "the best");
const resultText = (game) => (game.result === null ? "–" : game.result === "draw" ? (game.is_cut_off ? "cut off" : "draw") : (game.result === "white" ? "White won" : "Black won") + (game.is_resigned ? " by resignation" : ""));

export async function showGames(place, _parts, query, signal) {
  const choose = (name, label, options) => el("label", {}, label,
    el("select", { name }, options.map(([value, text]) => el("option", { value, selected: query.get(name) === value ? "" : null }, text))));
  const form = el("form", { class: "filters" },
    el("label", {}, "Iteration", el("input", { name: "iteration", type: "number", min: 1, value: query.get("iteration") || "", placeholder: "all" })),
    choose("kind", "Kind", KINDS), choose("result", "Result", RESULTS), choose("state", "State", STATES));
  const go = el("form", { class: "filters" }, el("label", {}, "Game", el("input", { name: "game", type: "number", min: 1, placeholder: "number" })), el("button", {}, "Open"));
  go.addEventListener("submit", (event) => {
    event.preventDefault();
    const number = new FormData(go).get("game");
    if (number) location.hash = `#/game/${number}`;
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    location.hash = `#/games?${new URLSearchParams(chosen)}`;
  });
  let games = [], before;
  const list = el("div"), more = el("button", {}, "Earlier games");
  const load = async () => {
    more.disabled = true;
    const page = await ask("/api/games", { ...Object.fromEntries(query), before, limit: 50 });
    if (signal.aborted) return;
    games = games.concat(page.games);
    before = page.next_before;
    const rows = games.map((game) => [
      count(game.game_id), badge(game.kind),
      game.state === "finished" ? el("span", { class: `badge ${game.result}` }, resultText(game)) : badge(game.state),
      count(game.ply_count), count(game.iteration), network(game.white_network), network(game.black_network), time(game.finished_at),
    ]);
    list.replaceChildren(games.length
      ? table([["game"], ["kind", true], ["result", true], ["plies"], ["iteration"], ["White", true], ["Black", true], ["ended", true]], rows, games.map((game) => `#/game/${game.game_id}`))
      : el("p", { class: "quiet" }, "No game is like this."));
    more.disabled = false;
    more.hidden = !before;
  };
  const failed = (error) => list.append(el("p", { class: "problem" }, error.message));
  more.addEventListener("click", () => load().catch(failed));
  place.replaceChildren(el("h1", {}, "Games"), el("div", { class: "filters" }, form, go), list, el("p", {}, more));
  more.hidden = true;
  await load().catch(failed);
}

function moveRows(lines, marked, onPick) {
  return lines.flatMap(({ move, share, played }) => [
    onPick ? el("button", { type: "button", onclick: () => onPick(move) }, move) : el("span", { class: `mv ${played ? "played" : ""}` }, move),
    share === null ? el("span") : bar(share, ""),
    el("span", { class: "small" }, share === null ? "" : percent(share, 1)),
  ]);
}

export async function showGame(place, [number, ply], _query, signal) {
  const game = await ask(`/api/games/${encodeURIComponent(number)}`);
  if (signal.aborted) return;
  const last = game.boards.length - 1;
  let at = Math.max(0, Math.min(last, ply === undefined ? last : Number(ply) || 0));
  const board = el("div"), side = el("div", { class: "stack" }), hands = [el("div"), el("div")];
  const slider = el("input", { type: "range", min: 0, max: Math.max(0, last), "aria-label": "ply" });
  const buttons = [["«", "first position", () => 0], ["‹", "one ply back", () => at - 1], ["›", "one ply on", () => at + 1], ["»", "last position", () => last]]
    .map(([text, name, target]) => el("button", { type: "button", "aria-label": name, title: name, onclick: () => show(target()) }, text));
  const valued = game.plies.map((one, index) => [index, one.value]).filter(([, value]) => value !== null);
  const curve = chart([{ name: "value", x: valued.map(([x]) => x), y: valued.map(([, value]) => value) }],
    { title: "Value for White", over: "ply", y: [-1, 1], height: 130, format: (value) => decimal(value, 2), pick: (x) => show(x), empty: "No ply of it was searched." });
  const show = (target) => {
    at = Math.max(0, Math.min(last, target));
    history.replaceState(null, "", `#/game/${game.game_id}/${at}`);
    const before = at > 0 ? game.plies[at - 1] : null, next = game.plies[at];
    const shares = next ? next.shares.slice(0, MARKED_MOVES) : [];
    board.replaceChildren(drawBoard({ name: game.game_name, board: game.boards[at], last: before, shares }));
    if (game.game_name === "hive") ["w", "b"].forEach((colour, index) => hands[index].replaceChildren(drawHand(game.pieces, game.boards[at], colour)));
    slider.value = at;
    curve.mark(at);
    buttons[0].disabled = buttons[1].disabled = at === 0;
    buttons[2].disabled = buttons[3].disabled = at === last;
    side.replaceChildren(...sideOf(game, at, last));
  };
  slider.addEventListener("input", () => show(Number(slider.value)));
  addEventListener("keydown", (event) => {
    if (event.target.matches("input:not([type=range]), select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  }, { signal });
  place.replaceChildren(
    el("h1", {}, `Game ${count(game.game_id)}: ${game.state === "finished" ? resultText(game) : game.state}`),
    el("p", { class: "quiet small" }, badge(game.kind), ` of iteration ${count(game.iteration)}; White: ${network(game.white_network)}, Black: ${network(game.black_network)}; ${count(game.plies.length)} plies`,
      game.opening_ply_count ? `, the first ${game.opening_ply_count} given` : "", game.start ? `; from ${game.start}` : ""),
    game.is_thinned ? el("p", { class: "quiet" }, "Its plies were removed to save room (store.keep_games).") : "",
    game.problem ? el("p", { class: "problem" }, `The rules disagree: ${game.problem}`) : "",
    el("div", { class: "viewer" },
      el("div", {}, hands[1], el("div", { class: "panel" }, board), hands[0], slider, el("div", { class: "steps" }, buttons)),
      el("div", {}, side, curve.node)));
  show(at);
}

function sideOf(game, at, last) {
  const ply = game.plies[at];
  const head = el("p", {}, el("b", {}, `Ply ${at} of ${last}`), at > 0 ? `, after ${game.plies[at - 1].move}` : "");
  const onward = el("p", {}, el("a", { href: `#/try?game=${game.game_id}&ply=${at}` }, "Try moves from here"));
  if (!ply) return [el("div", { class: "panel" }, head, el("p", {}, game.state === "finished" ? `End: ${resultText(game)}.` : "The game goes on."), game.is_thinned ? "" : onward)];
  const facts = el("dl", {},
    el("dt", {}, "to move"), el("dd", {}, ply.side === "white" ? "White" : "Black"),
    el("dt", {}, "played"), el("dd", {}, el("b", {}, ply.move)),
    el("dt", {}, "value for White"), el("dd", {}, ply.value === null ? "–" : decimal(ply.value, 2)),
    el("dt", {}, "simulations"), el("dd", {}, ply.simulation_count ? count(ply.simulation_count) : "–"),
    el("dt", {}, "network"), el("dd", {}, ply.network_id === null ? "–" : count(ply.network_id)));
  const lines = ply.shares.map((one) => ({ ...one, played: one.move === ply.move }));
  const shares = lines.length
    ? el("div", { class: "moves" }, moveRows(lines), ply.other_share > 0.0005 ? [el("span", { class: "quiet" }, "others"), bar(ply.other_share, ""), el("span", { class: "small" }, percent(ply.other_share, 1))] : [])
    : el("p", { class: "quiet small" }, at < game.opening_ply_count ? "A move of the opening: nobody searched." : "Nothing is learned from this ply: no shares are kept.");
  return [el("div", { class: "panel" }, head, facts, onward), el("div", { class: "panel" }, el("p", { class: "quiet small" }, "Share of the search's visits (the policy target)"), shares)];
}

export async function showTry(place, _parts, query, signal) {
  const asked = { game: query.get("game"), ply: query.get("ply"), moves: query.get("moves") || "" };
  const moves = asked.moves.split(";").filter((text) => text.trim());
  const address = (list) => `#/try?${new URLSearchParams(Object.entries({ ...asked, moves: list.join(";") }).filter(([, value]) => value))}`;
  const position = await ask("/api/position", asked);
  if (signal.aborted) return;
  const board = el("div"), hands = [el("div"), el("div")], side = el("div", { class: "panel" }), opinion = el("p", { class: "quiet small" }, "Asking the best network …");
  let chosen = null, evaluation = null;
  const isHive = position.game_name === "hive";
  const first = (text) => text.split(" ")[0];
  const isFrom = (one, from) => (typeof from === "string" ? one.from === null && first(one.move).slice(0, 2) === from : JSON.stringify(one.from) === JSON.stringify(from));
  const candidates = () => (chosen === null ? position.legal : position.legal.filter((one) => isFrom(one, chosen)));
  const play = (text) => { location.hash = address([...moves, text]); };
  const pick = (target) => {
    const to = (chosen !== null || position.game_name === "tictactoe") ? candidates().filter((one) => JSON.stringify(one.to) === JSON.stringify(target)) : [];
    if (to.length === 1) return play(to[0].move);
    chosen = JSON.stringify(chosen) === JSON.stringify(target) || !position.legal.some((one) => isFrom(one, target)) ? null : target;
    return draw();
  };
  const draw = () => {
    const targets = chosen === null ? [] : candidates().map((one) => one.to).filter((to, index, all) => to !== null && all.findIndex((other) => JSON.stringify(other) === JSON.stringify(to)) === index);
    const onBoard = typeof chosen === "string" ? null : chosen;
    const rated = position.legal.map((one, index) => ({ ...one, share: evaluation ? evaluation.priors[index] : null })).sort((a, b) => (b.share || 0) - (a.share || 0));
    const shares = chosen === null && evaluation ? rated.slice(0, MARKED_MOVES) : [];
    board.replaceChildren(drawBoard({ name: position.game_name, board: position.board, last: position.last, shares, targets, chosen: onBoard, pick }));
    if (isHive) {
      const toMove = position.side[0];
      ["w", "b"].forEach((colour, index) => hands[index].replaceChildren(drawHand(position.pieces, position.board, colour, colour === toMove && position.legal.length ? pick : null, chosen)));
    }
    const listed = rated.filter((one) => chosen === null || isFrom(one, chosen));
    side.replaceChildren(
      el("p", {}, el("b", {}, position.result ? `The game is over: ${resultText(position)}` : `${position.side === "white" ? "White" : "Black"} to move`), ` at ply ${position.ply}`),
      opinion,
      el("div", { class: "moves list" }, moveRows(listed, null, play)));
  };
  const links = [
    moves.length ? el("a", { href: address(moves.slice(0, -1)) }, "Take back") : null,
    moves.length ? el("a", { href: address([]) }, asked.game ? "Back to the game's position" : "From the start") : null,
    asked.game ? el("a", { href: `#/game/${asked.game}/${asked.ply || 0}` }, `Game ${asked.game}`) : null,
  ].filter(Boolean);
  place.replaceChildren(
    el("h1", {}, "A position to try moves from"),
    el("p", { class: "quiet small" }, "Choose a piece and where it goes, or a move of the list. The address of this page leads back to the position."),
    moves.length ? el("p", { class: "small" }, `Tried: ${moves.join(", ")}`) : "",
    el("p", { class: "filters" }, links),
    el("div", { class: "viewer" }, el("div", {}, hands[1], el("div", { class: "panel" }, board), hands[0]), el("div", {}, side)));
  draw();
  if (!position.legal.length) {
    opinion.remove();
    return;
  }
  try {
    evaluation = (await ask("/api/position", { ...asked, evaluate: 1 })).evaluation;
    opinion.replaceChildren(`Network ${evaluation.network_id} (generation ${evaluation.generation}) expects ${decimal(evaluation.value, 2)} for White, without a search. Its priors:`);
  } catch (error) {
    opinion.replaceChildren(`No opinion of the network: ${error.message}`);
  }
  if (!signal.aborted) draw();
}
