// The graph of a crew's tasks: each box takes the colour of how its task stands; a click looks at its machine.

import { change, make } from "./dom.js";
import { Drawing, lensTools } from "./drawing.js";
import { moodOf } from "./machines.js";
import { counted } from "./words.js";

const LOOKS = ["good", "warning", "bad", "quiet", "going"];

export function crewGraph(ui) {
  const { view } = ui;
  const drawing = new Drawing({
    first: () => boxOf(view.get("machines").find(({ selected }) => selected)?.id),
    picked: (element) => {
      const [task] = Object.entries(view.get("crew")?.boxes ?? {}).find(([, box]) => box === element) ?? [];
      if (task === undefined) return;
      view.send("select", { machine: task });
      ui.machineChosen?.();
    },
  });
  const notice = make("p", { class: "ork-canvas-notice" });
  drawing.canvas.append(notice);
  const lens = lensTools(ui, drawing);
  drawing.canvas.append(lens);
  const body = make("div", { class: "ork-stage-body" }, drawing.canvas);
  const element = make(
    "section",
    { class: "ork-card ork-stage ork-crew-graph", "aria-label": "Graph of the tasks" },
    body,
  );

  let text;
  view.watch(["crew"], () => {
    const crew = view.get("crew");
    if (text === crew?.svg) return;
    text = crew?.svg;
    const shown = drawing.show(text);
    lens.hidden = !shown;
    change(notice, {
      hidden: shown,
      text: shown ? "" : "There is no picture of the tasks; they are listed beside it.",
    });
  });
  view.watch(["crew", "machines"], mark);
  drawing.whenSeen = mark;
  return element;

  function boxOf(task) {
    return view.get("crew")?.boxes?.[task] ?? null;
  }

  function mark() {
    const all = view.get("machines");
    for (const { id, status, state, selected } of all) {
      const mood = moodOf(status ?? state);
      for (const look of LOOKS) drawing.mark(boxOf(id), `ork-is-${look}`, look === mood);
      drawing.mark(boxOf(id), "ork-chosen", Boolean(selected));
    }
    const done = all.filter(({ status }) => status === "completed").length;
    change(drawing.canvas, {
      "aria-label": `Graph of ${counted(all.length, "task")}, ${done} completed. Arrow keys move it, plus and minus zoom, 0 shows all of it.`,
    });
  }
}
