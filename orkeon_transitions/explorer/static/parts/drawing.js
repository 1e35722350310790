// One drawing: Graphviz' SVG, taken over element by element, and what is marked upon it.

import { change, iconButton, make } from "./dom.js";
import { Camera } from "./camera.js";

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["path", "polygon", "polyline", "ellipse", "circle", "rect", "line"]);
const ELEMENTS = new Set(["svg", "g", "text", "tspan", ...SHAPES]);
const ATTRIBUTES = new Set(
  `class id viewBox transform d points x y x1 y1 x2 y2 dx dy cx cy r rx ry width height fill stroke stroke-width
   stroke-dasharray stroke-linecap stroke-linejoin opacity fill-opacity stroke-opacity font-family font-size
   font-weight font-style text-anchor text-decoration textLength lengthAdjust
   dominant-baseline`.split(/\s+/),
);

/**
 * An SVG text as elements, or null where it is none. Only shapes, groups and texts come through, with attributes
 * that say how they look: no script, no handler, no link, no style sheet, nothing that is fetched.
 */
export function parsedDrawing(text) {
  const root = new DOMParser().parseFromString(text ?? "", "image/svg+xml").documentElement;
  return root.namespaceURI === SVG && root.localName === "svg" ? copied(root) : null;
}

function copied(source) {
  const copy = document.createElementNS(SVG, source.localName);
  for (const { name, value } of source.attributes)
    if (ATTRIBUTES.has(name) && !/url\(|javascript:/i.test(value)) copy.setAttribute(name, value);
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(child.data);
    else if (child.namespaceURI === SVG && ELEMENTS.has(child.localName)) copy.append(copied(child));
  }
  return copy;
}

export class Drawing {
  #parts = new Map(); // the SVG's own ids -> elements; the ids leave the page, which may show a drawing twice
  #badges = new Map();
  #svg = null;
  #first;

  /** `first` gives the id of what should be seen where the whole is too large. */
  constructor({ first = () => null, picked = () => {} } = {}) {
    this.#first = first;
    this.canvas = make("div", { class: "ork-canvas", tabindex: 0, role: "group" });
    this.camera = new Camera(this.canvas, () => this.#seen());
    this.canvas.addEventListener("click", (event) => {
      const part = event.target.closest?.("[data-part]");
      picked(part?.dataset.part ?? null, part);
    });
  }

  get shown() {
    return this.#svg !== null;
  }

  /** Puts another drawing in; says whether there is one now. */
  show(text) {
    this.#svg?.remove();
    this.#parts.clear();
    this.#badges.clear();
    this.#svg = text ? parsedDrawing(text) : null;
    if (!this.#svg) return false;
    change(this.#svg, { class: "ork-drawing", width: "100%", height: "100%", "aria-hidden": "true" });
    for (const part of this.#svg.querySelectorAll("[id]")) {
      this.#parts.set(part.id, part);
      part.dataset.part = part.id;
      part.removeAttribute("id");
    }
    this.canvas.prepend(this.#svg);
    this.camera.look(this.#svg);
    return true;
  }

  part(id) {
    return this.#parts.get(id) ?? null;
  }

  mark(id, name, on) {
    this.#parts.get(id)?.classList.toggle(name, on);
  }

  /** Words on a small pill at a node's upper right corner; an empty text takes it away. */
  badge(id, words) {
    const part = this.#parts.get(id);
    const badge = this.#badges.get(id);
    if (!part || (badge?.words ?? "") === words) return;
    badge?.element.remove();
    this.#badges.delete(id);
    if (!words) return;
    const shape = [...part.children].find((child) => SHAPES.has(child.localName));
    const box = shape?.getBBox();
    if (!box?.width) return; // not laid out yet: `#seen` asks again
    const width = 8 + words.length * 6;
    const element = document.createElementNS(SVG, "g");
    change(element, {
      class: "ork-badge",
      transform: `translate(${box.x + box.width - width + 7} ${box.y - 8})`,
    });
    const pill = document.createElementNS(SVG, "rect");
    change(pill, { width, height: 15, rx: 7.5 });
    const label = document.createElementNS(SVG, "text");
    change(label, { x: width / 2, y: 11, "text-anchor": "middle", text: words });
    element.append(pill, label);
    part.append(element);
    this.#badges.set(id, { words, element });
  }

  /** Called when it can be measured; `whenSeen` may be set by whoever marks the drawing. */
  whenSeen = () => {};

  #seen() {
    this.camera.begin(this.part(this.#first()));
    this.whenSeen();
  }
}

/** The buttons over a drawing: what is seen of it. */
export function lensTools(ui, { camera }, ...more) {
  const tool = (name, label, click) => iconButton(name, label, { on: { click } }, { bare: true });
  const tools = make(
    "span",
    { class: "ork-group ork-lens", role: "group", "aria-label": "View of the diagram" },
    ...more,
    tool("minus", "Zoom out", () => camera.zoom(0.8)),
    tool("plus", "Zoom in", () => camera.zoom(1.25)),
    tool("fit", "Show all of it", () => camera.fit()),
  );
  for (const button of tools.children) ui.tooltip.attach(button, () => button.getAttribute("aria-label"));
  for (const event of ["click", "pointerdown", "pointerover"])
    tools.addEventListener(event, (happened) => happened.stopPropagation());
  return tools;
}
