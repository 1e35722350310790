// The top line: which machine this is, and what can be done with the whole of it.

import { change, iconButton, make } from "./dom.js";

const FORMATS = { png: "PNG", svg: "SVG", jsonl: "JSON lines" };

export function header(ui) {
  const { view } = ui;
  const name = ui.heading(1);
  const words = make("p", { class: "ork-quiet" });
  const remark = make("p", { class: "ork-quiet ork-remark" });
  const undo = iconButton("undo", "Undo", { on: { click: () => act("undo") } });
  const reset = iconButton("reset", "Reset", { on: { click: () => act("reset") } });
  const reload = iconButton("loop", "Reload", { on: { click: () => act("reload") } });
  ui.tooltip.attach(reload, () => "Reads the file again.");
  const exports = Object.entries(FORMATS).map(([format, label]) =>
    make("button", {
      type: "button",
      class: "ork-button",
      text: label,
      "aria-label": `Export as ${label}`,
      "data-format": format,
      on: { click: () => view.send("export", { format }) },
    }),
  );
  const saving = make("span", { class: "ork-group", role: "group", "aria-label": "Export" }, ...exports);
  const actions = make("div", { class: "ork-actions" }, reload, undo, reset, saving);
  view.watch(["title", "page"], () => {
    const { name: title, machine_id, kind, source, note, is_copy } = view.get("title");
    change(name, { text: title || "Explorer" });
    const parts = [kind, machine_id && machine_id !== title ? machine_id : null, fileName(source)];
    change(words, { text: parts.filter(Boolean).join(" · "), title: source });
    // That it is a copy must not be overlooked: `notices` says it.
    const said = is_copy ? "" : (note ?? "");
    change(remark, { text: said, hidden: !said });
  });
  view.watch(["can", "page"], () => {
    const can = view.get("can");
    const machine = view.get("page") === "machine";
    reload.hidden = !can.reload;
    change(undo, { hidden: !machine && !can.undo, "aria-disabled": can.undo ? null : "true" });
    change(reset, { hidden: !machine && !can.reset, "aria-disabled": can.reset ? null : "true" });
    const formats = can.export ?? [];
    for (const button of exports) button.hidden = !formats.includes(button.dataset.format);
    saving.hidden = !formats.length;
  });
  view.hear(({ download }) => download && save(download));
  // Not a <header>: beside JupyterLab's own that would be a second banner of one page.
  return make(
    "div",
    { class: "ork-header" },
    make("div", { class: "ork-title" }, name, words, remark),
    actions,
  );

  function act(what) {
    if (view.get("can")[what]) view.send(what);
  }
}

/** The last part of a path; an address, such as a database's, is shown as it is. */
function fileName(source) {
  return source?.includes("://") ? source : source?.split(/[\\/]/).pop();
}

/** Hands a file to the reader's browser. */
function save({ name, type, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
