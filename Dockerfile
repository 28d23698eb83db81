# The console and its browser server, with phones on an adb server of the network:
#   docker build -t switchboard .
#   docker run -it --rm -v switchboard:/data -e ADB_SERVER_SOCKET=tcp:adb.example:5037 switchboard
#   docker run --rm -p 127.0.0.1:8430:8430 -v switchboard:/data \
#       -e ADB_SERVER_SOCKET=tcp:adb.example:5037 switchboard web --host 0.0.0.0 --name localhost
FROM python:3.12-slim AS build
ARG EXTRAS=video,web,anthropic
WORKDIR /source
COPY requirements.lock requirements-fleet.lock requirements-tools.lock pyproject.toml README.md LICENSE NOTICE CHANGELOG.md ./
COPY agent agent
COPY console console
COPY widgets widgets
COPY docs/man docs/man
RUN python -m venv /opt/tools \
    && /opt/tools/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements-tools.lock \
    && python -m venv --without-pip /opt/switchboard \
    && /opt/tools/bin/uv build --wheel --no-build-isolation --python /opt/tools/bin/python --out-dir /wheels \
    && /opt/tools/bin/uv pip install --no-cache --python /opt/switchboard/bin/python \
        -c requirements.lock -c requirements-fleet.lock "$(echo /wheels/*.whl)[$EXTRAS]"

FROM python:3.12-slim
COPY --from=build /opt/switchboard /opt/switchboard
RUN useradd --create-home --uid 1000 switchboard && install -d -o switchboard /data
USER switchboard
ENV PATH=/opt/switchboard/bin:$PATH SWITCHBOARD_DATA_DIR=/data TERM=xterm-256color COLORTERM=truecolor
VOLUME /data
EXPOSE 8430
ENTRYPOINT ["switchboard"]
