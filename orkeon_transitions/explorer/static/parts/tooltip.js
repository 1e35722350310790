// A tooltip of our own: it opens on hover and on focus, stays while the pointer is on it, and Escape closes it.
// It stands in the browser's top layer, so that no cell of a notebook cuts it off.

import { make } from "./dom.js";

const PATIENCE = 150; // milliseconds

export class Tooltip {
  #words = make("div", { class: "ork-tooltip", role: "tooltip", popover: "manual" });
  #target = null;
  #place = () => {};
  #timer = null;

  constructor(root) {
    root.append(this.#words);
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#target) this.hide();
    });
    root.addEventListener("scroll", () => this.#target && this.#place(), { capture: true, passive: true });
    this.#words.addEventListener("pointerenter", () => clearTimeout(this.#timer));
    this.#words.addEventListener("pointerleave", () => this.#later(null));
  }

  /** Shows `words()` at the element whenever it has the pointer or the focus; an empty text shows nothing. */
  attach(element, words, { beside = () => false } = {}) {
    const show = () => this.show(element, words(), null, beside());
    element.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "touch") this.#later(show);
    });
    element.addEventListener("pointerleave", () => this.#later(null));
    element.addEventListener("focus", () => element.matches(":focus-visible") && show());
    element.addEventListener("blur", () => this.hide());
    element.addEventListener("click", () => this.hide());
  }

  /**
   * Shows a text at an element, or at a place of it: `at` is a rectangle in the window. It stands above or below,
   * or `beside` it on the left if there is room, where it covers nothing else of a list; else it stands below,
   * as what a list is about stands above it.
   */
  show(element, text, at = null, beside = false) {
    clearTimeout(this.#timer);
    if (!text || !element.isConnected) return this.hide();
    this.#target = element;
    this.#words.textContent = text;
    this.#words.showPopover?.();
    this.#place = () => this.#stand(at ?? element.getBoundingClientRect(), beside);
    this.#place();
  }

  #stand(at, beside) {
    const { offsetWidth: width, offsetHeight: height } = this.#words;
    const within = (place, size, whole) => Math.max(8, Math.min(place, whole - size - 8));
    let left = within(at.left + at.width / 2 - width / 2, width, innerWidth);
    const above = at.top - height - 8 >= 8 && !(beside && at.bottom + 8 + height + 8 <= innerHeight);
    let top = above ? at.top - height - 8 : at.bottom + 8;
    if (beside && at.left - width - 10 >= 8) {
      left = at.left - width - 10;
      top = within(at.top + at.height / 2 - height / 2, height, innerHeight);
    }
    this.#words.style.left = `${left}px`;
    this.#words.style.top = `${top}px`;
  }

  hide() {
    clearTimeout(this.#timer);
    this.#target = null;
    this.#words.hidePopover?.();
  }

  #later(show) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (show ? show() : this.hide()), PATIENCE);
  }
}
