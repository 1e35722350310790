// Elements. A text only ever becomes text: nothing in the explorer reads a string as HTML.

/** Makes an element; its attributes are those of `change`. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  change(element, attributes);
  element.append(...children.filter((child) => child != null));
  return element;
}

/** Replaces what is in an element; a child that is null is left out. */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child != null));
}

/**
 * Sets what differs. `text` is the element's text, `on` are listeners; an attribute that is null or false is
 * taken away. What is as it was is left alone, so that screen readers do not hear of it again.
 */
export function change(element, { text, on, ...attributes }) {
  if (text !== undefined && element.textContent !== String(text ?? "")) element.textContent = text ?? "";
  for (const [event, listener] of Object.entries(on ?? {})) element.addEventListener(event, listener);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value === true ? "" : value))
      element.setAttribute(name, value === true ? "" : value);
  }
}

/**
 * Lets a parent's children follow a list. An entry that stays keeps its element, and with it focus and scrolling.
 *
 * `create(entry)` gives `[element, update]`; `update(entry)` is called for each list that has the entry.
 */
export function following(parent, keyOf, create) {
  let shown = new Map();
  return (entries) => {
    const focused = activeWithin(parent);
    const next = new Map();
    for (const entry of entries) {
      const key = keyOf(entry);
      next.set(key, shown.get(key) ?? create(entry));
    }
    for (const [key, [element]] of shown) if (!next.has(key)) element.remove();
    let place = parent.firstElementChild;
    const updates = [...next.values()];
    updates.forEach(([element, update], index) => {
      update(entries[index]);
      if (element === place) place = place.nextElementSibling;
      else parent.insertBefore(element, place);
    });
    shown = next;
    // An element that was moved has lost the focus.
    if (focused?.isConnected) focused.focus({ preventScroll: true });
    return Boolean(focused) && !focused.isConnected;
  };
}

/** The element below `parent` that has the focus, or null. */
export function activeWithin(parent) {
  const active = parent.getRootNode().activeElement;
  return active && active !== parent && parent.contains(active) ? active : null;
}

/** One stop for the Tab key in a list of many: the arrow keys, Home and End go on from there. */
export function roving(container, selector) {
  const stops = () => [...container.querySelectorAll(selector)].filter((stop) => stop.checkVisibility());
  const stopAt = (chosen) => {
    for (const stop of container.querySelectorAll(selector)) stop.tabIndex = stop === chosen ? 0 : -1;
  };
  container.addEventListener("focusin", (event) => {
    const stop = event.target.closest(selector);
    if (stop) stopAt(stop);
  });
  container.addEventListener("keydown", (event) => {
    const all = stops();
    const here = all.indexOf(event.target.closest(selector));
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key];
    if (here < 0 || to === undefined) return;
    event.preventDefault();
    all[Math.max(0, Math.min(to, all.length - 1))].focus();
  });
  /** After a new list was drawn: there must be exactly one stop. */
  return () => {
    const all = [...container.querySelectorAll(selector)];
    if (!all.some((stop) => stop.tabIndex === 0)) stopAt(all[0]);
    else stopAt(all.find((stop) => stop.tabIndex === 0));
  };
}

/** Lets an element be for screen readers only. */
export function unseen(element) {
  element.classList.add("ork-unseen");
  return element;
}

const ICONS = {
  undo: "M5.5 3 2 6.5 5.5 10M2.5 6.5H10a4 4 0 0 1 0 8H6",
  reset: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5v3h-3",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  target: "M8 1v3M8 12v3M1 8h3M12 8h3M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.5M2 8h.5M2 12h.5",
  search: "M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2M10.7 10.7 14 14",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2 15 14H1ZM8 6.5v3.5M8 12v.3",
  info: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13M8 7v4.5M8 4.6v.3",
  bolt: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8Z",
  loop: "M11 2l2.5 2.5L11 7M13.5 4.5H5A2.5 2.5 0 0 0 2.5 7v1M5 14l-2.5-2.5L5 9M2.5 11.5H11a2.5 2.5 0 0 0 2.5-2.5V8",
  arrow: "M2 8h11M9 4l4 4-4 4",
  play: "M4.5 2.5 13 8l-8.5 5.5Z",
  pause: "M5 3v10M11 3v10",
  first: "M12.5 3 6 8l6.5 5M3.5 3v10",
  last: "M3.5 3 10 8l-6.5 5M12.5 3v10",
  back: "M10.5 3 5 8l5.5 5",
  next: "M5.5 3 11 8l-5.5 5",
  down: "M8 2v9M4 7.5 8 11.5l4-4M2.5 14h11",
  bulb: "M6 13h4M6.5 15h3M5.6 10.5a4.5 4.5 0 1 1 4.8 0V12H5.6z",
  plug: "M6 1.5v4M10 1.5v4M3.5 5.5h9V8a4.5 4.5 0 0 1-9 0zM8 12.5v2.5",
};

/** A small drawing of a line; words beside it or a label must say the same. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  change(svg, { class: `ork-icon ork-icon-${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" });
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button of an icon and a word, or, where the word is only its label, of an icon alone. */
export function iconButton(name, label, attributes = {}, { bare = false } = {}) {
  const words = bare ? null : make("span", { text: label });
  return make(
    "button",
    { type: "button", class: "ork-button", "aria-label": bare ? label : null, ...attributes },
    icon(name),
    words,
  );
}
