import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLostConnection } from '../src/database/explain.ts'

test('a read that a replica cancels is repeated, one that the database refuses is not', () => {
  const error = (code: string, message: string) => Object.assign(new Error(message), { code })
  // As PostgreSQL 18 answers on a standby with max_standby_streaming_delay of a second, while the primary runs VACUUM FULL.
  assert.equal(isLostConnection(error('40001', 'canceling statement due to conflict with recovery')), true)
  assert.equal(isLostConnection(new Error('Client has encountered a connection error and is not queryable')), true)
  assert.equal(isLostConnection(error('40001', 'could not serialize access due to concurrent update')), false)
  assert.equal(isLostConnection(error('42P01', 'relation "t" does not exist')), false)
})
