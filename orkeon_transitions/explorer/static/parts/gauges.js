// The breaker's limits: how much of each is used. Clocks run on by themselves between two reports.

import { change, following, make } from "./dom.js";
import { cardOf } from "./panel.js";
import { amount, took } from "./words.js";

const NEAR = 0.75; // of a limit: time to look up

export function gauges(ui) {
  const { view } = ui;
  const list = make("ul", { class: "ork-gauges" });
  const reset = make("button", {
    type: "button",
    class: "ork-button",
    text: "Reset the breaker",
    on: { click: () => view.send("reset_breaker") },
  });
  const state = make("span", { class: "ork-tag" });
  const card = cardOf(ui, "Circuit breaker", { extra: state }, list, reset);
  const ticks = new Set();
  const draw = following(list, ({ limit }) => limit, gauge);
  view.watch(["gauges", "can", "page"], () => {
    const all = view.get("gauges");
    const broken = all.some((one) => one.broken);
    change(card, { hidden: !all.length, "data-kind": broken ? "broken" : null });
    // A journal does not tell what was allowed.
    change(state, {
      text: broken ? "tripped" : "within its limits",
      hidden: all.every((one) => one.unknown),
    });
    reset.hidden = !(broken && view.get("can").reset_breaker);
    ticks.clear();
    draw(all);
  });
  const timer = setInterval(() => document.hidden || ticks.forEach((tick) => tick()), 200);
  view.atEnd(() => clearInterval(timer));
  return card;

  function gauge() {
    const label = make("span");
    const figures = make("span", { class: "ork-figures" });
    const bar = make("span", { class: "ork-bar", role: "meter", "aria-valuemin": 0 }, make("span"));
    const row = make("li", {}, label, figures, bar);
    const update = (one) => {
      const arrived = performance.now();
      const tick = () => show(one, one.used + (one.running ? (performance.now() - arrived) / 1000 : 0));
      change(label, { text: one.label });
      change(bar, { "aria-label": one.label, hidden: one.allowed == null });
      if (one.running) ticks.add(tick);
      tick();
    };
    return [row, update];

    function show({ allowed, unit, broken, unknown, running }, used) {
      // A clock that stands tells milliseconds, as the terminal does; one that runs would flicker.
      const told = unit === "s" && !running && used > 0 ? took(used) : amount(used, unit);
      const part = allowed ? Math.min(1, used / allowed) : used > 0 ? 1 : 0;
      const figure =
        allowed == null
          ? `${told}${unknown ? "" : " · no limit"}`
          : `${told} / ${amount(allowed, unit)}`;
      change(figures, { text: figure });
      change(row, { "data-kind": broken ? "broken" : allowed != null && part >= NEAR ? "near" : null });
      bar.firstChild.style.width = `${(100 * part).toFixed(1)}%`;
      const [now, most] = [Math.floor(used), allowed ?? 0];
      change(bar, {
        "aria-valuemax": most,
        "aria-valuenow": Math.min(now, most),
        "aria-valuetext": `${running ? amount(now, unit) : told} of ${amount(most, unit)}`,
      });
    }
  }
}
