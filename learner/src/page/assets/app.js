// Which view the address asks for. A view gets its place and a signal that ends it.

import { el } from "./dom.js";
import { showOverview, showIterations } from "./overview.js";
import { showGames, showGame, showTry } from "./games.js";

const main = document.getElementById("main");
let current = null;

function route() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter((part) => part);
  const parameters = new URLSearchParams(query || "");
  if (current) current.abort();
  const end = new AbortController();
  current = end;
  const place = el("div");
  main.replaceChildren(place);
  for (const link of document.querySelectorAll("nav a")) {
    const name = link.getAttribute("href").slice(2);
    const here = parts[0] === "game" ? "games" : parts[0] || "";
    link.classList.toggle("here", name === here);
  }
  const views = { "": showOverview, iterations: showIterations, games: showGames, game: showGame, try: showTry };
  const name = parts[0] || "";
  const view = Object.hasOwn(views, name) ? views[name] : null;
  if (!view) {
    place.replaceChildren(el("p", { class: "problem" }, "There is no such view."));
    return;
  }
  const failed = (error) => {
    if (!end.signal.aborted) place.replaceChildren(el("p", { class: "problem" }, error.message));
  };
  view(place, parts.slice(1), parameters, end.signal).catch(failed);
}

addEventListener("hashchange", route);
route();
