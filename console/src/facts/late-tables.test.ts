import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JudgedFreshness } from '../../../client/src/operations.ts'
import { lateBecauseOf } from './late-tables.ts'

const late = (tableId: string, jobId: string | null, lateInputs: readonly string[]) =>
  ({ tableId, failure: jobId === null ? null : { jobId }, lateInputs }) as unknown as JudgedFreshness // as far as it is looked at

test('a failed job explains the tables it writes and all that wait for them, in a circle too', () => {
  const tables = [
    late('value', null, ['revenue', 'other']),
    late('orders', '7', []),
    late('revenue', null, ['orders', 'value']),
    late('stock', '8', []),
    late('alone', null, []),
  ]
  const names = (...jobIds: string[]) => lateBecauseOf(new Set(jobIds), tables).map(({ tableId }) => tableId)
  assert.deepEqual(names('7'), ['value', 'orders', 'revenue'])
  assert.deepEqual(names('7', '8'), ['value', 'orders', 'revenue', 'stock'])
  assert.deepEqual(names('9'), [])
})
