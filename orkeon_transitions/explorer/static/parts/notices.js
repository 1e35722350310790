// What must not be overlooked: a lost connection, a callback that raised or hangs, an answer that was no.

import { change, fill, icon, iconButton, make } from "./dom.js";
import { counted, duration } from "./words.js";

const SLOW = 1000; // milliseconds, after which a trigger under way is spoken of
const HANGS = 8000;

export function notices(ui) {
  const { view } = ui;
  const area = make("div", { class: "ork-notices" });
  const [lost, answer, problem, busy, copy] = Array.from({ length: 5 }, () => make("div", { hidden: true }));
  change(lost, { role: "alert" });
  change(answer, { role: "alert" });
  change(problem, { role: "alert" });
  change(busy, { role: "status" });
  change(copy, { role: "status" });
  const strange = make("details", {
    class: "ork-notice ork-anomalies",
    "data-kind": "warning",
    hidden: true,
  });
  area.append(lost, answer, problem, busy, copy, strange);

  view.watch(["connection", "connection_why"], () => {
    const state = view.get("connection");
    const words =
      state === "waiting"
        ? "The connection to Python is lost. Trying again …"
        : (view.get("connection_why") ??
          "The connection to Python has ended. Reload the page to begin anew.");
    notice(lost, state === "open" ? null : { kind: "warning", sign: "plug", words });
    ui.root.classList.toggle("ork-lost", state !== "open");
  });
  view.hear(
    ({ error }) => error && notice(answer, { kind: "bad", sign: "warning", words: error, close: true }),
  );
  view.watch(["log", "now", "position"], () => notice(answer, null));
  view.watch(["now"], () => {
    const { problem: found } = view.get("now");
    notice(problem, found && { kind: "bad", sign: "warning", title: found.title, words: found.text });
  });
  view.watch(["title"], () => {
    const { is_copy, note } = view.get("title");
    notice(copy, is_copy ? { kind: "info", sign: "undo", words: note } : null);
  });
  view.watch(["anomalies"], drawAnomalies);
  watchBusy();
  return area;

  function notice(place, content) {
    place.hidden = !content;
    if (!content) return place.replaceChildren();
    const { kind, sign, title, words, close, action } = content;
    change(place, { class: "ork-notice", "data-kind": kind });
    fill(
      place,
      icon(sign),
      make("div", {}, title ? make("strong", { text: title }) : null, make("p", { text: words })),
      action ?? null,
      close
        ? iconButton(
            "cross",
            "Close",
            { class: "ork-button ork-close", on: { click: () => notice(place, null) } },
            { bare: true },
          )
        : null,
    );
  }

  /** Speaks of a trigger under way when it takes long, and offers a way out when it seems to hang. */
  function watchBusy() {
    let since = null;
    const tick = () => {
      const trigger = view.get("now").busy?.trigger;
      const time = since === null ? 0 : performance.now() - since;
      if (time < SLOW) return void (busy.hidden = true);
      const hangs = time > HANGS;
      const what = trigger ? `${trigger} has been running` : "The guards have been asked";
      const words = hangs
        ? `${what} for a while: a callback may hang. A reset leaves it behind and makes a fresh machine.`
        : `${what} …`;
      if (busy.hidden || busy.dataset.hangs !== String(hangs)) {
        const action =
          hangs && view.get("can").reset
            ? make("button", {
                type: "button",
                class: "ork-button",
                text: "Reset",
                on: { click: () => view.send("reset") },
              })
            : null;
        notice(busy, { kind: hangs ? "warning" : "info", sign: "reset", words, action });
        busy.append(make("span", { class: "ork-figures ork-at-end", "aria-hidden": "true" }));
        busy.dataset.hangs = String(hangs);
      }
      busy.lastChild.textContent = duration(Math.floor(time / 1000));
    };
    view.watch(["now"], () => {
      const { busy: under_way } = view.get("now");
      since = under_way ? performance.now() - (under_way.since_ms ?? 0) : null;
      tick();
    });
    const timer = setInterval(tick, 250);
    view.atEnd(() => clearInterval(timer));
  }

  function drawAnomalies() {
    const all = view.get("anomalies");
    strange.hidden = !all.length;
    if (!all.length) return;
    const entry = ({ code, message, place, position }) => {
      const where =
        position == null
          ? null
          : make("button", {
              type: "button",
              class: "ork-link",
              text: `step ${position}`,
              on: { click: () => ui.seek(position) },
            });
      return make(
        "li",
        {},
        make("span", { class: "ork-tag", text: code }),
        make("span", { text: message }),
        place ? make("span", { class: "ork-code ork-quiet", text: place }) : null,
        where,
      );
    };
    const words = counted(all.length, "anomaly");
    fill(
      strange,
      make("summary", {}, icon("warning"), make("span", { text: words })),
      make("ul", {}, ...all.map(entry)),
    );
  }
}
