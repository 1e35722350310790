// What is known of one state: a small card on the diagram, opened by a click on the state or on its name.

import { fill, iconButton, make } from "./dom.js";
import { marksOf } from "./state_list.js";
import { counted } from "./words.js";

export class StateCard {
  #ui;
  #choose;
  #name = null;

  constructor(ui, { choose }) {
    this.#ui = ui;
    this.#choose = choose;
    this.element = make("div", {
      class: "ork-state-card",
      role: "region",
      "aria-label": "The chosen state",
      hidden: true,
    });
    this.element.addEventListener("click", (event) => event.stopPropagation());
    this.element.addEventListener("pointerdown", (event) => event.stopPropagation());
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#close();
    });
    ui.view.watch(["now"], () => this.show(this.#name));
  }

  show(name) {
    this.#name = name;
    const { states, arrows } = this.#ui.view.get("picture");
    const { state: current, visits } = this.#ui.view.get("now");
    const state = states.find((one) => one.name === name);
    this.element.hidden = !state;
    if (!state) return;
    const label = (one) => states.find((other) => other.name === one)?.label ?? one;
    const away = arrows.filter(
      ({ from, kind }) => from === name || (from === null && !state.final && kind !== "breaker"),
    );
    const here = arrows.filter((arrow) => arrow.to === name && arrow.from !== name);
    const words = [
      marksOf(state, name === current),
      visits[name] ? counted(visits[name], "visit") : "not visited",
    ];
    fill(
      this.element,
      make("strong", { class: "ork-name", text: state.label ?? name }),
      iconButton(
        "cross",
        "Close",
        { class: "ork-button ork-close", on: { click: () => this.#close() } },
        { bare: true },
      ),
      make("p", { class: "ork-quiet", text: words.filter(Boolean).join(" · ") }),
      state.description ? make("p", { text: state.description }) : null,
      this.#ways("Ways out", "to", away, label),
      this.#ways("Ways in", "from", here, label),
    );
  }

  #close() {
    this.#choose(null);
  }

  /** Each trigger once, with the states at the other `end` of its arrows, `from` or `to`. */
  #ways(title, end, arrows, label) {
    if (!arrows.length) return null;
    const grouped = new Map();
    for (const arrow of arrows) {
      const words = arrow.kind === "breaker" ? "circuit breaker" : arrow.triggers.join(", ");
      grouped.set(words, [...(grouped.get(words) ?? []), arrow[end] ?? (end === "to" ? this.#name : null)]);
    }
    const rows = [...grouped].map(([words, others]) =>
      make(
        "li",
        {},
        make("span", { class: "ork-code", text: words }),
        ...others.flatMap((other, index) => [index ? ", " : ` ${end} `, this.#other(other, label)]),
      ),
    );
    return make("div", {}, this.#ui.heading(3, title), make("ul", { class: "ork-ways" }, ...rows));
  }

  #other(name, label) {
    if (name === null) return make("span", { text: "any state" });
    const click = () => this.#choose(name, { go: true });
    return make("button", { type: "button", class: "ork-link", text: label(name), on: { click } });
  }
}
