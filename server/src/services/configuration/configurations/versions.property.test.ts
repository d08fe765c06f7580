// Any sequence of changes against a simple model: versions without gaps, every version readable as it was, states untouched by them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ConfigurationRules, openConfigurationRules } from '../../../../../tests/support/configuration-rules.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { defined } from '../../../kit/defined.ts'

const RUNS = process.env.MILLRACE_LONG ? 200 : 20
const COMPONENT = 'c'

/** What a version is, in the simplest form: a value. */
interface Snapshot {
  readonly name: string
  readonly configuration: string
  readonly isDisabled: boolean
  readonly order: readonly string[]
  readonly rows: Readonly<Record<string, string>>
}

interface Model {
  readonly snapshots: Snapshot[]
  /** How many versions each row id ever had. */
  readonly rowVersions: Map<string, number>
  readonly rowHistory: Map<string, string[]>
  state: string
  /** Ids of rows in the order they were created last. */
  creations: readonly string[]
}

const TEXTS = ['{}', '{"a":[]}', '{"a":{}}', '{"2":1,"1":1.10}', '{"n":12345678901234567890}'] as const
const ROW_IDS = ['r1', 'r2', 'r3', '10', '9'] as const

const operation = fc.oneof(
  fc.record({
    kind: fc.constant('update' as const),
    name: fc.constantFrom('x', 'y', undefined),
    text: fc.constantFrom(...TEXTS, undefined),
    off: fc.constantFrom(true, false, undefined),
  }),
  fc.record({ kind: fc.constant('addRow' as const), row: fc.constantFrom(...ROW_IDS), text: fc.constantFrom(...TEXTS) }),
  fc.record({ kind: fc.constant('changeRow' as const), row: fc.constantFrom(...ROW_IDS), text: fc.constantFrom(...TEXTS) }),
  fc.record({ kind: fc.constant('deleteRow' as const), row: fc.constantFrom(...ROW_IDS) }),
  fc.record({ kind: fc.constant('sort' as const), seed: fc.nat(100) }),
  fc.record({ kind: fc.constant('rollBack' as const), pick: fc.nat(1000) }),
  fc.record({ kind: fc.constant('rollBackRow' as const), row: fc.constantFrom(...ROW_IDS), pick: fc.nat(1000) }),
  fc.record({ kind: fc.constant('state' as const), text: fc.constantFrom(...TEXTS) }),
  fc.record({ kind: fc.constant('trash' as const) }),
)
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

const given = <T>(text: T | undefined) => (text === undefined ? undefined : { text, value: {} })
const headOf = (model: Model): Snapshot => model.snapshots.at(-1)!

/** Does one operation on both sides; one that cannot be done here is skipped on both. */
async function perform(rules: ConfigurationRules, model: Model, id: string, op: Operation): Promise<void> {
  const { caller, configurations, rows, versions, reader } = rules
  const head = headOf(model)
  const push = (change: Partial<Snapshot>) => model.snapshots.push({ ...head, ...change })
  const place = (rowId: string) => ({ componentId: COMPONENT, configurationId: id, rowId })
  const pushRow = (rowId: string, text: string, order = head.order) => {
    model.rowVersions.set(rowId, (model.rowVersions.get(rowId) ?? 0) + 1)
    model.rowHistory.set(rowId, [...(model.rowHistory.get(rowId) ?? []), text])
    push({ rows: { ...head.rows, [rowId]: text }, order })
  }
  switch (op.kind) {
    case 'update': {
      const configuration = given(op.text)
      const input = {
        ...defined({ name: op.name, isDisabled: op.off }),
        ...(configuration && { configuration }),
      }
      await reader.render(await configurations.update(caller, COMPONENT, id, input))
      const next = {
        ...head,
        name: op.name ?? head.name,
        configuration: op.text ?? head.configuration,
        isDisabled: op.off ?? head.isDisabled,
      }
      if (JSON.stringify(next) !== JSON.stringify(head)) model.snapshots.push(next)
      return
    }
    case 'addRow':
      if (op.row in head.rows) return
      await rows.create(caller, COMPONENT, id, { rowId: op.row, configuration: { text: op.text, value: {} } })
      model.creations = [...model.creations.filter((rowId) => rowId !== op.row), op.row]
      return pushRow(op.row, op.text, head.order.length > 0 ? [...head.order, op.row] : [])
    case 'changeRow':
      if (!(op.row in head.rows)) return
      await rows.update(caller, place(op.row), { configuration: { text: op.text, value: {} } })
      if (head.rows[op.row] !== op.text) pushRow(op.row, op.text)
      return
    case 'deleteRow': {
      if (!(op.row in head.rows)) return
      await rows.remove(caller, place(op.row))
      const { [op.row]: _gone, ...rest } = head.rows
      return void push({ rows: rest, order: head.order.filter((rowId) => rowId !== op.row) })
    }
    case 'sort': {
      const order = Object.keys(head.rows).toSorted((a, b) => hash(a, op.seed) - hash(b, op.seed))
      await configurations.update(caller, COMPONENT, id, { rowsSortOrder: order })
      if (order.join() !== head.order.join()) push({ order })
      return
    }
    case 'rollBack': {
      const version = (op.pick % model.snapshots.length) + 1
      const target = model.snapshots[version - 1]!
      await versions.rollBack(caller, COMPONENT, id, version)
      for (const [rowId, text] of Object.entries(target.rows)) {
        model.rowVersions.set(rowId, (model.rowVersions.get(rowId) ?? 0) + 1)
        model.rowHistory.set(rowId, [...(model.rowHistory.get(rowId) ?? []), text])
      }
      return void model.snapshots.push(target)
    }
    case 'rollBackRow': {
      if (!(op.row in head.rows)) return
      const history = model.rowHistory.get(op.row)!
      const version = (op.pick % history.length) + 1
      await rows.rollBack(caller, place(op.row), version)
      return pushRow(op.row, history[version - 1]!)
    }
    case 'state':
      await configurations.setState(caller, COMPONENT, id, op.text)
      model.state = op.text
      return
    case 'trash':
      await configurations.remove(caller, COMPONENT, id)
      await configurations.restore(caller, COMPONENT, id)
      push({})
      return void push({})
  }
}

