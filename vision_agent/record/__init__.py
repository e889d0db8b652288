"""The run folder: written so that it survives a crash and shows tampering; reports read it and nothing else."""
