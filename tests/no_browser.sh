#!/bin/sh
# Stands in for Playwright's driver while tests without a browser run (`PLAYWRIGHT_NODEJS_PATH`): none can be started.
echo "This test starts a browser: it needs the fixture \`browser\`, or a place in tests/sample.py." >&2
exit 1
