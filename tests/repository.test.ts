// Files around the code repeat facts of the code. What is duplicated is compared here.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { VARIABLES } from '../server/src/start/config.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const only = (text: string, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), (match) => match[1] ?? '')

interface Manifest {
  readonly version: string
  readonly scripts: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const manifest = JSON.parse(read('package.json')) as Manifest

test('one version of Node everywhere', () => {
  const major = read('.node-version').trim()
  const stated = {
    'tools/setup.mjs': only(read('tools/setup.mjs'), /NEEDED_NODE = (\d+)/g),
    'cli/bin/millrace.mjs': only(read('cli/bin/millrace.mjs'), /NEEDED_NODE = (\d+)/g),
    'cli/src/stack/doctor.ts': only(read('cli/src/stack/doctor.ts'), /MIN_NODE = (\d+)/g),
    'cli/bin/packaged.mjs': only(read('cli/bin/packaged.mjs'), /NEEDED_NODE = (\d+)/g),
    'tools/package.ts': only(read('tools/package.ts'), /engines: { node: '>=(\d+)' }/g),
    Dockerfile: only(read('Dockerfile'), /^FROM node:(\d+)/gm),
    'package.json': Object.entries(manifest.optionalDependencies).map(([, version]) => version.split('.')[0] ?? ''),
  }
  for (const [file, versions] of Object.entries(stated)) {
    assert.ok(versions.length > 0, `${file} names no version of Node`)
    assert.deepEqual([...new Set(versions)], [major], file)
  }
})

test('packages of the workspace have the version of the whole', () => {
  for (const path of ['cli/package.json', 'components/http-extractor/package.json'])
    assert.equal((JSON.parse(read(path)) as Manifest).version, manifest.version, path)
})

test('the workflows can be read, and call scripts and files that exist', () => {
  for (const name of readdirSync(new URL('../.github/workflows', import.meta.url))) {
    const text = read(`.github/workflows/${name}`)
    const workflow = parse(text) as { jobs: Record<string, { steps: { run?: string }[] }> }
    const runs = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
    assert.ok(runs.length > 0, name)
    for (const script of runs.flatMap((run) => only(run, /npm run ([\w:]+)/g))) assert.ok(manifest.scripts[script], script)
    for (const tool of runs.flatMap((run) => only(run, /node (tools\/\S+)/g))) assert.ok(read(tool).length > 0)
    assert.ok(text.includes('npm test -- --shard'), 'the whole suite runs in shards')
  }
  for (const path of ['.github/dependabot.yml', '.github/ISSUE_TEMPLATE/bug.yml', '.github/ISSUE_TEMPLATE/feature.yml'])
    assert.ok(parse(read(path)), path)
})

test('variables in the container and the service are ones the stack reads', () => {
  const compose = parse(read('compose.yaml')) as { services: { millrace: { environment: Record<string, string> } } }
  const stated = [
    ...Object.keys(compose.services.millrace.environment),
    ...only(read('deploy/compose.nodes.yaml'), /\b(MILLRACE_\w+): /g),
    ...only(read('Dockerfile'), /(?:^ENV | )([A-Z][A-Z0-9_]+)=/gm),
    ...only(read('deploy/millrace.service'), /^Environment=(\w+)=/gm),
  ].filter((name) => name !== 'NODE_ENV' && name !== 'COMMIT')
  assert.ok(stated.length > 5)
  for (const name of stated) assert.ok(Object.hasOwn(VARIABLES, name), `${name} is not a variable of the stack`)
})

test('service managers wait as long as a node may drain', () => {
  const secondsOf = (text: string): number => {
    const [, value, unit = 's'] = /^(\d+)(s|min|m|h)?$/.exec(text)! // as systemd and compose write it
    return Number(value) * { s: 1, min: 60, m: 60, h: 3600 }[unit as 's']
  }
  const drain = (name: keyof typeof VARIABLES) => Number(/^\d+/.exec(VARIABLES[name].shownDefault)?.[0])
  // Requests and jobs drain side by side.
  const needed =
    Math.max(drain('MILLRACE_DRAIN_JOBS_SECONDS'), drain('MILLRACE_DRAIN_SECONDS')) + drain('MILLRACE_DRAIN_TIMEOUT_MS') / 1000
  const stated = {
    'deploy/millrace.service': only(read('deploy/millrace.service'), /^TimeoutStopSec=(\S+)$/gm),
    'deploy/compose.nodes.yaml': only(read('deploy/compose.nodes.yaml'), /^ *stop_grace_period: (\S+)$/gm),
  }
  for (const [file, times] of Object.entries(stated)) {
    assert.equal(times.length, 1, file)
    assert.ok(secondsOf(times[0]!) > needed, `${file} waits ${times[0]}, less than ${needed} s`)
  }
})

test('every node of the example has the variables that what it runs needs', () => {
  const { services } = parse(read('deploy/compose.nodes.yaml'), { merge: true }) as {
    services: Record<string, { build?: object; environment: Record<string, string> }>
  }
  const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined)
  assert.equal(nodes.length, 3)
  for (const [name, { environment }] of nodes) assert.ok(environment.MILLRACE_PUBLIC_URL, `${name} has no MILLRACE_PUBLIC_URL`)
})

test('what the image copies exists and is not ignored', () => {
  const ignored = read('.dockerignore')
  const copied = only(read('Dockerfile'), /^COPY (?!--from)(.+) \S+$/gm).flatMap((files) => files.split(' '))
  assert.ok(copied.length > 5)
  for (const path of copied) {
    assert.ok(path.endsWith('/') || readdirSync(new URL('..', import.meta.url)).includes(path.split('/')[0] ?? ''), path)
    assert.ok(ignored.includes(`!${path.split('/')[0]}`), `.dockerignore leaves out ${path}`)
  }
})
