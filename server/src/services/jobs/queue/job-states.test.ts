import assert from 'node:assert/strict'
import test from 'node:test'
import { isFinished, JOB_STATUSES, type JobMove, moveJob } from './job-states.ts'

const ALLOWED: readonly [string, JobMove, string][] = [
  ['created', 'wait', 'waiting'],
  ['created', 'start', 'processing'],
  ['waiting', 'start', 'processing'],
  ['created', 'kill', 'cancelled'],
  ['waiting', 'kill', 'cancelled'],
  ['created', 'fail', 'error'],
  ['waiting', 'fail', 'error'],
  ['processing', 'kill', 'terminating'],
  ['terminating', 'endKilled', 'terminated'],
  ['processing', 'succeed', 'success'],
  ['processing', 'warn', 'warning'],
  ['processing', 'fail', 'error'],
  ['processing', 'giveBack', 'created'],
]
const MOVES: readonly JobMove[] = ['wait', 'start', 'giveBack', 'succeed', 'warn', 'fail', 'kill', 'endKilled']

test('every move of the specification is possible and no other', () => {
  for (const status of JOB_STATUSES) {
    for (const move of MOVES) {
      const expected = ALLOWED.find(([from, by]) => from === status && by === move)?.[2]
      if (expected) assert.equal(moveJob(status, move), expected)
      else
        assert.throws(() => moveJob(status, move), {
          code: isFinished(status) ? 'queue.statusTerminal' : 'queue.statusTransitionForbidden',
        })
    }
  }
})

test('five statuses are final', () => {
  assert.deepEqual(JOB_STATUSES.filter(isFinished), ['success', 'warning', 'error', 'cancelled', 'terminated'])
})
