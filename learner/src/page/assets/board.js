// Boards as SVG: what lies where comes from the learner, and so do all moves.

import { el, svg } from "./dom.js";

const SIZE = 22, WIDE = SIZE * Math.sqrt(3), SQUARE = 44;

const hexCentre = ([q, r]) => [WIDE * (q + r / 2), SIZE * 1.5 * r];

function hexagon(x, y, size) {
  const corner = (index) => {
    const angle = (Math.PI / 180) * (60 * index - 30);
    return `${(x + size * Math.cos(angle)).toFixed(1)},${(y + size * Math.sin(angle)).toFixed(1)}`;
  };
  return [0, 1, 2, 3, 4, 5].map(corner).join(" ");
}

function hivePiece(name, x, y, title) {
  const side = name[0];
  return svg("g", {},
    title ? svg("title", {}, title) : null,
    svg("polygon", { class: `piece p${side}`, points: hexagon(x, y, SIZE - 1.2) }),
    svg("circle", { class: `k${name[1]}`, cx: x, cy: y, r: SIZE * 0.53 }),
    svg("text", { x, y: y + 0.5, class: "letter", "font-size": name.length > 2 ? 12 : 14, "font-weight": 700 }, name.slice(1)));
}

/** A line from place to place, as thick as the share of the visits. */
function arrow([x1, y1], [x2, y2], share) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const width = 1.5 + 4 * share, tip = 6 + width;
  const [ex, ey] = [x2 - dx * 4, y2 - dy * 4];
  return svg("path", { class: "arrow", "stroke-width": width.toFixed(1),
    d: `M${x1 + dx * 8} ${y1 + dy * 8}L${ex} ${ey}M${ex - dx * tip - dy * tip * 0.7} ${ey - dy * tip + dx * tip * 0.7}L${ex} ${ey}L${ex - dx * tip + dy * tip * 0.7} ${ey - dy * tip - dx * tip * 0.7}` });
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Draws a board. view: { name, board, last: { from, to }, shares: [{ from, to, share }], targets: [place], chosen: place,
 * pick(place) }. Returns an SVG element.
 */
export function drawBoard(view) {
  return view.name === "hive" ? drawHive(view) : drawSquares(view);
}

function drawHive({ board, last, shares = [], targets = [], chosen, pick }) {
  const top = new Map(), height = new Map();
  for (const [name, q, r, level] of board) {
    const key = `${q},${r}`;
    top.set(key, (top.get(key) || []).concat(name));
    height.set(key, Math.max(height.get(key) || 0, level));
  }
  const centre = (place) => {
    const [x, y] = hexCentre(place);
    const level = height.get(`${place[0]},${place[1]}`) || 0;
    return [x + level * 2.5, y - level * 5];
  };
  const extra = [last && last.from, last && last.to, ...shares.flatMap((one) => [one.from, one.to]), ...targets].filter(Boolean);
  const centres = board.map(([, q, r]) => hexCentre([q, r])).concat(extra.map(hexCentre), board.length ? [] : [[0, 0]]);
  const xs = centres.map(([x]) => x), ys = centres.map(([, y]) => y);
  const [cx, cy] = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const wide = Math.max(Math.max(...xs) - Math.min(...xs) + WIDE * 1.4, WIDE * 8);
  const high = Math.max(Math.max(...ys) - Math.min(...ys) + SIZE * 3, SIZE * 11);
  const drawing = svg("svg", { class: "board", viewBox: `${cx - wide / 2} ${cy - high / 2} ${wide} ${high}`, role: "img", "aria-label": "board" });
  for (const [name, q, r, level] of board) {
    const [x, y] = hexCentre([q, r]);
    const stack = top.get(`${q},${r}`);
    const title = stack.length > 1 ? `${stack.join(" under ")}` : name;
    const piece = hivePiece(name, x + level * 2.5, y - level * 5, title);
    if (pick) {
      piece.classList.add("pick");
      piece.addEventListener("click", () => pick([q, r]));
    }
    drawing.append(piece);
    if (level > 0 && level === height.get(`${q},${r}`)) {
      const [bx, by] = [x + level * 2.5 + SIZE * 0.62, y - level * 5 - SIZE * 0.5];
      drawing.append(svg("circle", { class: "kL", cx: bx, cy: by, r: 6.5 }), svg("text", { class: "letter", x: bx, y: by + 0.5, "font-size": 9, "font-weight": 700 }, level + 1));
    }
  }
  if (last && last.from) drawing.append(svg("polygon", { class: "was", points: hexagon(...hexCentre(last.from), SIZE - 2) }));
  if (last && last.to) drawing.append(svg("polygon", { class: "last", points: hexagon(...centre(last.to), SIZE - 1) }));
  if (chosen) drawing.append(svg("polygon", { class: "chosen", points: hexagon(...centre(chosen), SIZE - 1) }));
  for (const place of targets) {
    drawing.append(svg("polygon", { class: "aim pick", points: hexagon(...centre(place), SIZE - 3), onclick: () => pick(place) }));
  }
  drawing.append(...shareMarks(shares, centre));
  return drawing;
}

