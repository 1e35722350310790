// Every state in words: beside a picture of hundreds, instead of one that cannot be drawn, and for screen readers.

import { change, following, make, roving } from "./dom.js";
import { counted, plainNumber } from "./words.js";

export class StateList {
  #ui;
  #words = "";
  #chosen = null;
  #draw;
  #oneStop;
  #matched;
  #none = make("p", { class: "ork-quiet", hidden: true });
  #list = make("ul", { class: "ork-states" });

  constructor(ui, { choose, matched }) {
    this.#ui = ui;
    this.#matched = matched;
    this.element = make(
      "div",
      { class: "ork-state-list", role: "region", "aria-label": "States", hidden: true },
      this.#none,
      this.#list,
    );
    this.#oneStop = roving(this.#list, "button");
    this.#draw = following(
      this.#list,
      ({ name }) => name,
      ({ name }) => this.#entry(() => choose(name, { go: true })),
    );
    ui.view.watch(["picture", "now"], () => this.#update());
  }

  /** The first state that the search leaves, by name. */
  get first() {
    return this.#found()[0]?.name ?? null;
  }

  search(words) {
    this.#words = words.trim().toLowerCase();
    const found = this.#found();
    this.#matched(this.#words ? new Set(found.map(({ name }) => name)) : null);
    this.#update();
    if (this.#words)
      this.#ui.say(found.length ? `${counted(found.length, "state")} found` : "no state found");
  }

  choose(name) {
    this.#chosen = name;
    this.#update();
  }

  focus() {
    this.#list.querySelector("button")?.focus();
  }

  #found() {
    const { states } = this.#ui.view.get("picture");
    const fits = (text) => text?.toLowerCase().includes(this.#words);
    return this.#words
      ? states.filter((state) => fits(state.name) || fits(state.label) || fits(state.description))
      : states;
  }

  #update() {
    const found = this.#found();
    this.#draw(found);
    this.#oneStop();
    change(this.#none, { text: this.#words ? "No state is called so." : "", hidden: found.length > 0 });
  }

  #entry(click) {
    const sign = make("span", { class: "ork-sign", "aria-hidden": "true" });
    const label = make("span", { class: "ork-name" });
    const marks = make("span", { class: "ork-quiet" });
    const visits = make("span", { class: "ork-count" });
    const button = make(
      "button",
      { type: "button", on: { click } },
      sign,
      make("span", { class: "ork-entry" }, label, marks),
      visits,
    );
    const update = (state) => {
      const { state: current, visits: counts } = this.#ui.view.get("now");
      const here = state.name === current;
      const count = counts[state.name] ?? 0;
      change(button, {
        class: here ? "ork-current" : "",
        "aria-current": here ? "true" : null,
        "aria-pressed": String(state.name === this.#chosen),
      });
      change(label, { text: state.label ?? state.name });
      change(marks, { text: marksOf(state, here) });
      change(visits, {
        text: count ? `×${plainNumber(count)}` : "",
        title: count ? counted(count, "visit") : null,
      });
    };
    return [make("li", {}, button), update];
  }
}

/** What a state is besides its name, in a few words. */
export function marksOf({ initial, final, degraded }, here = false) {
  return [here && "current", initial && "initial", degraded ? "degraded" : final && "final"]
    .filter(Boolean)
    .join(" · ");
}
