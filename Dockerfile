# The stack as one container: `docker compose up`. Data is in the volume /data; ports 8000 (API) and 8001 (object store). The image is made of
# the npm package (tools/package.ts), with its two dependencies as the lockfile has them.
FROM node:24-slim AS package
WORKDIR /millrace
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY client/package.json client/
COPY components/http-extractor/package.json components/http-extractor/
COPY console/package.json console/
# Without the packages for development. Optional ones stay: the library of DuckDB is one.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig.json LICENSE README.md CHANGELOG.md ./
COPY contract contract
COPY server server
COPY components components
COPY cli cli
COPY client client
COPY console console
COPY docs docs
COPY deploy deploy
COPY examples/data-app examples/data-app
COPY tools tools
# The commit that the image is made of, shown where the version is: docker build --build-arg COMMIT="$(git rev-parse HEAD)".
ARG COMMIT=
RUN printf '%s' "$COMMIT" > commit
RUN npm run build -w console && node tools/package.ts

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 MILLRACE_S3_PORT=8001 MILLRACE_DATA_DIR=/data
WORKDIR /millrace
COPY --from=package /millrace/node_modules/@duckdb node_modules/@duckdb
COPY --from=package /millrace/node_modules/@electric-sql node_modules/@electric-sql
COPY --from=package /millrace/node_modules/detect-libc node_modules/detect-libc
COPY --from=package /millrace/dist/package ./
RUN mkdir /data && chown node:node /data && chmod 700 /data && ln -s /millrace/cli/bin/millrace.mjs /usr/local/bin/millrace && chmod +x /millrace/cli/bin/millrace.mjs
USER node
VOLUME /data
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8000/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1 and ends on SIGTERM by itself; `init` in compose.yaml collects what components leave behind.
CMD ["node", "server/src/main.js"]
