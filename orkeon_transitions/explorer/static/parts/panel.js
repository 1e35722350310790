// The column beside the picture: the state the machine is in, and the cards that belong to it.

import { change, make } from "./dom.js";
import { marksOf } from "./state_list.js";

/** A card with a heading; `extra` stands beside that. */
export function cardOf(ui, heading, { extra = null, ...attributes } = {}, ...content) {
  return make(
    "section",
    { class: "ork-card ork-panel", "aria-label": heading, ...attributes },
    make("header", {}, ui.heading(2, heading), extra),
    ...content,
  );
}

export function stateNow(ui) {
  const { view } = ui;
  const name = make("p", { class: "ork-state-name", tabindex: -1 });
  const marks = make("span", { class: "ork-quiet" });
  const words = make("p", { class: "ork-quiet" });
  const card = cardOf(ui, "State", { extra: marks, class: "ork-card ork-panel ork-state-now" }, name, words);
  let told = null;
  view.watch(["now", "picture", "page"], () => {
    const { state, ended, degraded, visits } = view.get("now");
    const known = view.get("picture").states.find((one) => one.name === state);
    const kind = degraded ? "degraded" : ended ? "ended" : "going";
    change(card, { "data-kind": kind, hidden: state === null });
    change(name, { text: known?.label ?? state ?? "" });
    change(marks, { text: known ? marksOf(known) : "" });
    change(words, { text: known?.description ?? "", hidden: !known?.description });
    const entry = `${view.get("title").machine_id} ${state} ${visits[state] ?? 0}`;
    if (told !== null && told !== entry)
      ui.say(`Now in ${known?.label ?? state}${ended ? ", which is final" : ""}.`);
    told = entry;
  });
  ui.stateName = name;
  return card;
}
