// Clients write and read side by side while nodes are killed: configurations as registers, rows of a configuration and rows of a table as
// sets. One order of everything that was acknowledged explains what every client has read, on SQLite and on two nodes with PostgreSQL.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChance, kills, SEED } from '../support/chance.ts'
import { sharedByNodes } from '../support/servers/shared-by-nodes.ts'
import { type RegisterOperation, registerProblem, type SetOperation, setProblem } from './history.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(3, 100)
const CLIENTS = 4
/** Most rows that a preview shows. */
const PREVIEW_ROWS = 1_000
const REGISTERS = ['r0', 'r1']
const CONFIGS = '/v2/storage/components/keboola.ex-generic-v2/configs'
const TABLE = '/v2/storage/tables/in.c-history.rows'

const write = (calledAt: number, answeredAt: number, value: string): RegisterOperation => ({
  kind: 'write',
  value,
  calledAt,
  answeredAt,
})
const read = (calledAt: number, answeredAt: number, value: string): RegisterOperation => ({
  kind: 'read',
  value,
  calledAt,
  answeredAt,
})

test('the checker of registers finds lost, early and returning values, and accepts what one order explains', () => {
  const never = Number.POSITIVE_INFINITY
  const accepted: RegisterOperation[][] = [
    [write(0, 10, 'a'), read(5, 6, 'initial'), read(7, 8, 'a')],
    [write(0, never, 'a'), read(50, 60, 'initial')],
    [write(0, never, 'a'), read(5, 6, 'initial'), read(50, 60, 'a')],
    [write(0, 10, 'a'), write(0, 10, 'b'), read(11, 12, 'a')],
  ]
  for (const history of accepted) assert.equal(registerProblem(history, 'initial'), undefined, JSON.stringify(history))
  const refused: RegisterOperation[][] = [
    [write(0, 1, 'a'), read(2, 3, 'initial')],
    [write(0, never, 'a'), read(2, 3, 'a'), read(4, 5, 'initial')],
    [write(0, 1, 'a'), write(2, 3, 'b'), read(4, 5, 'a')],
    [write(0, 1, 'a'), write(2, 9, 'b'), read(3, 4, 'b'), read(5, 6, 'a')],
    [read(2, 3, 'x')],
    [write(5, 6, 'a'), read(2, 3, 'a')],
  ]
  for (const history of refused) assert.notEqual(registerProblem(history, 'initial'), undefined, JSON.stringify(history))
})

test('the checker of sets finds what is missing, early, gone again, or in two orders', () => {
  const never = Number.POSITIVE_INFINITY
  const add = (calledAt: number, answeredAt: number, value: string): SetOperation => ({
    kind: 'add',
    value,
    calledAt,
    answeredAt,
  })
  const see = (calledAt: number, answeredAt: number, ...values: string[]): SetOperation => ({
    ...{ kind: 'read', calledAt, answeredAt },
    values: new Set(values),
  })
  assert.equal(setProblem([add(0, 9, 'a'), add(0, never, 'b'), see(1, 2), see(3, 4, 'a'), see(10, 11, 'a', 'b')]), undefined)
  for (const history of [
    [add(0, 1, 'a'), see(2, 3)],
    [see(2, 3, 'a')],
    [add(5, 6, 'a'), see(2, 3, 'a')],
    [add(0, never, 'a'), see(2, 3, 'a'), see(4, 5)],
    [add(0, 9, 'a'), add(0, 9, 'b'), see(1, 2, 'a'), see(1, 2, 'b')],
  ])
    assert.notEqual(setProblem(history), undefined, JSON.stringify(history))
})

test(`${KILLS} kills under mixed load: one order explains all that clients have seen, on SQLite`, async (t) => {
  await killWhileClientsWork(t, [await startStack(t)])
})

test(`${KILLS} kills under mixed load: one order explains all that clients have seen, on two nodes with PostgreSQL`, async (t) => {
  const shared = await sharedByNodes(t)
  const masterToken = `1-1-${randomBytes(24).toString('hex')}`
  const nodes: Stack[] = []
  for (let i = 0; i < 2; i++) {
    const dataDir = mkdtempSync(join(tmpdir(), 'millrace-history-'))
    t.after(() => rmSync(dataDir, { recursive: true, force: true }))
    nodes.push(await startStack(t, { env: shared, existing: { dataDir, masterToken } }))
  }
  await killWhileClientsWork(t, nodes)
})

