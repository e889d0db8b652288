"""The run folder: it survives a crash, shows tampering, and is all that reports read."""

from vision_agent.record.read import (
    Chain,
    RecordLine,
    Turn,
    assemble,
    check_chain,
    load_shot,
    read,
    read_beginning,
    read_lines,
    turns,
)
from vision_agent.record.redact import Redactor, redact_json, redact_model
from vision_agent.record.report import write_report
from vision_agent.record.store import RunFolder, RunInMemory, new_run_id
from vision_agent.record.verify import Fault, Verified, verify

__all__ = [
    "Chain",
    "Fault",
    "RecordLine",
    "Redactor",
    "RunFolder",
    "RunInMemory",
    "Turn",
    "Verified",
    "assemble",
    "check_chain",
    "load_shot",
    "new_run_id",
    "read",
    "read_beginning",
    "read_lines",
    "redact_json",
    "redact_model",
    "turns",
    "verify",
    "write_report",
]
