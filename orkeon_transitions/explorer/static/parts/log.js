// What happened, newest first: transitions, and what was refused, failed or broke.

import { change, following, icon, make, roving } from "./dom.js";
import { counted, plainNumber, timeOfDay } from "./words.js";

const WINDOW = 200; // rows that Python sends at once

const KINDS = {
  made: ["check", "made"],
  internal: ["loop", "internal"],
  degraded: ["warning", "degraded"],
  refused: ["lock", "refused"],
  failed: ["cross", "failed"],
  broken: ["bolt", "breaker"],
  reset: ["reset", "reset"],
};
const STAYED = new Set(["refused", "broken", "reset"]);
const WORTH_SAYING = new Set(["refused", "failed", "broken", "degraded"]);

export function log(ui) {
  const { view } = ui;
  const count = make("span", { class: "ork-quiet" });
  const newer = page("Newer", (first) => first + WINDOW);
  const older = page("Older", (first) => first - WINDOW);
  const pager = make(
    "div",
    { class: "ork-pager" },
    count,
    make("span", { class: "ork-group ork-at-end" }, newer, older),
  );
  const none = make("p", { class: "ork-quiet", text: "Nothing has happened yet." });
  const body = make("tbody", { role: "rowgroup" });
  const names = ["#", "Time", "What", "Trigger", "From", "To", "Note"];
  const head = make(
    "tr",
    { role: "row" },
    ...names.map((text) => make("th", { role: "columnheader", scope: "col", text })),
  );
  const table = make(
    "table",
    { class: "ork-log", role: "table" },
    make("thead", { role: "rowgroup" }, head),
    body,
  );
  const scroller = make(
    "div",
    { class: "ork-scroller", tabindex: 0, role: "region", "aria-label": "Log" },
    table,
  );
  const element = make("div", { class: "ork-history-log" }, pager, none, scroller);
  const draw = following(body, ({ n }) => n, entry);
  const oneStop = roving(body, "button");
  let heard = null; // the number of the newest row that was told
  let asked = null; // the position around which rows were asked for
  new ResizeObserver(() => keepInSight()).observe(scroller);

  view.watch(["log", "position", "can"], () => {
    const { rows, total, first } = view.get("log");
    draw([...rows].reverse());
    oneStop();
    change(none, { hidden: total > 0 });
    change(scroller, { hidden: total === 0 });
    change(count, {
      text:
        total > rows.length
          ? `${plainNumber(first + 1)}–${plainNumber(first + rows.length)} of ${counted(total, "entry")}`
          : "",
    });
    change(pager, { hidden: total <= rows.length });
    change(newer, { "aria-disabled": first + rows.length < total ? null : "true" });
    change(older, { "aria-disabled": first > 0 ? null : "true" });
    tell(rows.at(-1));
    keepInSight();
  });
  return element;

  function page(words, to) {
    const click = () => {
      const { first, total } = view.get("log");
      view.send("rows", { first: Math.max(0, Math.min(to(first), total - WINDOW)), count: WINDOW });
    };
    return make("button", { type: "button", class: "ork-button", text: words, on: { click } });
  }

  function tell(newest) {
    const first = heard === null;
    if (newest && !first && newest.n > heard && WORTH_SAYING.has(newest.kind))
      ui.say(newest.words || `${newest.trigger} was ${newest.kind}`);
    heard = newest?.n ?? 0;
  }

  /** The row at which the slider stands is scrolled to, or asked for where it is not among those that are here. */
  function keepInSight() {
    const { at, last } = view.get("position");
    const { rows, total } = view.get("log");
    if (at === last && asked === null) return void (scroller.scrollTop = 0);
    const here = body.querySelector('[aria-current="step"]');
    if (!here && at > 0 && rows.length < total && asked !== at) {
      asked = at;
      view.send("rows", { first: Math.max(0, Math.min(at - WINDOW / 2, total - WINDOW)), count: WINDOW });
    }
    if (at === last) asked = null;
    if (!here) return;
    const [row, frame] = [here.getBoundingClientRect(), scroller.getBoundingClientRect()];
    const head = table.tHead.offsetHeight;
    if (row.top < frame.top + head) scroller.scrollTop -= frame.top + head - row.top;
    else if (frame.height && row.bottom > frame.bottom) scroller.scrollTop += row.bottom - frame.bottom;
  }

  function entry({ n, kind }) {
    const number = make("button", { type: "button", class: "ork-link" });
    const time = make("time");
    const [sign, words] = KINDS[kind] ?? ["info", kind];
    const cells = {
      trigger: make("td", { role: "cell", class: "ork-code" }),
      from: make("td", { role: "cell" }),
      to: make("td", { role: "cell" }),
      words: make("td", { role: "cell", class: "ork-words" }),
    };
    const what = make("td", { role: "cell", class: "ork-kind" }, icon(sign), make("span", { text: words }));
    const row = make(
      "tr",
      { role: "row", "data-kind": kind },
      make("td", { role: "cell" }, number),
      make("td", { role: "cell" }, time),
      what,
      ...Object.values(cells),
    );
    let position = null;
    const go = () => view.get("can").seek && position != null && ui.seek(position);
    number.addEventListener("click", go);
    row.addEventListener("dblclick", go);
    const update = (fact) => {
      position = fact.position;
      const { at, last } = view.get("position");
      const made = fact.kind !== "refused";
      const current = made && at < last && position === at;
      change(number, {
        text: plainNumber(n),
        "aria-label": `Go to step ${position ?? n}`,
        disabled: !view.get("can").seek || position == null,
      });
      change(time, { text: timeOfDay(fact.time), datetime: fact.time });
      for (const [name, cell] of Object.entries(cells))
        change(cell, { text: name === "to" && STAYED.has(kind) ? "" : (fact[name] ?? "") });
      change(row, {
        "aria-current": current ? "step" : null,
        "data-later": position != null && position > at,
      });
    };
    return [row, update];
  }
}
