"""What worked before, found again: verified runs as exemplars, in a folder one can read, edit and delete."""

from vision_agent.memory.empty import EmptyMemory
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.memory.folder import MemoryFolder

__all__ = ["EmptyMemory", "MemoryFolder", "exemplar_of"]
