// Line charts, drawn as SVG at the width that there is: axes, bands, a limit, and a tooltip at the nearest point.

import { decimal, el, short, svg } from "./dom.js";

const LEFT = 46, RIGHT = 10, TOP = 10, BOTTOM = 22;

/** Round numbers from low to high, about `wanted` of them. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index += 1) found.push(index * step);
  return found;
}

function range(series, options) {
  let [low, high] = options.y || [Infinity, -Infinity];
  if (!options.y) {
    for (const { low: lows, high: highs, y } of series) {
      for (const value of lows || y) if (value < low) low = value;
      for (const value of highs || y) if (value > high) high = value;
    }
    if (options.limit !== undefined) high = Math.max(high, options.limit);
    if (options.zero) low = Math.min(0, low);
    if (high - low < 1e-9) [low, high] = [low - Math.max(Math.abs(low) * 0.1, 1e-6), high + Math.max(Math.abs(high) * 0.1, 1e-6)];
    const room = (high - low) * 0.06;
    [low, high] = [options.zero && low === 0 ? 0 : low - room, high + room];
  }
  return [low, high];
}

function nearest(xs, x) {
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1; else high = middle;
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : low;
}

const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/**
 * Makes a chart. series: [{ name, x, y, low, high, tip }] with x rising; options: title, note, over (what x counts), height,
 * y (fixed range), limit, zero (starts at 0), format, pick (called with the x that is clicked).
 * Returns { node, mark(x) }: mark shows where one is.
 */
export function chart(series, options) {
  const shown = series.filter((one) => one.x.length);
  const format = options.format || short;
  const plot = el("div", { class: "plot" });
  const legend = shown.length > 1 || options.legend
    ? el("span", { class: "legend" }, shown.map((one) => el("span", {}, el("span", { class: `key c${series.indexOf(one)}` }), one.name)))
    : null;
  const node = el("figure", {}, el("figcaption", {}, options.title, legend), plot, options.note ? el("p", {}, options.note) : null);
  let marked = null, width = 0, setMark = () => {};
  if (!shown.length) {
    plot.append(el("p", { class: "quiet" }, options.empty || "Nothing measured yet."));
    return { node, mark() {} };
  }
  const draw = () => {
    const height = options.height || 190;
    const first = Math.min(...shown.map((one) => one.x[0]));
    const last = Math.max(...shown.map((one) => one.x[one.x.length - 1]));
    const [low, high] = range(shown, options);
    const scaleX = (x) => LEFT + (last === first ? 0.5 : (x - first) / (last - first)) * (width - LEFT - RIGHT);
    const scaleY = (y) => TOP + (1 - (y - low) / (high - low)) * (height - TOP - BOTTOM);
    const board = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": options.title });
    const marks = ticks(low, high, 4);
    const places = Math.min(6, Math.max(0, -Math.floor(Math.log10((marks[1] ?? high) - (marks[0] ?? low)) + 1e-9)));
    const axis = options.format || ((tick) => (Math.abs(tick) >= 1e4 ? short(tick) : decimal(tick, places)));
    for (const tick of marks) {
      board.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: scaleY(tick), y2: scaleY(tick) }),
        svg("text", { x: LEFT - 6, y: scaleY(tick) + 4, "text-anchor": "end" }, axis(tick)));
    }
    for (const tick of ticks(first, Math.max(last, first + 1), Math.max(3, Math.floor(width / 80)))) {
      if (tick <= last && Number.isInteger(tick)) board.append(svg("text", { x: scaleX(tick), y: height - 5, "text-anchor": "middle" }, short(tick)));
    }
    if (options.limit !== undefined) board.append(svg("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: scaleY(options.limit), y2: scaleY(options.limit) }));
    for (const one of shown) {
      const name = `c${series.indexOf(one)}`;
      const at = (values) => one.x.map((x, index) => [scaleX(x), scaleY(values[index])]);
      if (one.low && one.x.length > 1) board.append(svg("path", { class: `${name} band`, d: `${path([...at(one.high), ...at(one.low).reverse()])}Z` }));
      board.append(svg("path", { class: `${name} line`, d: path(at(one.y)) }));
      if (one.x.length < 40) for (const [cx, cy] of at(one.y)) board.append(svg("circle", { class: `${name} dot`, cx, cy, r: 2.4 }));
    }
    const now = svg("line", { class: "now", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
    const cursor = svg("line", { class: "cursor", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
    board.append(now, cursor);
    const tip = el("div", { class: "tip" });
    tip.hidden = true;
    setMark = (x) => {
      marked = x;
      if (x === null) return;
      for (const end of ["x1", "x2"]) now.setAttribute(end, scaleX(x));
      now.setAttribute("visibility", "visible");
    };
    const point = (event) => {
      const box = board.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / (width - LEFT - RIGHT);
      return first + Math.max(0, Math.min(1, share)) * (last - first);
    };
    const leave = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
    const hover = (event) => {
      const x = point(event);
      const main = shown.reduce((best, one) => {
        const distance = Math.abs(one.x[nearest(one.x, x)] - x);
        return !best || distance < best.distance ? { one, distance } : best;
      }, null).one;
      const found = main.x[nearest(main.x, x)];
      const lines = shown.map((one) => {
        const index = nearest(one.x, found);
        if (one !== main && one.x[index] !== found && Math.abs(one.x[index] - found) > (last - first) / 40) return null;
        const extent = one.low && (one.high[index] !== one.low[index]) ? ` (${format(one.low[index])} … ${format(one.high[index])})` : "";
        return el("div", {}, `${shown.length > 1 ? `${one.name} ` : ""}${format(one.y[index])}${extent}`, one.tip ? el("div", { class: "quiet" }, one.tip(index)) : null);
      });
      tip.replaceChildren(el("div", { class: "quiet" }, `${options.over} ${short(found)}`), ...lines.filter(Boolean));
      tip.hidden = false;
      const at = scaleX(found), room = tip.offsetWidth;
      tip.style.left = `${Math.max(0, at + 12 + room > width ? at - room - 12 : at + 12)}px`;
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, at);
      cursor.setAttribute("visibility", "visible");
    };
    board.addEventListener("pointermove", hover);
    board.addEventListener("pointerdown", hover);
    board.addEventListener("pointerleave", leave);
    if (options.pick) {
      board.classList.add("pick");
      board.addEventListener("click", (event) => options.pick(Math.round(point(event))));
    }
    plot.replaceChildren(board, tip);
    setMark(marked);
  };
  new ResizeObserver(([entry]) => {
    const found = Math.round(entry.contentRect.width);
    if (found > 0 && found !== width) {
      width = found;
      draw();
    }
  }).observe(plot);
  return { node, mark: (x) => { marked = x; setMark(x); } };
}
