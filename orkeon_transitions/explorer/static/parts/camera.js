// What of a drawing is seen: moving and zooming by pointer, wheel, fingers and keys.
// The SVG fills its canvas; the camera writes its viewBox, so that lines stay sharp at any size.

const CLOSEST = 6;
const FARTHEST = 0.02;
const LEGIBLE = 0.5; // below this, a whole machine is no help: the camera begins at the current state instead
const COMFORTABLE = 0.95;
const LARGEST_FIT = 1.6;
const MARGIN = 14; // in the drawing's units
const GLIDE = 240; // milliseconds

export class Camera {
  #canvas;
  #svg = null;
  #world = null; // the drawing's own bounds, in its units
  #eye = { x: 0, y: 0, scale: 1 }; // the middle of what is seen, and pixels per unit
  #whole = true; // whether the drawing was fitted and not moved since
  #glide = 0;
  #pointers = new Map();
  #dragged = false;
  #seen;

  /** `whenSeen` is called when a drawing can be measured for the first time: it may have been hidden before. */
  constructor(canvas, whenSeen) {
    this.#canvas = canvas;
    this.#seen = whenSeen;
    new ResizeObserver(() => this.#resized()).observe(canvas);
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"])
      canvas.addEventListener(end, (event) => this.#pointers.delete(event.pointerId));
    // A drag that ends upon a state is no click on it.
    canvas.addEventListener("click", (event) => this.#dragged && event.stopPropagation(), { capture: true });
  }

  look(svg) {
    this.#svg = svg;
    this.#world = null;
    this.#whole = true;
    this.#resized();
  }

  fit({ glide = true } = {}) {
    if (!this.#world) return;
    this.#go(this.#fitted(), glide);
    this.#whole = true;
  }

  zoom(factor, point = null) {
    if (!this.#svg) return;
    const { x, y, scale } = this.#eye;
    const next = Math.max(FARTHEST, Math.min(scale * factor, CLOSEST));
    if (!point) return this.#go({ x, y, scale: next }, true);
    const [atX, atY] = this.#unit(point.clientX, point.clientY);
    const ratio = scale / next;
    this.#go({ x: atX + (x - atX) * ratio, y: atY + (y - atY) * ratio, scale: next }, false);
  }

  /** Brings an element into the middle; `closer` also makes it large enough to be read. */
  centre(element, { closer = true, glide = true } = {}) {
    const box = this.boxOf(element);
    if (!box) return;
    const scale = closer
      ? Math.max(this.#eye.scale, COMFORTABLE * (this.#narrow() ? 0.85 : 1))
      : this.#eye.scale;
    this.#go({ x: box.x + box.width / 2, y: box.y + box.height / 2, scale }, glide);
  }

  /** The beginning: all of it if it can be read so, else the surroundings of an element. */
  begin(element) {
    const whole = this.#fitted();
    if (whole.scale >= LEGIBLE || !element) return this.fit({ glide: false });
    this.#eye.scale = whole.scale;
    this.centre(element, { glide: false });
  }

  /** Whether an element stands in the left half of what is seen. */
  isLeft(element) {
    const [inner, outer] = [element.getBoundingClientRect(), this.#canvas.getBoundingClientRect()];
    return inner.left + inner.width / 2 < outer.left + outer.width / 2;
  }

  sees(element) {
    const [inner, outer] = [element.getBoundingClientRect(), this.#canvas.getBoundingClientRect()];
    return (
      inner.left >= outer.left &&
      inner.right <= outer.right &&
      inner.top >= outer.top &&
      inner.bottom <= outer.bottom
    );
  }

  /** An element's bounds in the drawing's units; null while nothing is laid out. */
  boxOf(element) {
    const [outer, inner] = [this.#svg?.getScreenCTM(), element?.getScreenCTM()];
    if (!outer || !inner) return null;
    const { x, y, width, height } = element.getBBox();
    const matrix = outer.inverse().multiply(inner);
    const [from, to] = [new DOMPoint(x, y), new DOMPoint(x + width, y + height)].map((p) =>
      p.matrixTransform(matrix),
    );
    return {
      x: Math.min(from.x, to.x),
      y: Math.min(from.y, to.y),
      width: Math.abs(to.x - from.x),
      height: Math.abs(to.y - from.y),
    };
  }

  #narrow() {
    return this.#canvas.clientWidth < 480;
  }

  #fitted() {
    const { x, y, width, height } = this.#world;
    const { clientWidth, clientHeight } = this.#canvas;
    const scale = Math.min(clientWidth / width, clientHeight / height, LARGEST_FIT) || 1;
    return { x: x + width / 2, y: y + height / 2, scale };
  }

  #resized() {
    if (!this.#svg || !this.#canvas.clientWidth || !this.#canvas.clientHeight) return;
    if (this.#world) return this.#whole ? this.fit({ glide: false }) : this.#write();
    // What is drawn, without the title and the margins that it has on paper.
    const { x, y, width, height } = this.#svg.getBBox();
    this.#world = { x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
    this.fit({ glide: false });
    this.#seen();
  }

  #unit(clientX, clientY) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const { x, y, scale } = this.#eye;
    return [x + (clientX - left - width / 2) / scale, y + (clientY - top - height / 2) / scale];
  }

  #go(to, glide) {
    cancelAnimationFrame(this.#glide);
    this.#whole = false;
    const from = { ...this.#eye };
    if (!glide || matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) {
      this.#eye = to;
      return this.#write();
    }
    const start = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - start) / GLIDE));
      const eased = 1 - (1 - part) ** 3;
      for (const name of ["x", "y", "scale"]) this.#eye[name] = from[name] + (to[name] - from[name]) * eased;
      this.#write();
      if (part < 1) this.#glide = requestAnimationFrame(step);
    };
    this.#glide = requestAnimationFrame(step);
  }

  #write() {
    const { x, y, scale } = this.#eye;
    const [width, height] = [this.#canvas.clientWidth / scale, this.#canvas.clientHeight / scale];
    if (!width || !height) return;
    this.#svg.setAttribute(
      "viewBox",
      [x - width / 2, y - height / 2, width, height].map((n) => n.toFixed(2)).join(" "),
    );
    this.#canvas.classList.toggle("ork-far", scale < LEGIBLE);
  }

  /** A wheel scrolls the page, unless it was turned for the drawing: with Ctrl, when that has the focus, or
   * where the explorer is the whole page. */
  #wheel(event) {
    const meant = event.ctrlKey || event.metaKey || this.#canvas.matches(":focus-within");
    if (!this.#svg || !(meant || this.#canvas.closest(".orkeon-page"))) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 18 : 1;
    this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY * lines)) / 400), event);
  }

  #key(event) {
    if (event.target !== this.#canvas || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60 / this.#eye.scale;
    const ways = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (ways[event.key]) this.#shift(...ways[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  #shift(byX, byY) {
    if (!this.#svg) return;
    const { x, y, scale } = this.#eye;
    this.#go({ x: x + byX, y: y + byY, scale }, false);
  }

  #down(event) {
    if (event.button) return;
    if (this.#pointers.size === 0) this.#dragged = false;
    this.#pointers.set(event.pointerId, {
      clientX: event.clientX,
      clientY: event.clientY,
      fromX: event.clientX,
      fromY: event.clientY,
    });
  }

  #move(event) {
    const pointer = this.#pointers.get(event.pointerId);
    if (!pointer) return;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    const moved = Math.hypot(event.clientX - pointer.fromX, event.clientY - pointer.fromY);
    if (moved > 4 && !this.#dragged) {
      this.#dragged = true;
      this.#canvas.setPointerCapture(event.pointerId);
    }
    if (this.#dragged && other) this.#pinch(pointer, other, event);
    else if (this.#dragged)
      this.#shift(
        (pointer.clientX - event.clientX) / this.#eye.scale,
        (pointer.clientY - event.clientY) / this.#eye.scale,
      );
    pointer.clientX = event.clientX;
    pointer.clientY = event.clientY;
  }

  #pinch(pointer, other, event) {
    const before = Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY);
    const after = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
    const middle = {
      clientX: (event.clientX + other.clientX) / 2,
      clientY: (event.clientY + other.clientY) / 2,
    };
    if (before && after) this.zoom(after / before, middle);
  }
}