function drawSquares({ name, board, last, shares = [], targets = [], chosen, pick }) {
  const side = name === "dama" ? 8 : 3;
  const at = (index) => (name === "dama"
    ? [(index % 4) * 2 + (Math.floor(index / 4) % 2), Math.floor(index / 4)]
    : [index % 3, Math.floor(index / 3)]);
  const centre = (index) => at(index).map((number) => (number + 0.5) * SQUARE);
  const drawing = svg("svg", { class: "board", viewBox: `0 0 ${side * SQUARE} ${side * SQUARE}`, role: "img", "aria-label": "board" });
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const isDark = name === "dama" && (row + column) % 2 === 0;
      drawing.append(svg("rect", { class: isDark ? "dark" : "light", x: column * SQUARE, y: row * SQUARE, width: SQUARE, height: SQUARE, stroke: name === "dama" ? null : "currentColor", "stroke-opacity": 0.3 }));
    }
  }
  [...board].forEach((letter, index) => {
    const [x, y] = centre(index);
    const hit = pick ? svg("rect", { class: "pick", x: x - SQUARE / 2, y: y - SQUARE / 2, width: SQUARE, height: SQUARE, "fill-opacity": 0, onclick: () => pick(index) }) : null;
    if (name === "dama") drawing.append(svg("text", { class: "sq", x: x - SQUARE / 2 + 8, y: y - SQUARE / 2 + 8 }, index + 1));
    if (letter !== ".") {
      const colour = letter.toLowerCase() === "w" ? "pw" : "pb";
      if (name === "dama") {
        drawing.append(svg("circle", { class: `piece ${colour}`, cx: x, cy: y, r: SQUARE * 0.38 }));
        if (letter === "W" || letter === "B") drawing.append(svg("circle", { class: "crown", cx: x, cy: y, r: SQUARE * 0.22 }));
      } else {
        drawing.append(svg("text", { x, y, "font-size": 30, "font-weight": 700, fill: "currentColor" }, letter === "w" ? "✕" : "◯"));
      }
    }
    if (hit) drawing.append(hit);
  });
  const frame = (index, style, listener) => {
    const [x, y] = centre(index);
    return svg("rect", { class: style, x: x - SQUARE / 2 + 2, y: y - SQUARE / 2 + 2, width: SQUARE - 4, height: SQUARE - 4, rx: 4, onclick: listener });
  };
  if (last && last.from !== null && last.from !== undefined) drawing.append(frame(last.from, "was"));
  if (last && last.to !== null && last.to !== undefined) drawing.append(frame(last.to, "last"));
  if (chosen !== null && chosen !== undefined) drawing.append(frame(chosen, "chosen"));
  for (const place of targets) drawing.append(frame(place, "aim pick", () => pick(place)));
  drawing.append(...shareMarks(shares, centre));
  return drawing;
}

/** The moves that the search looked at most: lines for pieces that move, discs for pieces that are placed. */
function shareMarks(shares, centre) {
  const marks = [], placed = [];
  for (const { from, to, share } of shares) {
    if (to === null || to === undefined) continue;
    if (from !== null && from !== undefined) {
      if (!same(from, to)) marks.push(arrow(centre(from), centre(to), share));
      continue;
    }
    const found = placed.find((one) => same(one.to, to));
    if (found) found.share += share; else placed.push({ to, share });
  }
  for (const { to, share } of placed) {
    const [cx, cy] = centre(to);
    marks.push(svg("circle", { class: "share", cx, cy, r: 4 + 10 * Math.sqrt(share) }));
  }
  return marks.map((mark) => { mark.setAttribute("pointer-events", "none"); return mark; });
}

/** The pieces of a side that are not on the board, by kind; `pick(name)` makes them buttons. */
export function drawHand(pieces, board, side, pick, chosen) {
  const placed = new Set(board.map(([name]) => name));
  const hand = pieces.filter((name) => name[0] === side && !placed.has(name));
  const kinds = new Map();
  for (const name of hand) kinds.set(name[1], (kinds.get(name[1]) || []).concat(name));
  const chips = [...kinds.values()].map((names) => {
    const alone = names[0].slice(0, 2);
    const content = [svg("svg", { viewBox: "-22 -23 44 46", "aria-hidden": "true" }, hivePiece(alone, 0, 0)), names.length > 1 ? `×${names.length}` : ""];
    return pick
      ? el("button", { type: "button", class: chosen === alone ? "chosen-hand" : null, "aria-label": `place ${alone}`, onclick: () => pick(alone) }, content)
      : el("span", { class: "small quiet" }, content);
  });
  return el("div", { class: "hand" }, el("span", { class: "quiet small" }, side === "w" ? "White in hand:" : "Black in hand:"), chips.length ? chips : el("span", { class: "quiet small" }, "nothing"));
}
