// Making elements, asking the learner, and writing numbers for people.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Asks the learner. Errors carry its own words. */
export async function ask(path, query = {}) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(pairs).toString();
  let response;
  try {
    response = await fetch(text ? `${path}?${text}` : path, { headers: { accept: "application/json" } });
  } catch {
    throw new Error("the learner does not answer");
  }
  if (response.status === 401) location.reload();
  const body = await response.json().catch(() => ({ error: `the learner answered ${response.status}` }));
  if (!response.ok) {
    const error = new Error(body.error);
    error.isBusy = response.status === 503;
    throw error;
  }
  return body;
}

const thin = "\u202f";

export function count(number) {
  if (number === null || number === undefined) return "–";
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, thin);
}

/** Large numbers with a letter: 12.3 M. */
export function brief(number) {
  if (number === null || number === undefined) return "–";
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]]) {
    if (Math.abs(number) >= size) {
      const scaled = letter === "k" ? number / 1e3 : number / size;
      return `${scaled >= 100 ? scaled.toFixed(0) : scaled.toFixed(1)}${thin}${letter}`;
    }
  }
  return count(number);
}

export function decimal(number, places) {
  return number === null || number === undefined ? "–" : number.toFixed(places).replace("-", "−");
}

/** Floating-point operations, from 10^15 of them. */
export function operations(pflop) {
  for (const [size, name] of [[1e3, "E"], [1, "P"], [1e-3, "T"], [1e-6, "G"]]) {
    if (pflop >= size) return `${(pflop / size).toPrecision(3)}${thin}${name}FLOP`;
  }
  return `${(pflop * 1e9).toFixed(0)}${thin}MFLOP`;
}

/** As many places as tell neighbouring numbers apart. */
export function short(number) {
  if (number === null || number === undefined) return "–";
  const size = Math.abs(number);
  if (size >= 1e4) return brief(number);
  return decimal(number, size >= 100 || Number.isInteger(number) ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : size === 0 ? 0 : 5);
}

export const percent = (share, places = 0) => (share === null || share === undefined ? "–" : `${decimal(share * 100, places)}${thin}%`);
export const signed = (number) => (number === null || number === undefined ? "–" : `${number >= 0 ? "+" : "−"}${Math.abs(number).toFixed(0)}`);

export function time(text) {
  if (!text) return "–";
  const date = new Date(text);
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function span(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

export const badge = (word) => el("span", { class: `badge ${word}` }, word.replace("_", "-"));

/** A bar that fills a share of its width. */
export function bar(share, name) {
  const width = Math.max(0, Math.min(1, share || 0)) * 100;
  return svg("svg", { class: name, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 0, width, height: 10 }));
}

/** A table: columns are [title, is left], rows are arrays of cells; go(row) leads somewhere. */
export function table(columns, rows, links) {
  const cell = (tag, content, index) => el(tag, { class: columns[index][1] ? "l" : null }, content);
  const body = rows.map((row, number) => {
    const target = links && links[number];
    const go = target && (() => { location.hash = target; });
    return el("tr", target ? { class: "go", tabindex: 0, onclick: go, onkeydown: (event) => { if (event.key === "Enter") go(); } } : {},
      row.map((content, index) => cell("td", content, index)));
  });
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map(([title], index) => cell("th", title, index)))),
    el("tbody", {}, body)));
}
