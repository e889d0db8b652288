"""Replays a recorded run on the live page without a model, or resumes an interrupted one."""

from vision_agent.replay.patch import Patch, Repair, read_patch
from vision_agent.replay.replay import Replay, Taken, variables_of
from vision_agent.replay.resume import resume
from vision_agent.replay.variables import Variable

__all__ = ["Patch", "Repair", "Replay", "Taken", "Variable", "read_patch", "resume", "variables_of"]
