#!/usr/bin/env node
// The millrace command of the npm package, `bin/millrace.mjs` there. Plain JavaScript, so that an older Node can report that it is too old.

import module, { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED_NODE = 24
/** What npm installs beside the package (tools/package.ts). */
const INSTALLED = ['@duckdb/node-api', '@electric-sql/pglite']
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/millrace', import.meta.url))

if (Number(process.versions.node.split('.')[0]) < NEEDED_NODE) {
  console.error(
    `millrace: Millrace needs Node ${NEEDED_NODE} or newer; this is ${process.version}. Install one from https://nodejs.org.`,
  )
  process.exit(1)
}
const missing = INSTALLED.find((name) => !isInstalled(name))
if (missing) {
  console.error(`millrace: The package ${missing} is missing or damaged. Install Millrace again.`)
  process.exit(1)
}
// Where people are, never where the package is; programs that the command starts have it, too.
process.env.MILLRACE_DATA_DIR ||= resolve('millrace-data')
process.env.NODE_COMPILE_CACHE ??= CACHE
module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
const [command = 'start', ...rest] = process.argv.slice(2)
// A start needs no process beside that of the server.
await (command === 'start' && rest.length === 0 ? import('../../server/src/main.js') : import('../src/main.js'))

function isInstalled(name) {
  try {
    return createRequire(import.meta.url).resolve(name) !== ''
  } catch {
    return false
  }
}