async function killWhileClientsWork(t: TestContext, nodes: readonly Stack[]): Promise<void> {
  const chance = createChance(SEED)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]! // no list is empty
  const [first] = nodes as [Stack]
  const must = async (method: string, path: string, body: object) => {
    const answer = await first.request(method, path, body)
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  for (const id of [...REGISTERS, 'rows'])
    await must('POST', CONFIGS, { configurationId: id, name: id, configuration: { value: 'initial' } })
  await must('POST', '/v2/storage/buckets', { stage: 'in', name: 'history' })
  await load(first, 'first', '/v2/storage/buckets/in.c-history/tables')

  const registers = new Map<string, RegisterOperation[]>(REGISTERS.map((id) => [id, []]))
  const rows: SetOperation[] = []
  const loads: SetOperation[] = [{ kind: 'add', value: 'first', calledAt: 0, answeredAt: 1 }]
  let count = 0
  let isOver = false

  /** Undefined: no answer, or one of a node that could not do it; what was called may still happen. */
  async function timed<T>(work: () => Promise<T | undefined>) {
    const calledAt = performance.now()
    const value = await work().catch((error: unknown) => {
      if (error instanceof assert.AssertionError) throw error
      return sleep(200) // the node was killed
    })
    return { calledAt, answeredAt: value === undefined ? Number.POSITIVE_INFINITY : performance.now(), value }
  }

  const call = async (node: Stack, method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await node.request(method, path, body)
    assert.ok(answer.status < 500 || answer.status === 503, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    if (answer.status === 503) return undefined
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body ?? {}
  }

  const OPERATIONS: readonly ((node: Stack) => Promise<void>)[] = [
    async (node) => {
      const id = pick(REGISTERS)
      const value = `v${count++}`
      const { calledAt, answeredAt } = await timed(() => call(node, 'PUT', `${CONFIGS}/${id}`, { configuration: { value } }))
      registers.get(id)!.push(write(calledAt, answeredAt, value))
    },
    async (node) => {
      const id = pick(REGISTERS)
      const { calledAt, answeredAt, value } = await timed(() => call(node, 'GET', `${CONFIGS}/${id}`))
      if (value)
        registers.get(id)!.push(read(calledAt, answeredAt, (value as { configuration: { value: string } }).configuration.value))
    },
    async (node) => {
      const rowId = `row${count++}`
      const { calledAt, answeredAt } = await timed(() => call(node, 'POST', `${CONFIGS}/rows/rows`, { rowId, name: rowId }))
      rows.push({ kind: 'add', value: rowId, calledAt, answeredAt })
    },
    async (node) => {
      const { value, ...times } = await timed(() => call(node, 'GET', `${CONFIGS}/rows/rows`))
      if (value) rows.push({ kind: 'read', ...times, values: new Set((value as { id: string }[]).map(({ id }) => id)) })
    },
    async (node) => {
      if (loads.length > PREVIEW_ROWS) return
      const id = `load${count++}`
      const { calledAt, answeredAt } = await timed(() => load(node, id))
      loads.push({ kind: 'add', value: id, calledAt, answeredAt })
    },
    async (node) => {
      const { value, ...times } = await timed(() => call(node, 'GET', `${TABLE}/data-preview?limit=${PREVIEW_ROWS}`))
      if (value) loads.push({ kind: 'read', ...times, values: valuesOf(String(value)) })
    },
  ]

  let answered = 0
  const client = async (): Promise<void> => {
    while (!isOver) {
      await pick(OPERATIONS)(pick(nodes))
      answered++
      await sleep(chance() * 20)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  clients.catch(() => {
    isOver = true
  })
  for (let kills = 0; kills < KILLS && !isOver; kills++) {
    await sleep(100 + chance() * 900) // the moment of death is the random input of this test, not a wait for something
    const node = pick(nodes)
    await node.kill()
    await node.start()
  }
  isOver = true
  await clients
  for (const operation of OPERATIONS) for (const node of nodes) await operation(node)

  for (const [id, history] of registers) assert.equal(registerProblem(history, 'initial'), undefined, `register ${id}`)
  assert.equal(setProblem(rows), undefined, 'rows of a configuration')
  assert.equal(setProblem(loads), undefined, 'rows of a table')
  t.diagnostic(`seed ${SEED}: ${answered} operations, ${rows.length} on rows, ${loads.length} on a table`)
  assert.ok(answered > KILLS)
}

/** Adds one row; answers when the load was acknowledged. */
async function load(node: Stack, id: string, path = `${TABLE}/import`): Promise<object | undefined> {
  const form = new FormData()
  if (!path.startsWith(TABLE)) form.set('name', 'rows')
  else form.set('incremental', '1')
  form.set('dataString', `id\n${id}\n`)
  const answer = await fetch(node.url + path, {
    method: 'POST',
    headers: { 'x-storageapi-token': node.masterToken },
    body: form,
  })
  const text = await answer.text()
  assert.ok(answer.status < 300 || answer.status === 503, `load: ${answer.status} ${text}`)
  return answer.status === 503 ? undefined : {}
}

/** The first column of a CSV file with a header. */
const valuesOf = (csv: string): Set<string> =>
  new Set(
    csv
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.replaceAll('"', '')),
  )
