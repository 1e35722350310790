// What the guards look at: typed fields where the machine says what its context is, else a switch for each guard.

import { change, following, make, unseen } from "./dom.js";
import { cardOf } from "./panel.js";

const CALM = 180; // milliseconds after the last key

export function form(ui) {
  const { view } = ui;
  const waiting = new Map(); // field -> the timer of a value that was typed and not sent yet
  const fields = make("div", { class: "ork-fields" });
  const defaults = make("button", {
    type: "button",
    class: "ork-link",
    text: "Defaults",
    on: { click: toDefaults },
  });
  const words = make("p", { class: "ork-quiet" });
  const card = cardOf(ui, "Guards", { extra: defaults }, words, fields);
  const draw = following(fields, ({ name, type }) => `${name} ${type}`, entry);

  ui.beforeFiring = () => {
    for (const { send } of waiting.values()) send();
  };
  view.watch(["form", "can", "page"], () => {
    const { kind, fields: all } = view.get("form");
    change(card, { hidden: !all.length || kind === "none", "data-form": kind });
    change(words, {
      text: kind === "switches" ? "Say what each guard answers." : "What the guards are given to judge.",
    });
    draw(all);
    defaults.hidden = !all.some(changed) || !view.get("can").edit;
  });
  return card;

  function changed({ value, default: usual }) {
    return usual !== undefined && JSON.stringify(value) !== JSON.stringify(usual);
  }

  function toDefaults() {
    for (const field of view.get("form").fields.filter(changed))
      view.send("set", { field: field.name, value: field.default });
    fields.querySelector("input, select, textarea")?.focus();
  }

  function entry(field) {
    const id = `${ui.id}-field-${field.name}`;
    const input = inputFor(field);
    const error = make("p", { id: `${id}-error`, class: "ork-error", hidden: true });
    const help = unseen(make("p", { id: `${id}-help` })); // others see it in the tooltip
    const label = make("label", { for: id });
    const row = make("div", { class: `ork-field ork-field-${field.type}` }, label, input, help, error);
    change(input, { id, "aria-describedby": `${help.id} ${error.id}` });
    input.addEventListener(input.matches("select, [type=checkbox]") ? "change" : "input", () =>
      later(field.name, take),
    );
    ui.tooltip.attach(input, () => field.description);
    ui.tooltip.attach(label, () => field.description);
    let shown;
    const update = (next) => {
      field = next;
      change(label, { text: field.label ?? field.name });
      change(help, { text: field.description });
      input.disabled = !view.get("can").edit;
      complain(field.error);
      row.classList.toggle("ork-changed", changed(field));
      // What somebody is typing is not written over.
      if (shown === JSON.stringify(field.value) || waiting.has(field.name)) return;
      shown = JSON.stringify(field.value);
      write(input, field);
    };
    return [row, update];

    function complain(words) {
      change(error, { text: words ?? "", hidden: !words });
      change(input, { "aria-invalid": words ? "true" : null });
    }

    function take() {
      const { value, problem } = read(input, field);
      complain(problem);
      if (problem) return;
      shown = JSON.stringify(value);
      view.send("set", { field: field.name, value });
    }
  }

  function later(name, take) {
    clearTimeout(waiting.get(name)?.timer);
    const send = () => {
      clearTimeout(waiting.get(name)?.timer);
      waiting.delete(name);
      take();
    };
    waiting.set(name, { send, timer: setTimeout(send, CALM) });
  }
}

function inputFor({ type, choices, required }) {
  if (type === "boolean") return make("input", { type: "checkbox", role: "switch", class: "ork-switch" });
  if (type === "choice") {
    const options = (choices ?? []).map((choice, index) =>
      make("option", { value: index, text: String(choice) }),
    );
    return make(
      "select",
      { class: "ork-input" },
      required ? null : make("option", { value: "", text: "(none)" }),
      ...options,
    );
  }
  if (type === "json") return make("textarea", { class: "ork-input ork-code", rows: 2, spellcheck: "false" });
  if (type === "integer" || type === "number")
    return make("input", {
      type: "number",
      class: "ork-input",
      step: type === "integer" ? 1 : "any",
      inputmode: type === "integer" ? "numeric" : "decimal",
    });
  return make("input", { type: "text", class: "ork-input", autocomplete: "off", spellcheck: "false" });
}

function write(input, { type, value, choices }) {
  if (type === "boolean") input.checked = Boolean(value);
  else if (type === "choice")
    input.value = (choices ?? []).findIndex((one) => JSON.stringify(one) === JSON.stringify(value));
  else if (type === "json") input.value = value == null ? "" : JSON.stringify(value);
  else input.value = value ?? "";
}

function read(input, { type, choices }) {
  if (type === "boolean") return { value: input.checked };
  if (type === "choice") return { value: input.value === "" ? null : choices[Number(input.value)] };
  if (type === "string") return { value: input.value };
  if (input.validity.badInput) return { problem: "This is no number." };
  if (input.value.trim() === "") return { value: null };
  if (type !== "json") return { value: Number(input.value) };
  try {
    return { value: JSON.parse(input.value) };
  } catch {
    return { problem: "This is no JSON." };
  }
}
