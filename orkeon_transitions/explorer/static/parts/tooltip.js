// A tooltip of our own: it opens on hover and on focus, stays while the pointer is on it, and Escape closes it.
// It stands in the browser's top layer, so that no cell of a notebook cuts it off.

import { make } from "./dom.js";

const PATIENCE = 150; // milliseconds

export class Tooltip {
  #words = make("div", { class: "ork-tooltip", role: "tooltip", popover: "manual" });
  #target = null;
  #timer = null;

  constructor(root) {
    root.append(this.#words);
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#target) this.hide();
    });
    this.#words.addEventListener("pointerenter", () => clearTimeout(this.#timer));
    this.#words.addEventListener("pointerleave", () => this.#later(null));
  }

  /** Shows `words()` at the element whenever it has the pointer or the focus; an empty text shows nothing. */
  attach(element, words) {
    element.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "touch") this.#later(element, words);
    });
    element.addEventListener("pointerleave", () => this.#later(null));
    element.addEventListener("focus", () => element.matches(":focus-visible") && this.show(element, words()));
    element.addEventListener("blur", () => this.hide());
    element.addEventListener("click", () => this.hide());
  }

  /** Shows a text at an element, or at a place of it: `at` is a rectangle in the window. */
  show(element, text, at = element.getBoundingClientRect()) {
    clearTimeout(this.#timer);
    if (!text || !element.isConnected) return this.hide();
    this.#target = element;
    this.#words.textContent = text;
    this.#words.showPopover?.();
    const { offsetWidth: width, offsetHeight: height } = this.#words;
    const left = Math.max(8, Math.min(at.left + at.width / 2 - width / 2, innerWidth - width - 8));
    const above = at.top - height - 8;
    this.#words.style.left = `${left}px`;
    this.#words.style.top = `${above >= 8 ? above : at.bottom + 8}px`;
  }

  hide() {
    clearTimeout(this.#timer);
    this.#target = null;
    this.#words.hidePopover?.();
  }

  #later(element, words) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (element ? this.show(element, words()) : this.hide()), PATIENCE);
  }
}
