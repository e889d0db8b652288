# vision-agent with Chromium, run without root:
#
#     docker build . --tag vision-agent
#     docker run --rm vision-agent demo
#     docker run --rm --volume "$PWD/runs:/work/runs" --env ANTHROPIC_API_KEY vision-agent run https://example.org "…"

FROM python:3.13-slim-trixie AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-trixie
# Debian keeps only the newest Chromium, so its version cannot be named.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium fonts-liberation fonts-noto-color-emoji \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-compile "$(echo /wheels/*.whl)[ocr]"
RUN useradd --create-home --uid 1000 agent && install --directory --owner=agent /work /work/runs
USER 1000
WORKDIR /work
ENTRYPOINT ["vision-agent"]
CMD ["--help"]
