// A file that cannot be loaded: every problem with its place, the lines around it, and a hint.

import { fill, icon, iconButton, make } from "./dom.js";
import { counted } from "./words.js";

export function problems(ui) {
  const { view } = ui;
  const heading = ui.heading(1);
  const again = iconButton("reset", "Read the file again", { on: { click: () => view.send("reload") } });
  const words = make("p", {
    class: "ork-quiet",
    text: "Mend the file and read it again: this page then shows what is in it.",
  });
  const list = make("ol", { class: "ork-problems" });
  view.watch(["problems", "title"], () => {
    const all = view.get("problems");
    const source = view.get("title").source ?? view.get("title").name;
    heading.textContent = `${counted(all.length, "problem")}${source ? ` in ${source}` : ""}`;
    list.replaceChildren(...all.map(card));
  });
  return make(
    "section",
    { class: "ork-problem-page", "aria-label": "Problems" },
    make("header", {}, heading, again),
    words,
    list,
  );

  function card({ place, line, column, message, hint, excerpt }) {
    const element = make("li", { class: "ork-card ork-problem" });
    fill(
      element,
      place ? make("p", { class: "ork-code ork-quiet", text: place }) : null,
      make("p", { class: "ork-problem-words" }, icon("warning"), make("span", { text: message })),
      excerpt?.length ? excerptOf(excerpt, line, column) : null,
      hint
        ? make("p", { class: "ork-hint" }, icon("bulb"), make("span", { text: `Did you mean '${hint}'?` }))
        : null,
    );
    return element;
  }
}

function excerptOf(lines, line, column) {
  const rows = lines.flatMap((one) => {
    const here = one.here || one.line === line;
    const row = make(
      "span",
      { class: here ? "ork-line ork-here" : "ork-line" },
      make("span", { class: "ork-line-number", text: one.line }),
      make("span", { text: one.text || " " }),
    );
    if (!here || !column) return [row];
    // Tabs and wide letters stay as they are before the caret, so that it stands below its place.
    const before = [...one.text]
      .slice(0, column - 1)
      .join("")
      .replace(/\S/g, " ");
    const caret = make(
      "span",
      { class: "ork-line ork-caret", "aria-hidden": "true" },
      make("span", { class: "ork-line-number" }),
      make("span", { text: `${before}^` }),
    );
    return [row, caret];
  });
  return make(
    "pre",
    { class: "ork-excerpt", tabindex: 0, "aria-label": `Line ${line} and its surroundings` },
    make("code", {}, ...rows),
  );
}
