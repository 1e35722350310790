// The page around the explorer: anywidget's `model`, over a WebSocket to the session of this tab.
//
// The server sends {traits}, {answer}, {tab} and {notice}; the page sends what the explorer sends. A connection
// that breaks is made again, and the session is then told as a whole: only what differs is passed on. How the
// connection stands is a trait that is made here: `connection` is "open", "waiting" (lost, trying again) or
// "closed" (given up), `connection_why` says why.
import explorer from "./explorer.js";

const TAB = "orkeon-tab";
const DELAYS = [100, 250, 500, 1000, 2000, 4000];
const LARGEST = 256 * 1024;
const REFUSED = 4002;
const ENDED = 1012; // said by a server that ends in good order; another one will have another token

class Model {
  #values = { page: "loading", connection: "open", connection_why: null };
  #listeners = new Map();
  #deliver;

  constructor(deliver) {
    this.#deliver = deliver;
  }

  get(name) {
    return this.#values[name];
  }

  on(events, listener) {
    for (const event of events.split(/\s+/)) {
      if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
      this.#listeners.get(event).add(listener);
    }
  }

  off(events, listener) {
    for (const event of events ? events.split(/\s+/) : [...this.#listeners.keys()]) {
      if (listener) this.#listeners.get(event)?.delete(listener);
      else this.#listeners.delete(event);
    }
  }

  send(message) {
    this.#deliver(message);
  }

  // All values are there before anybody hears of one.
  update(traits) {
    const changed = Object.keys(traits).filter(
      (name) => JSON.stringify(traits[name]) !== JSON.stringify(this.#values[name]),
    );
    for (const name of changed) this.#values[name] = traits[name];
    for (const name of changed) this.tell(`change:${name}`, this, this.#values[name]);
    if (changed.length) this.tell("change", this);
  }

  tell(event, ...facts) {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        listener(...facts);
      } catch (error) {
        console.error(error);
      }
    }
  }
}

const token = new URLSearchParams(location.search).get("token") ?? "";
const page = crypto.getRandomValues(new Uint32Array(4)).join("-");
const model = new Model(deliver);
let socket = null;
let failures = 0;
let waiting = null;

// A page that may keep nothing, as in some private windows, gets a new tab each time that it is loaded.
let kept = "";
function tab(name) {
  if (name) kept = name;
  try {
    if (name) sessionStorage.setItem(TAB, name);
    return kept || (sessionStorage.getItem(TAB) ?? "");
  } catch {
    return kept;
  }
}

function stands(connection, why = null) {
  model.update({ connection, connection_why: why });
}

function deliver(message) {
  const text = JSON.stringify(message);
  let problem = null;
  if (socket?.readyState !== WebSocket.OPEN) problem = "Not connected: this was not done.";
  else if (text.length > LARGEST) problem = "This is too large to be sent.";
  if (problem) model.tell("msg:custom", { error: problem }, []);
  else socket.send(text);
}

function connect() {
  clearTimeout(waiting);
  waiting = null;
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  address.search = new URLSearchParams({ token, tab: tab(), page });
  const made = new WebSocket(address);
  socket = made;
  made.onmessage = ({ data }) => {
    const { tab: name, traits, answer, notice } = JSON.parse(data);
    if (name) tab(name);
    if (notice) stands("closed", notice);
    if (traits) {
      failures = 0;
      stands("open");
      model.update(traits);
      document.title = [model.get("title")?.name, "Explorer"].filter(Boolean).join(" · ");
    }
    if (answer) model.tell("msg:custom", answer, []);
  };
  made.onclose = ({ code }) => {
    if (socket !== made) return;
    socket = null;
    if (code === ENDED) stands("closed", "orkeon has ended. This is what was there last.");
    else if (code !== REFUSED) again();
    else if (model.get("connection") !== "closed") stands("closed");
  };
}

// A refused handshake looks like a server that is not there; asking for the page tells which it is.
async function again() {
  failures += 1;
  if (failures > 1) {
    stands("waiting");
    const answered = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    if (answered?.status === 403) {
      stands("closed", "This address is not valid any more. Open the one that orkeon has printed last.");
      return;
    }
  }
  waiting ??= setTimeout(connect, DELAYS[Math.min(failures, DELAYS.length) - 1]);
}

function atOnce() {
  if (waiting !== null && document.visibilityState === "visible") connect();
}

addEventListener("online", atOnce);
document.addEventListener("visibilitychange", atOnce);
await explorer.render({ model, el: document.getElementById("explorer") });
connect();
