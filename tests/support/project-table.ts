// A typed table of the project with rows in it, for tests of what is delivered from it.

import assert from 'node:assert/strict'
import type { Job, ShellStack } from './shell-stack.ts'

const NULL = '\\N'

interface Definition {
  /** `type` is a base type, such as NUMERIC; `length` its precision and scale. */
  readonly columns: Readonly<Record<string, string>>
  readonly primaryKey?: readonly string[]
}

/** `in.c-shop.orders`; its bucket is made, too. */
export async function makeTable(stack: ShellStack, id: string, { columns, primaryKey = [] }: Definition): Promise<void> {
  const [stage, bucket, name] = id.split('.')
  await stack.request('POST', '/v2/storage/buckets', { json: { stage, name: bucket?.replace(/^c-/, '') } }) // it may exist
  const made = await stack.request('POST', `/v2/storage/buckets/${stage}.${bucket}/tables-definition`, {
    json: {
      name,
      primaryKeysNames: primaryKey,
      columns: Object.entries(columns).map(([column, type]) => {
        const [, base, length] = /^(\w+)(?:\((.*)\))?$/.exec(type) ?? []
        return length === undefined
          ? { name: column, basetype: base }
          : { name: column, definition: { type: base === 'NUMERIC' ? 'NUMBER' : base, length } }
      }),
    },
  })
  assert.equal(made.status, 202, made.text)
  assert.equal((await stack.wait(made.json<Job>())).status, 'success')
}

export async function fillTable(
  stack: ShellStack,
  id: string,
  columns: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  isIncremental = false,
): Promise<void> {
  const line = (cells: readonly (string | null)[]) => cells.map((cell) => `"${(cell ?? NULL).replaceAll('"', '""')}"`).join(',')
  const loaded = await stack.request('POST', `/v2/storage/tables/${id}/import`, {
    json: {
      dataString: [columns, ...rows].map((row) => `${line(row)}\n`).join(''),
      incremental: isIncremental,
      treatValuesAsNull: [NULL],
    },
  })
  assert.equal(loaded.status, 200, loaded.text)
}
