"""The memory: verified runs kept as exemplars, in a folder that a person can read, edit and delete.

`exemplar.exemplar_of`, which makes an exemplar from a run, is not exported here: it needs the picture libraries, which
looking things up does not.
"""

from vision_agent.memory.empty import EmptyMemory
from vision_agent.memory.folder import MemoryFolder

__all__ = ["EmptyMemory", "MemoryFolder"]
