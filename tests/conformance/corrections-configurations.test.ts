// What real clients expect of configurations, their versions and their copies in branches, by number: part C. One stack; a project per test.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newProjectClient } from '../support/clients/project-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const CONFIGS = 'components/platform.ex-http/configs'

type Json = Readonly<Record<string, unknown>>

interface Configuration {
  readonly version: number
  readonly name: string
  readonly changeDescription: string
  readonly rows: readonly Json[]
}

interface Item {
  readonly key: string
  readonly value: string
}

const pairs = (items: readonly Item[]) => items.map(({ key, value }) => [key, value])

test('corrections of configurations', async (t) => {
  const stack = await startTestStack(t)
  /** A project with the configuration `main-1`, called "Main 1", and its row `r`. */
  async function project(name: string) {
    const client = await newProjectClient(stack, name)
    await client.ok('POST', CONFIGS, { configurationId: 'main-1', name: 'Main 1', configuration: { a: 1 } })
    const row = { rowId: 'r', name: 'row', configuration: { b: 2 }, state: { c: 3 } }
    await client.ok('POST', `${CONFIGS}/main-1/rows`, row)
    return client
  }

  await t.test('C29: an address without the id at its end is a wrong request', async () => {
    const { refused } = await project('C29')
    await refused(['PUT', `${CONFIGS}/`, { name: 'x' }], 400, {})
    await refused(['PUT', `${CONFIGS}/main-1/rows/`, { name: 'x' }], 400, {})
  })

  await t.test('C30: the list of components adds what is asked for, and says what can be', async () => {
    const { ok, refused } = await project('C30')
    const message = 'Invalid include parameters: "invalid". Only following are allowed: configuration, rows, state.'
    await refused(['GET', 'components?include=invalid'], 400, { errors: [{ key: 'include', message }] })
    const rowOf = async (include: string) => {
      const [component] = await ok<{ configurations: Configuration[] }[]>('GET', `components?include=${include}`)
      const [row] = component?.configurations[0]?.rows ?? []
      return { configuration: row?.configuration, state: row?.state }
    }
    assert.deepEqual(await rowOf('rows'), { configuration: undefined, state: undefined })
    assert.deepEqual(await rowOf('configuration,rows'), { configuration: { b: 2 }, state: undefined })
  })

  await t.test('C31: entries of the list of versions have no description when members are named without it', async () => {
    const { ok } = await project('C31')
    const members = async (query: string) => {
      const entries = await ok<Json[]>('GET', `${CONFIGS}/main-1/versions${query}`)
      assert.equal(entries.length, 2)
      return entries.map(({ name, description }) => [name, description])
    }
    const described = [
      ['Main 1', ''],
      ['Main 1', ''],
    ]
    for (const query of ['', '?include=name,description']) assert.deepEqual(await members(query), described, query)
    const bare = described.map(([name]) => [name, undefined])
    for (const query of ['?include=name,state', '?include=configuration']) assert.deepEqual(await members(query), bare, query)
    assert.equal((await ok<Json>('GET', `${CONFIGS}/main-1/versions/1`)).description, '')
  })

  await t.test('C32, C35: a copy in a branch says where it is from, and a reset makes it anew', async () => {
    const { ok, branch, call } = await project('C32')
    const own = `branch/${await branch('dev')}/${CONFIGS}/main-1`
    const main = `branch/default/${CONFIGS}/main-1`
    const description = 'Copied from default branch configuration "Main 1" (main-1) version 2' // corrections-2 A1
    const copy = await ok<Configuration>('GET', own)
    assert.deepEqual([copy.version, copy.changeDescription], [1, description])
    await ok('PUT', own, { name: 'changed' })
    await ok('POST', `${own}/rows`, { rowId: 'more' })
    await ok('POST', `${own}/metadata`, { metadata: [{ key: 'mine', value: '1' }] })
    await ok('POST', `${main}/metadata`, { metadata: [{ key: 'theirs', value: '2' }] })
    assert.equal((await call('POST', `${own}/reset-to-default`)).status, 204)
    const reset = await ok<Configuration>('GET', own)
    assert.deepEqual([reset.version, reset.name, reset.changeDescription], [1, 'Main 1', description])
    assert.deepEqual(
      reset.rows.map(({ id }) => id),
      ['r'],
    )
    assert.equal((await ok<Json[]>('GET', `${own}/versions`)).length, 1)
    assert.deepEqual(pairs(await ok<Item[]>('GET', `${own}/metadata`)), [['theirs', '2']])
  })

  await t.test('C33: the trash of a branch is not emptied', async () => {
    const { ok, branch, refused } = await project('C33')
    const own = `branch/${await branch('dev')}/${CONFIGS}/main-1`
    await ok('DELETE', own)
    await refused(['DELETE', own], 400, {
      error: 'Deleting configuration from trash is not allowed in development branches.',
      code: 'storage.components.cannotDeleteConfiguration',
    })
  })

  await t.test('C34: the configuration of a row may be text that holds JSON', async () => {
    const { ok } = await project('C34')
    const row = await ok<Json>('PUT', `${CONFIGS}/main-1/rows/r`, { configuration: '{"b": {}, "d": []}' })
    assert.deepEqual(row.configuration, { b: {}, d: [] })
  })

  await t.test('C36: a new branch has the metadata of the default branch', async () => {
    const { ok, branch } = await project('C36')
    await ok('POST', 'branch/default/metadata', { metadata: [{ key: 'KBC.projectDescription', value: 'ours' }] })
    const dev = await branch('dev')
    assert.deepEqual(pairs(await ok<Item[]>('GET', `branch/${dev}/metadata`)), [['KBC.projectDescription', 'ours']])
    await ok('POST', `branch/${dev}/metadata`, { metadata: [{ key: 'KBC.projectDescription', value: 'own' }] })
    assert.deepEqual(pairs(await ok<Item[]>('GET', 'branch/default/metadata')), [['KBC.projectDescription', 'ours']])
  })
})
