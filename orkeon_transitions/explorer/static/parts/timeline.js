// The slider through what happened, with buttons for a step, the ends, and play.
// Seeking is asked for one at a time: whoever drags fast skips steps, and none pile up.

import { change, icon, iconButton, make } from "./dom.js";
import { counted, plainNumber } from "./words.js";

const PATIENCE = 2000; // milliseconds, after which an answer is no longer waited for

export function timeline(ui) {
  const { view } = ui;
  let wanted = null; // where to, while Python has not shown it yet
  let asked = null; // the timer of the request under way
  let playing = null;

  const slider = make("input", {
    type: "range",
    min: 0,
    step: 1,
    class: "ork-slider",
    "aria-label": "Step",
    on: { input: () => seek(Number(slider.value)) },
  });
  const words = make("output", { class: "ork-figures" });
  const tag = make("button", {
    type: "button",
    class: "ork-button ork-live",
    on: { click: () => seek(view.get("position").last) },
  });
  const play = iconButton(
    "play",
    "Play",
    { on: { click: () => (playing ? stop() : start()) } },
    { bare: true },
  );
  const speed = make(
    "select",
    { class: "ork-input", "aria-label": "Speed", on: { change: () => playing && start() } },
    ...[1, 2, 5, 20].map((steps) => make("option", { value: steps, text: `${steps} / s` })),
  );
  const buttons = {
    first: step("first", "First step", () => 0),
    back: step("back", "One step back", (at) => at - 1),
    next: step("next", "One step on", (at) => at + 1),
    last: step("last", "Last step", (_, last) => last),
  };
  const element = make(
    "div",
    { class: "ork-timeline", role: "group", "aria-label": "Steps" },
    make("span", { class: "ork-group" }, buttons.first, buttons.back, play, buttons.next, buttons.last),
    slider,
    words,
    speed,
    tag,
  );
  for (const button of [...Object.values(buttons), play])
    ui.tooltip.attach(button, () => button.getAttribute("aria-label"));

  view.watch(["position", "can", "crew"], arrived);
  view.hear(({ error }) => error && forget());
  view.atEnd(stop);
  ui.seek = seek;
  return element;

  function step(name, label, to) {
    const click = () => {
      stop();
      seek(to(place(), view.get("position").last));
    };
    return iconButton(name, label, { on: { click } }, { bare: true });
  }

  function place() {
    return wanted ?? view.get("position").at;
  }

  function seek(at) {
    const { last } = view.get("position");
    wanted = Math.max(0, Math.min(at, last));
    show();
    if (asked === null) ask();
  }

  function ask() {
    if (wanted === null || wanted === view.get("position").at) return forget();
    view.send("seek", { at: wanted });
    asked = setTimeout(forget, PATIENCE);
  }

  function arrived() {
    clearTimeout(asked);
    asked = null;
    if (wanted !== null) ask();
    show();
  }

  function forget() {
    clearTimeout(asked);
    asked = wanted = null;
    show();
  }

  function show() {
    const { last } = view.get("position");
    const at = place();
    const can = view.get("can").seek;
    change(element, { hidden: !last && !can });
    change(slider, {
      max: Math.max(last, 1),
      disabled: !can || !last,
      "aria-valuetext": `step ${at} of ${last}`,
    });
    if (Number(slider.value) !== at) slider.value = at;
    slider.style.setProperty("--ork-part", `${last ? (100 * at) / last : 0}%`);
    change(words, {
      text: `${plainNumber(at)} / ${plainNumber(last)}`,
      "aria-label": `step ${at} of ${counted(last, "step")}`,
    });
    for (const [name, there] of [
      ["first", at > 0],
      ["back", at > 0],
      ["next", at < last],
      ["last", at < last],
    ])
      change(buttons[name], { "aria-disabled": can && there ? null : "true" });
    change(play, { "aria-disabled": can && last ? null : "true" });
    change(speed, { hidden: !can || last < 3 });
    const past = at < last;
    const still = view.get("page") === "journal" || (!past && view.get("crew")?.running === false);
    change(tag, {
      hidden: still || !last,
      "data-kind": past ? "past" : "live",
      text: past ? "Back to now" : "Live",
      "aria-disabled": past ? null : "true",
    });
  }

  function start() {
    stop();
    const { last } = view.get("position");
    if (!view.get("can").seek || !last) return;
    if (place() === last) seek(0);
    playing = setInterval(
      () => {
        if (asked !== null) return; // no faster than it is shown
        if (place() >= view.get("position").last) return stop();
        seek(place() + 1);
      },
      1000 / Number(speed.value),
    );
    change(play, { "aria-label": "Pause" });
    play.replaceChildren(icon("pause"));
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    change(play, { "aria-label": "Play" });
    play.replaceChildren(icon("play"));
  }
}
