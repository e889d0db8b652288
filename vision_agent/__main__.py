"""Makes `python -m vision_agent` run the command line."""

from vision_agent.cli.main import main

main()
