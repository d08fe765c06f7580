// Every address of the console is looked at by axe in both themes and at every width: in some journey, with what belongs there.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Screens that a journey checks where it stands, by the name it gives them; and an address that only leads elsewhere. */
const NAMED: Readonly<Record<string, string>> = {
  '/agents/authorize': "checkScreen(person, 'authorize')",
  '/dashboards/$dashboardId': "checkScreen(opened, '/dashboard')",
  '/deliveries': "checkScreen(opened, '/deliveries')",
  '/account': 'AccountMoved',
}

/** The addresses in the lists of screens to check. */
function checkedPaths(text: string): readonly string[] {
  const lists = text.split(/checkScreensOn\(/).slice(1).map(firstList) // biome-ignore format: one thought
  return lists.flatMap((list) => [...list.matchAll(/['`](\/[^'`?]*)/g)].map((match) => match[1]!))
}

/** What stands before the bracket that ends the call. */
function firstList(rest: string): string {
  let depth = 1
  for (let at = 0; at < rest.length; at++) {
    if ('([{'.includes(rest[at]!)) depth++
    if (')]}'.includes(rest[at]!) && --depth === 0) return rest.slice(0, at)
  }
  return rest
}

/** `$name` of a route and `${name}` of a test stand for one part of the address. */
const partsOf = (path: string): readonly string[] => path.replace(/\$\{[^}]*\}/g, '*').replace(/\$\w+/g, '*').split('/') // biome-ignore format: one thought

function isOf(route: readonly string[], path: readonly string[]): boolean {
  return route.length === path.length && route.every((part, index) => part === '*' || path[index] === '*' || part === path[index])
}

test('each screen of the console is checked for accessibility in a journey', () => {
  const router = readFileSync(`${ROOT}console/src/router.tsx`, 'utf8')
  const routes = [...router.matchAll(/\broute\(\s*'(\/[^']*)'/g)].map((match) => match[1]!)
  assert.ok(routes.length > 30, `the router has ${routes.length} addresses`)
  const journeys = globSync('tests/console/*.test.ts', { cwd: ROOT }).map((path) => readFileSync(`${ROOT}${path}`, 'utf8'))
  const checked = journeys.flatMap(checkedPaths).map(partsOf)
  const sources = [router, ...journeys.filter((text) => !text.includes('checkedPaths'))].join('\n')
  const unchecked = routes.filter((route) => {
    const name = NAMED[route]
    return name === undefined ? !checked.some((path) => isOf(partsOf(route), path)) : !sources.includes(name)
  })
  assert.deepEqual(unchecked, [])
})

/** Buttons that end something at once: what they take is brought back by Undo, by a version, or was shown before. */
const AT_ONCE: readonly string[] = [
  'branchConfigurations.reset', // the version before stays in the branch
  'configurations.delete',
  'files.removeTag.delete',
  'projects.delete', // opens a dialog that demands the name
  'projects.removeFeature',
  'rows.delete',
  'savedQueries.remove',
  'scheduler.delete',
  'stream.deleteSink',
  'tableComments.delete',
  'tables.deleteColumn', // the dry run is on the screen
  'tables.deleteMetadata',
  'tables.deleteRows',
  'triggers.delete',
  'vault.remove',
]

test('what cannot be undone is deleted and revoked by a button that shows the effect first', () => {
  const found = globSync('console/src/**/*.tsx', { cwd: ROOT }).flatMap((path) => {
    const text = readFileSync(`${ROOT}${path}`, 'utf8')
    const buttons = text.matchAll(/<(\w+)\b[^<>]*?needs="([\w.-]*(?:delete|remove|revoke|discard|empty|reset)[\w.-]*)"/gi)
    return [...buttons].filter(([, name]) => name !== 'ConfirmButton').map(([, , operation]) => operation!)
  })
  assert.deepEqual([...new Set(found)].sort(), [...AT_ONCE].sort())
})
