// A button for each trigger. One that is not permitted says why, and can be tried all the same: the refusal is
// what one came to see, and it stands in the log.

import { change, following, icon, make, unseen } from "./dom.js";
import { cardOf } from "./panel.js";

const TRY = "Click to try it all the same.";
const FEW = 16; // triggers without a row here that are shown at once

const KINDS = {
  invalid: "no row here",
  terminal: "has ended",
  guard: "guard",
  circuit: "breaker",
  error: "guard failed",
};

export function triggers(ui) {
  const { view } = ui;
  let pending = null;
  const here = make("ul", { class: "ork-triggers" });
  const elsewhere = make("ul", { class: "ork-triggers ork-small" });
  const count = make("span", { class: "ork-quiet" });
  const rest = make(
    "details",
    { class: "ork-rest" },
    make("summary", {}, "Not from this state ", count),
    elsewhere,
  );
  const none = make("p", { class: "ork-quiet" });
  const past = make("p", { class: "ork-quiet ork-past" });
  const card = cardOf(ui, "Triggers", {}, past, here, none, rest);
  const drawHere = following(here, ({ name }) => name, entry);
  const drawElsewhere = following(elsewhere, ({ name }) => name, entry);
  let toggled = false;
  rest.querySelector("summary").addEventListener("click", () => (toggled = true));

  // Whatever comes back, the click was heard.
  view.watch(["log", "now", "position"], () => (pending = null));
  view.watch(["triggers", "can", "now", "log", "position"], draw);
  view.hear(() => {
    pending = null;
    draw();
  });
  return card;

  function draw() {
    const all = view.get("triggers");
    const [mine, others] = [all.filter((one) => !one.elsewhere), all.filter((one) => one.elsewhere)];
    // The one with the focus may move between the two lists, or go: then the focus goes to the next best one.
    const lost = [drawHere(mine), drawElsewhere(others)].some(Boolean);
    change(card, { hidden: !all.length && !view.get("can").fire });
    change(past, { hidden: !all.length || view.get("can").fire, text: pastWords() });
    change(none, {
      text: view.get("now").ended ? "The machine has ended." : "No trigger leads on from here.",
      hidden: mine.length > 0,
    });
    change(rest, { hidden: !others.length });
    change(count, { text: `(${others.length})` });
    if (!toggled) rest.open = others.length <= FEW;
    if (lost)
      (card.querySelector(".ork-trigger:not([aria-disabled])") ?? ui.stateName).focus({
        preventScroll: true,
      });
  }

  function pastWords() {
    const { at, last } = view.get("position");
    return at < last ? "What could be fired at this step." : "What leads on from this state.";
  }

  function entry({ name }) {
    let now = null;
    const why = unseen(make("span", { id: `${ui.id}-why-${name}` }));
    why.classList.add("ork-why");
    const sign = icon("lock");
    const target = make("span", { class: "ork-trigger-to", "aria-hidden": "true" });
    const kind = make("span", { class: "ork-tag", "aria-hidden": "true" });
    const button = make(
      "button",
      {
        type: "button",
        class: "ork-trigger",
        "aria-describedby": why.id,
        "data-trigger": name,
        on: { click: fire },
      },
      sign,
      make("span", { class: "ork-trigger-name", text: name }),
      kind,
      target,
    );
    const invitation = () => (now.permitted || !view.get("can").fire ? null : TRY);
    const told = () => [now.why, now.description, invitation()].filter(Boolean).join("\n");
    ui.tooltip.attach(button, told, { beside: () => !button.closest(".ork-small") });
    const update = (trigger) => {
      now = trigger;
      const { busy } = view.get("now");
      const goes = trigger.permitted && view.get("can").fire;
      const ways = trigger.to ?? [];
      change(button, {
        "aria-disabled": goes && !busy ? null : "true",
        "aria-busy": pending === name || busy?.trigger === name ? "true" : null,
      });
      const here = view.get("can").fire;
      sign.toggleAttribute("hidden", trigger.permitted || !here);
      change(button, { "data-next": Boolean(trigger.next), "data-try": Boolean(invitation()) });
      const words = trigger.next
        ? "taken next"
        : trigger.permitted || trigger.elsewhere
          ? ""
          : (KINDS[trigger.kind] ?? "");
      change(kind, { text: words, hidden: !words });
      change(target, {
        text: ways.length ? `→ ${ways.length > 2 ? `${ways.length} states` : ways.join(", ")}` : "",
        hidden: trigger.elsewhere,
      });
      const reason = trigger.permitted ? null : trigger.why;
      const leads = ways.length ? `Leads to ${ways.join(" or ")}.` : null;
      const spoken = [leads, reason, trigger.description, invitation()];
      change(why, { text: spoken.filter(Boolean).join(" ") });
      change(button, { "data-why": reason });
    };
    return [make("li", {}, button, why), update];

    function fire() {
      if (now.next) return ui.seek(view.get("position").at + 1);
      if (!view.get("can").fire || pending) return;
      pending = name;
      ui.beforeFiring();
      view.send("fire", { trigger: name });
      change(button, { "aria-busy": "true" });
      setTimeout(() => {
        if (pending === name) pending = null; // an answer that never comes must not lock the buttons
      }, 3000);
    }
  }
}
