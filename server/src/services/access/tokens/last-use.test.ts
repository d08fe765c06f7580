import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Actor } from '../../../model/actor.ts'
import { createLastUse } from './last-use.ts'

test('uses are written once for each project, and again after a write that failed', async () => {
  const written: string[] = []
  let isDown = true
  const lastUse = createLastUse({
    clock: { now: () => new Date(0) },
    inTransaction: (work) => work({} as Trx),
    store: {
      markUsed: async (_, projectId, ids) => {
        if (isDown) throw new Error('the database is away')
        written.push(`${projectId}: ${ids}`)
      },
    },
  })
  const note = (projectId: number, tokenId: number) => lastUse.note({ projectId, tokenId } as Actor) // the only members it reads
  await lastUse.write()
  note(1, 10)
  note(2, 20)
  note(1, 10)
  await assert.rejects(lastUse.write(), /away/)
  note(1, 11)
  isDown = false
  await lastUse.write()
  await lastUse.write()
  assert.deepEqual(written, ['1: 10,11', '2: 20'])
})