const hash = (text: string, seed: number): number =>
  [...text].reduce((sum, char) => (sum * 31 + char.charCodeAt(0) + seed * 7) % 997, seed)

/** Ids as rows are shown: as sorted, the rest behind, in the order of their creation. */
function shownOrder({ order, rows }: Snapshot, { creations }: Model): string[] {
  const rest = Object.keys(rows).filter((rowId) => !order.includes(rowId))
  rest.sort((a, b) => creations.indexOf(a) - creations.indexOf(b))
  return [...order, ...rest]
}

async function compare(rules: ConfigurationRules, model: Model, id: string): Promise<void> {
  const { caller, versions, reader } = rules
  const head = headOf(model)
  const text = (await reader.get(caller, COMPONENT, id)).bytes().toString()
  const shown = JSON.parse(text) as { version: number; name: string; rows: { id: string; version: number }[] }
  assert.equal(shown.version, model.snapshots.length)
  assert.ok(text.includes(`"configuration":${head.configuration},"rowsSortOrder"`))
  assert.ok(text.includes(`"state":${model.state},"currentVersion"`))
  assert.deepEqual(
    shown.rows.map((row) => row.id),
    shownOrder(head, model),
  )
  for (const row of shown.rows) assert.equal(row.version, model.rowVersions.get(row.id), `versions of row ${row.id}`)
  const list = await versions.list(caller, COMPONENT, id, { limit: 10_000, offset: 0 })
  assert.deepEqual(
    list.map((entry) => entry.version),
    model.snapshots.map((_, i) => model.snapshots.length - i),
  )
  for (const [i, snapshot] of model.snapshots.entries()) {
    const whole = await versions.get(caller, COMPONENT, id, i + 1)
    assert.deepEqual(
      {
        name: whole.name,
        configuration: whole.configuration,
        isDisabled: whole.isDisabled,
        order: whole.rowsSortOrder,
        rows: Object.fromEntries(whole.rows.map((row) => [row.id, row.configuration])),
      },
      { ...snapshot },
      `version ${i + 1}`,
    )
    assert.deepEqual(
      whole.rows.map((row) => row.id),
      shownOrder(snapshot, model),
    )
  }
}

await onBothDatabases('versions against a model', (metadata) => {
  test('after any sequence of changes every version is as it was', async () => {
    const rules = await openConfigurationRules(metadata)
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const { configurationId: id } = await rules.configurations.create(rules.caller, COMPONENT, { name: 'x' })
        const first: Snapshot = { name: 'x', configuration: '{}', isDisabled: false, order: [], rows: {} }
        const model: Model = { snapshots: [first], rowVersions: new Map(), rowHistory: new Map(), creations: [], state: '{}' }
        for (const [i, op] of operations.entries()) {
          await perform(rules, model, id, op)
          if (i % 3 !== 0) continue // what the reader has in memory must also survive changes it did not look at
          const [remembered, stored] = [
            (await rules.reader.get(rules.caller, COMPONENT, id)).bytes(),
            (await rules.newReader().get(rules.caller, COMPONENT, id)).bytes(),
          ]
          assert.equal(remembered.toString(), stored.toString(), `after ${op.kind}`)
        }
        await compare(rules, model, id)
      }),
      { numRuns: RUNS },
    )
  })
})
