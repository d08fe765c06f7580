#!/usr/bin/env node
// The millrace command, on whatever Node (20 or newer) the machine has: plain JavaScript that starts main.ts with a Node that can run it,
// from any folder, linked or installed anywhere, also where PATH is empty (systemd, cron).

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const NEEDED_NODE = 24
const MAIN = new URL('../src/main.ts', import.meta.url)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Compiled code, kept between commands: each starts in less than half the time. Where it cannot be written, nothing is kept. */
const CACHE = process.env.NODE_COMPILE_CACHE ?? `${ROOT}/node_modules/.cache/millrace`

if (/[\\/]node_modules[\\/]/.test(fileURLToPath(MAIN)))
  stop(
    'Node runs no TypeScript below node_modules, so a copied package does not start. Link the clone instead: npm link in its folder.',
  )
if (!isInstalled()) stop(`Packages are missing. Run "node tools/setup.mjs" in ${ROOT} first.`)
if (Number(process.versions.node.split('.')[0]) >= NEEDED_NODE) {
  module.enableCompileCache(CACHE)
  await import(MAIN.href)
} else
  startWith(
    bundledNode() ??
      stop(`Millrace needs Node ${NEEDED_NODE} or newer; this is ${process.version}, and npm carries none for this machine.`),
  )

function isInstalled() {
  try {
    createRequire(MAIN).resolve('commander')
    return true
  } catch {
    return false
  }
}

/** The Node that npm installed beside our packages (docs/adr/0001). */
function bundledNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const file = `node_modules/node-${platform}-${process.arch}/bin/node${platform === 'win' ? '.exe' : ''}`
  return existsSync(`${ROOT}/${file}`) ? `${ROOT}/${file}` : undefined
}

function startWith(node) {
  const child = spawn(node, [fileURLToPath(MAIN), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => stop(`${node} cannot be started: ${error.message}`))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}

function stop(reason) {
  console.error(`millrace: ${reason}`)
  process.exit(1)
}
