// The machine's picture: laid out once, marked with where it is and was, with a list of its states beside it.

import { change, icon, iconButton, make, unseen } from "./dom.js";
import { Drawing, lensTools } from "./drawing.js";
import { StateCard } from "./state_card.js";
import { StateList } from "./state_list.js";
import { counted, plainNumber } from "./words.js";

const MANY = 24; // states, from which on the list is open to begin with

export function stage(ui) {
  const { view } = ui;
  let following = true;
  let chosen = null; // a state's name

  const drawing = new Drawing({
    first: () => stateNamed(view.get("now").state)?.element,
    picked: (element) => choose(stateDrawnAs(element)?.name ?? null),
  });
  const list = new StateList(ui, { choose, matched });
  const card = new StateCard(ui, { choose });
  const notice = make("p", { class: "ork-canvas-notice" });
  const listButton = iconButton("list", "States", {
    "aria-expanded": "false",
    on: { click: () => openList(!listOpen()) },
  });
  const followButton = iconButton(
    "target",
    "Follow the current state",
    { "aria-pressed": "true", on: { click: () => follow(!following) } },
    { bare: true },
  );
  const find = make("input", {
    type: "search",
    class: "ork-input",
    placeholder: "Find a state",
    "aria-label": "Find a state",
    on: { input: () => list.search(find.value), keydown: findKey },
  });
  const remark = make("span", { class: "ork-quiet ork-toolbar-words" });
  const toolbar = make(
    "div",
    { class: "ork-toolbar" },
    make("span", { class: "ork-search" }, icon("search"), find),
    listButton,
    remark,
    lensTools(ui, drawing, followButton),
  );
  drawing.canvas.append(notice, card.element);
  const body = make("div", { class: "ork-stage-body" }, list.element, drawing.canvas);
  const section = make(
    "section",
    { class: "ork-card ork-stage", "aria-label": "Diagram" },
    unseen(ui.heading(2, "Diagram")),
    toolbar,
    body,
  );
  hoverWords();

  view.watch(["picture"], showPicture);
  view.watch(["now", "picture"], mark);
  drawing.whenSeen = whenSeen;
  return section;

  function stateDrawnAs(element) {
    return element && view.get("picture").states.find((state) => state.element === element);
  }

  function stateNamed(name) {
    return view.get("picture").states.find((state) => state.name === name);
  }

  function showPicture() {
    const { svg, drawing: under_way, problem, states, wordless } = view.get("picture");
    const shown = drawing.show(svg);
    toolbar.lastChild.hidden = !shown;
    change(remark, {
      text: wordless ? "Too large for words on arrows: choose a state to read its ways." : "",
    });
    const words = problem ?? (svg ? "The diagram is no SVG that can be shown." : null);
    change(notice, {
      text: shown ? "" : under_way ? "The diagram is being drawn …" : (words ?? ""),
      hidden: shown,
    });
    choose(stateNamed(chosen) ? chosen : null);
    if (!shown && states.length) openList(true);
  }

  function whenSeen() {
    if (view.get("picture").states.length > MANY && section.clientWidth > 700) openList(true);
    mark();
  }

  function mark() {
    const { states, arrows } = view.get("picture");
    const { state, visits, taken, last, degraded } = view.get("now");
    const [ways, target] = [new Set(taken), stateNamed(state)];
    for (const { name, element } of states) {
      drawing.mark(element, "ork-current", name === state);
      drawing.mark(element, "ork-visited", Boolean(visits[name]));
      drawing.mark(element, "ork-tripped", name === state && degraded);
      drawing.badge(element, visits[name] ? `×${plainNumber(visits[name])}` : "");
    }
    for (const { element } of arrows) {
      drawing.mark(element, "ork-taken", ways.has(element));
      drawing.mark(element, "ork-last", element === last);
    }
    const been = states.filter(({ name }) => visits[name]).length;
    change(drawing.canvas, {
      "aria-label":
        `State diagram of ${view.get("title").name}: in ${target?.label ?? state ?? "no state"}, ` +
        `${been} of ${counted(states.length, "state")} visited. ` +
        "Arrow keys move it, plus and minus zoom, 0 shows all of it.",
    });
    const part = drawing.part(target?.element);
    if (following && part && drawing.canvas.clientWidth && !drawing.camera.sees(part))
      drawing.camera.centre(part, { closer: false });
  }

  function follow(on) {
    following = on;
    change(followButton, { "aria-pressed": String(on) });
    const part = drawing.part(stateNamed(view.get("now").state)?.element);
    if (on && part) drawing.camera.centre(part);
  }

  function listOpen() {
    return !list.element.hidden;
  }

  function openList(open) {
    list.element.hidden = !open;
    change(listButton, { "aria-expanded": String(open) });
    section.classList.toggle("ork-with-list", open);
  }

  function choose(name, { go = false } = {}) {
    chosen = name;
    const { states, arrows } = view.get("picture");
    for (const state of states) drawing.mark(state.element, "ork-chosen", state.name === name);
    for (const { element, from, to } of arrows) {
      drawing.mark(element, "ork-leaving", name !== null && from === name);
      drawing.mark(element, "ork-coming", name !== null && to === name);
    }
    list.choose(name);
    card.show(name);
    const part = drawing.part(stateNamed(name)?.element);
    card.element.classList.toggle("ork-aside", Boolean(part) && !go && drawing.camera.isLeft(part));
    if (go && part) drawing.camera.centre(part);
  }

  function matched(names) {
    for (const { name, element } of view.get("picture").states)
      drawing.mark(element, "ork-passed-over", names !== null && !names.has(name));
    if (names !== null) openList(true);
  }

  function findKey(event) {
    if (event.key === "Escape" && find.value) {
      find.value = "";
      list.search("");
      event.stopPropagation();
    } else if (event.key === "Enter" && list.first) choose(list.first, { go: true });
    else if (event.key === "ArrowDown") {
      event.preventDefault();
      openList(true);
      list.focus();
    }
  }

  function hoverWords() {
    drawing.canvas.addEventListener("pointerover", (event) => {
      const part = event.pointerType === "touch" ? null : event.target.closest?.("[data-part]");
      const state = part && view.get("picture").states.find(({ element }) => element === part.dataset.part);
      if (state?.description)
        ui.tooltip.show(drawing.canvas, state.description, part.getBoundingClientRect());
      else if (!event.target.closest?.(".ork-state-card")) ui.tooltip.hide();
    });
    drawing.canvas.addEventListener("pointerleave", () => ui.tooltip.hide());
  }
}
