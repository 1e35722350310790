// The machines of a journal, or the tasks of a crew: one of them is the one that is looked at.

import { change, following, make, roving } from "./dom.js";
import { cardOf } from "./panel.js";
import { counted, duration, plainNumber, took } from "./words.js";

const MOODS = {
  completed: "good",
  degraded: "warning",
  failed: "bad",
  error: "bad",
  cancelled: "quiet",
  skipped: "quiet",
  pending: "quiet",
  waiting: "quiet",
  created: "quiet",
  blocked: "quiet",
};

/** How a status looks: good, warning, bad, quiet, or going. */
export function moodOf(status) {
  return status ? (MOODS[status] ?? "going") : "quiet";
}

export function machines(ui) {
  const { view } = ui;
  const list = make("ul", { class: "ork-machines" });
  const count = make("span", { class: "ork-quiet" });
  const card = cardOf(ui, "Machines", { extra: count, class: "ork-card ork-panel ork-machine-list" }, list);
  const draw = following(list, ({ id }) => id, entry);
  const oneStop = roving(list, "button");
  view.watch(["machines", "page"], () => {
    const all = view.get("machines");
    const crew = view.get("page") === "crew";
    const heading = crew ? "Tasks" : "Machines";
    change(card, { hidden: crew ? !all.length : all.length < 2, "aria-label": heading });
    change(card.querySelector(".ork-h2"), { text: heading });
    const done = all.filter(({ status }) => status === "completed").length;
    change(count, { text: crew ? `${done} of ${all.length} completed` : String(all.length) });
    draw(all);
    oneStop();
  });
  return card;

  function entry({ id }) {
    const name = make("span", { class: "ork-name" });
    const status = make("span", { class: "ork-tag" });
    const state = make("span", { class: "ork-machine-state" });
    const facts = make("span", { class: "ork-quiet" });
    const words = make("span", { class: "ork-quiet ork-one-line" });
    const limit = make("span", { class: "ork-quiet ork-limit" });
    const bar = make("span", { class: "ork-bar", "aria-hidden": "true" }, make("span"));
    const click = () => {
      view.send("select", { machine: id });
      ui.machineChosen?.();
    };
    const parts = [name, status, state, facts, words, limit, bar];
    const button = make("button", { type: "button", on: { click } }, ...parts);
    const update = (one) => {
      change(button, {
        "aria-pressed": String(Boolean(one.selected)),
        "data-kind": moodOf(one.status ?? one.state),
      });
      change(name, { text: one.label ?? id });
      change(status, { text: one.status ?? "", hidden: !one.status });
      change(state, { text: one.state ?? "", hidden: !one.state || one.state === one.status });
      change(words, { text: one.words ?? "", hidden: !one.words });
      change(facts, { text: factsOf(one).join(" · ") });
      const part = partOf(one.gauge);
      // Of all its limits the one that is nearest: without its name nobody knows what the bar is of.
      const used = one.gauge?.label ? `${one.gauge.label}: ${one.gauge.words}` : "";
      change(limit, { text: used, hidden: !used });
      change(bar, {
        hidden: part === null,
        "data-kind": part >= 1 ? "broken" : part >= 0.75 ? "near" : null,
      });
      bar.firstChild.style.width = `${100 * (part ?? 0)}%`;
    };
    return [make("li", {}, button), update];
  }
}

function factsOf({ agent, attempt, tool_calls, tool_budget, tokens, seconds, anomalies }) {
  return [
    agent,
    attempt > 1 ? `attempt ${attempt}` : null,
    tool_calls
      ? tool_budget
        ? `${tool_calls}/${tool_budget} tool calls`
        : counted(tool_calls, "tool call")
      : null,
    tokens ? counted(tokens, "token") : null,
    seconds ? took(seconds) : null,
    anomalies ? counted(anomalies, "anomaly") : null,
  ].filter(Boolean);
}

/** What part of its budget is used, from 0 to 1; null where there is no limit. */
function partOf(gauge) {
  return gauge?.allowed ? Math.max(0, Math.min(1, gauge.used / gauge.allowed)) : null;
}

/** The figures of a whole crew. */
export function crewBar(ui) {
  const { view } = ui;
  const status = make("span", { class: "ork-tag ork-large" });
  const figures = make("dl", { class: "ork-stats" });
  const summary = make("p", { class: "ork-quiet" });
  const card = make(
    "section",
    { class: "ork-card ork-crew-bar", "aria-label": "The crew" },
    status,
    figures,
    summary,
  );
  let arrived = performance.now();
  view.watch(["crew", "page"], () => {
    arrived = performance.now();
    show();
  });
  const timer = setInterval(() => view.get("crew")?.running && show(), 1000);
  view.atEnd(() => clearInterval(timer));
  return card;

  function show() {
    const crew = view.get("crew");
    card.hidden = !crew;
    if (!crew) return;
    const gone = crew.seconds + (crew.running ? (performance.now() - arrived) / 1000 : 0);
    change(status, { text: crew.status, "data-kind": moodOf(crew.status) });
    change(summary, { text: crew.summary ?? "", title: crew.summary, hidden: !crew.summary });
    const stats = [
      ["Process", crew.process],
      ["Time", crew.seconds == null ? null : crew.running ? duration(Math.floor(gone)) : took(gone)],
      ["Tokens", crew.tokens == null ? null : plainNumber(crew.tokens)],
      ["Requests", crew.requests == null ? null : plainNumber(crew.requests)],
      [
        "Cost",
        crew.cost == null ? null : typeof crew.cost === "number" ? `$${plainNumber(crew.cost)}` : crew.cost,
      ],
    ].filter(([, value]) => value != null);
    figures.replaceChildren(
      ...stats.map(([name, value]) =>
        make("div", {}, make("dt", { text: name }), make("dd", { text: value })),
      ),
    );
  }
}
