# The stack as one container: `docker compose up`. Data is in the volume /data; ports 8000 (API) and 8001 (object store).
FROM node:24-slim AS packages
WORKDIR /millrace
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY client/package.json client/
COPY components/http-extractor/package.json components/http-extractor/
COPY console/package.json console/
# The image has a Node of its own, so the one that npm carries is left out; DuckDB's library is an optional package, too, and stays.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-win-* node_modules/.bin/node

# The console is built with the packages for development and leaves nothing but its files.
FROM packages AS console
COPY tsconfig.json ./
COPY contract contract
COPY client client
COPY console console
RUN npm ci --ignore-scripts --no-audit --no-fund && npm run build -w console

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 MILLRACE_S3_PORT=8001 MILLRACE_DATA_DIR=/data
WORKDIR /millrace
COPY --from=packages /millrace/node_modules node_modules
COPY package.json LICENSE README.md ./
COPY contract contract
COPY server server
COPY components components
COPY --from=console /millrace/console/dist console/dist
COPY cli cli
COPY client client
COPY docs docs
# The commit that the image is made of, shown where the version is: docker build --build-arg COMMIT="$(git rev-parse HEAD)".
ARG COMMIT=
RUN printf '%s' "$COMMIT" > commit
RUN mkdir /data && chown node:node /data && chmod 700 /data && ln -s /millrace/cli/bin/millrace.mjs /usr/local/bin/millrace
USER node
VOLUME /data
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8000/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1 and ends on SIGTERM by itself; `init` in compose.yaml collects what components leave behind.
CMD ["node", "server/src/main.ts"]
