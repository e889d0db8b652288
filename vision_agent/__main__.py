"""Makes `vision-agent` and `python -m vision_agent` run the command line; Ctrl-C while it loads ends it politely."""

import gc
import sys

_BETWEEN_COLLECTIONS = 100_000
"""Objects. Loading makes half a million that stay: looking for garbage among them every 700 takes a tenth of it."""


def main() -> None:
    """Runs the command line and exits with its code."""
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    try:
        from vision_agent.cli.main import main as run
    except KeyboardInterrupt:
        print("vision-agent: interrupted before it began; nothing was done.", file=sys.stderr)  # noqa: T201
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
