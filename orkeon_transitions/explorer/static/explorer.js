// The explorer: one component for Jupyter and for the browser. This module puts its parts onto the page.
//
// The parts stand in `parts/`, each with its style sheet; Python joins them into one module, because a widget is
// one file, and the server gives browsers the same one. So each top-level name is used once, imports name what
// they want, and only this module has a default export.

import { change, make, unseen } from "./parts/dom.js";
import { View } from "./parts/view.js";
import { Tooltip } from "./parts/tooltip.js";
import { header } from "./parts/header.js";
import { notices } from "./parts/notices.js";
import { stage } from "./parts/stage.js";
import { stateNow } from "./parts/panel.js";
import { triggers } from "./parts/triggers.js";
import { form } from "./parts/form.js";
import { gauges } from "./parts/gauges.js";
import { timeline } from "./parts/timeline.js";
import { log } from "./parts/log.js";
import { crewBar, machines } from "./parts/machines.js";
import { crewGraph } from "./parts/crew_graph.js";
import { problems } from "./parts/problems.js";

/** Shows the explorer in an element; gives the function that ends it. */
function render({ model, el }) {
  const view = new View(model);
  const root = make("div", { class: "orkeon-explorer" });
  // JupyterLab must not take the keys that are pressed in here for commands to its cells. It begins to look at
  // what has the focus, so that the mark has to stand there.
  root.addEventListener("focusin", ({ target }) => change(target, { "data-lm-suppress-shortcuts": "true" }));
  const live = make("div", { class: "ork-unseen", role: "status", "aria-live": "polite" });
  const ui = {
    view,
    root,
    id: `ork-${Math.random().toString(36).slice(2, 9)}`, // a notebook may show several explorers
    tooltip: new Tooltip(root),
    say: (words) => (live.textContent = words),
    seek: () => {},
    beforeFiring: () => {},
    machineChosen: null,
    stateName: null,
    heading: (depth, words) =>
      make(`h${depth + (el.closest(".orkeon-page") ? 0 : 1)}`, { class: `ork-h${depth}`, text: words }),
  };
  const frame = make("div", { class: "ork-frame" });
  root.prepend(frame, live);
  el.append(root);
  let page = null;
  let inside = null;
  const draw = () => {
    if (view.get("page") === page) return;
    page = view.get("page");
    inside?.close();
    inside = view.part();
    frame.dataset.page = page;
    frame.replaceChildren(...pageOf(page, { ...ui, view: inside }));
  };
  view.watch(["page"], draw);
  return () => {
    inside?.close();
    view.close();
    root.remove();
  };
}

function pageOf(page, ui) {
  const top = (...parts) => make("div", { class: "ork-top" }, ...parts);
  if (page === "problems") return [top(notices(ui)), problems(ui)];
  if (page === "loading")
    return [
      top(header(ui), notices(ui)),
      make("p", { class: "ork-loading", role: "status", text: "Opening …" }),
    ];
  const beside = [stateNow(ui), triggers(ui), gauges(ui), form(ui)];
  const past = make(
    "section",
    { class: "ork-card ork-history", "aria-label": "History" },
    unseen(ui.heading(2, "History")),
    timeline(ui),
    log(ui),
  );
  if (page !== "crew")
    return [
      top(header(ui), notices(ui)),
      stage(ui),
      make("div", { class: "ork-side" }, machines(ui), ...beside),
      past,
    ];
  return [
    top(header(ui), notices(ui), crewBar(ui)),
    machines(ui),
    tabs(ui),
    make("div", { class: "ork-side" }, ...beside),
    past,
  ];
}

/** The crew's two pictures, of which one is seen: its tasks, and the machine of the task that is looked at. */
function tabs(ui) {
  const panes = [crewGraph(ui), stage(ui)];
  let turned = false; // by hand
  const buttons = ["Tasks", "Machine"].map((text, index) =>
    make("button", {
      type: "button",
      role: "tab",
      id: `${ui.id}-tab-${index}`,
      text,
      on: { click: () => turn(index), keydown: key },
    }),
  );
  panes.forEach((pane, index) => {
    pane.role = "tabpanel";
    pane.setAttribute("aria-labelledby", buttons[index].id);
  });
  const show = (chosen) =>
    buttons.forEach((button, index) => {
      button.setAttribute("aria-selected", String(index === chosen));
      button.tabIndex = index === chosen ? 0 : -1;
      panes[index].hidden = index !== chosen;
    });
  function turn(index) {
    turned = true;
    show(index);
  }
  function key(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = 1 - buttons.indexOf(event.target);
    turn(other);
    buttons[other].focus();
  }
  ui.machineChosen = () => turn(1);
  ui.view.watch(["machines"], () => {
    const chosen = ui.view.get("machines").find(({ selected }) => selected);
    buttons[1].textContent = chosen ? `Machine of ${chosen.label ?? chosen.id}` : "Machine";
  });
  // The picture of the tasks is drawn while the page is looked at already.
  ui.view.watch(["crew"], () => turned || show(ui.view.get("crew")?.svg ? 0 : 1));
  return make(
    "div",
    { class: "ork-tabs" },
    make("div", { role: "tablist", "aria-label": "Pictures" }, ...buttons),
    ...panes,
  );
}

export default { render };
