// The view that Python gives, a flat set of named values, and the messages that go back.
// In Jupyter the model is anywidget's, in the browser it is made of a WebSocket; both have the same few methods.

const NOTHING = {
  page: "loading",
  title: { name: "", machine_id: null, kind: "", source: null, note: null },
  picture: { svg: null, drawing: false, problem: null, states: [], arrows: [] },
  now: {
    state: null,
    visits: {},
    taken: [],
    last: null,
    ended: false,
    degraded: false,
    busy: null,
    problem: null,
  },
  triggers: [],
  form: { kind: "none", fields: [] },
  gauges: [],
  log: { total: 0, first: 0, rows: [] },
  position: { at: 0, last: 0, live: true },
  can: { fire: false, undo: false, reset: false, reset_breaker: false, seek: false, edit: false, export: [] },
  machines: [],
  crew: null,
  problems: [],
  anomalies: [],
  connection: "open",
  connection_why: null,
};

export class View {
  #model;
  #watchers = [];
  #changed = new Set();
  #undo = [];

  constructor(model) {
    this.#model = model;
    for (const name of Object.keys(NOTHING)) this.#listen(`change:${name}`, () => this.#note(name));
  }

  get(name) {
    return this.#model.get(name) ?? NOTHING[name];
  }

  send(what, fields = {}) {
    this.#model.send({ do: what, ...fields });
  }

  /** Draws now, and once more after each burst of changes that touches one of the names. */
  watch(names, draw) {
    this.#watchers.push({ names, draw });
    draw(this);
  }

  /** Hears what Python answers. */
  hear(listener) {
    this.#listen("msg:custom", (message) => listener(message ?? {}));
  }

  /** Has something undone when the explorer is closed. */
  atEnd(undo) {
    this.#undo.push(undo);
  }

  /** A view of its own for a page that goes when another one is shown. */
  part() {
    return new View(this.#model);
  }

  close() {
    for (const undo of this.#undo.splice(0)) undo();
    this.#watchers = [];
  }

  #listen(event, listener) {
    this.#model.on(event, listener);
    this.#undo.push(() => this.#model.off(event, listener));
  }

  #note(name) {
    if (this.#changed.size === 0) queueMicrotask(() => this.#draw());
    this.#changed.add(name);
  }

  #draw() {
    const changed = new Set(this.#changed);
    this.#changed.clear();
    for (const { names, draw } of this.#watchers) {
      if (!names.some((name) => changed.has(name))) continue;
      try {
        draw(this);
      } catch (error) {
        reportError(error); // one part that cannot be drawn leaves the others alone
      }
    }
  }
}
