// A permission check that is added or removed is stated here: how many each file has is in permission-checks.json. Whether a test
// misses a check that is turned off is found out by `npm run mutants -- --rights`, one check at a time.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { permissionChecks } from '../tools/permission-checks.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const KNOWN = JSON.parse(readFileSync(new URL('./permission-checks.json', import.meta.url), 'utf8')) as Record<string, number>

const SOURCES = globSync('server/src/{http,services}/**/*.ts', { cwd: ROOT })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((file) => !file.endsWith('.test.ts'))

test('every file has the permission checks that are known', () => {
  const found = SOURCES.map((file) => [file, permissionChecks(readFileSync(join(ROOT, file), 'utf8')).length] as const)
  assert.deepEqual(
    Object.fromEntries(found.filter(([, count]) => count > 0)),
    KNOWN,
    'a check was added or removed: run `npm run mutants -- --rights <file>`, then change the number in tests/permission-checks.json',
  )
})

test('a permission check is found however it is written, and is turned off as a whole', () => {
  const off = (text: string) => permissionChecks(text).map((check) => check.withSwitch('off'))
  assert.deepEqual(off(`if (!maySee(actor, job)) throw new PlatformError('accessDenied')`), [
    `if (!off && (!maySee(actor, job)))`,
  ])
  assert.deepEqual(off(`if (a) {\n  throw new PlatformError(\n 'people.adminNeeded', { who: 'x' })`), ['if (!off && (a))'])
  assert.deepEqual(off(`if (a) throw new PlatformError('notFound')`), [])
  assert.deepEqual(off(`rows.filter((row) => canUseComponent(actor, idOf(row)))`), ['(off || canUseComponent(actor, idOf(row)))'])
  assert.deepEqual(off(`const p = tablePermissionOf(actor, 'a)b')`), [`(off ? 'manage' : tablePermissionOf(actor, 'a)b'))`])
  assert.deepEqual(off(`const all = scope.actor.canManageBuckets`), ['(off || scope.actor.canManageBuckets)'])
  assert.deepEqual(off(`function maySee(actor: Actor): boolean {\n}\nconst mayUse = (actor: Actor) => true`), [])
  assert.deepEqual(off(`// if (x) throw new PlatformError('accessDenied')\n/** maySee(actor) */`), [])
})
