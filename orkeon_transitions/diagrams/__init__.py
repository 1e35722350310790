"""Draws machines, and the tasks of a crew in the same way: PNG, SVG, PDF, DOT, Mermaid.

What belongs here: how a definition, a snapshot and a trace look. A picture is made from them alone, on a
throwaway machine; no machine that runs is touched, no callback is called. What never belongs here: what a
machine may do, and where facts come from.
"""

from orkeon_transitions.diagrams.notebook import mimebundle
from orkeon_transitions.diagrams.plan import Plan, PlanArrow, PlanBox, plan
from orkeon_transitions.diagrams.render import render, to_dot, to_mermaid, to_png, to_svg
from orkeon_transitions.diagrams.scene import Scene, SceneArrow, scene

__all__ = [
    "Plan",
    "PlanArrow",
    "PlanBox",
    "Scene",
    "SceneArrow",
    "mimebundle",
    "plan",
    "render",
    "scene",
    "to_dot",
    "to_mermaid",
    "to_png",
    "to_svg",
]
