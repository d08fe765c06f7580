// A newer manifest of a connector is tried before it is saved: on what the API answered last, in a branch that is deleted again.

import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../../../client/src/client.ts'
import type { Client, StorageJob } from '../client.ts'
import { UserError } from '../output.ts'
import { placeOf } from './config-requests.ts'

export type Rehearsal = Answer<'proposals.rehearsal'>

const POLL_MS = 500

/** Undefined: no run of the configuration in production was recorded. */
export async function triedOnRecording(
  client: Client,
  { componentId, id, configuration }: { componentId: string; id: string; configuration: object },
): Promise<Rehearsal | undefined> {
  const tags = ['http-exchanges', `componentId: ${componentId}`, `configurationId: ${id}`]
  const query = new URLSearchParams([...tags.map((tag): [string, string] => ['tags[]', tag]), ['limit', '1']])
  const files = await client.request<readonly unknown[]>('GET', `/v2/storage/files?${query}`)
  if (files.length === 0) return undefined
  const branchId = await branchFor(client, id)
  const { id: proposal } = await client.call('proposals.begin', { body: { branchId } })
  const path = { id: String(proposal) }
  try {
    await client.request('PUT', placeOf(String(branchId), componentId, encodeURIComponent(id)), { json: { configuration } })
    let found: Rehearsal = await client.call('proposals.rehearse', { path })
    while (found.state === 'running') {
      await delay(POLL_MS)
      found = await client.call('proposals.rehearsal', { path })
    }
    return found
  } finally {
    await client.call('proposals.discard', { path }) // with its branch
  }
}

async function branchFor(client: Client, id: string): Promise<number> {
  const name = `Update of ${id} at ${new Date().toISOString()}`
  const job = await client.request<StorageJob>('POST', '/v2/storage/dev-branches', { json: { name } })
  const { results } = await client.waitForJob(job)
  return (results as { id: number }).id // of this operation
}

/** Why a newer manifest must not be saved. */
export function checkTrial({ steps }: Rehearsal): void {
  const problem = steps.find(({ error }) => error !== null)?.error
  if (problem) throw new UserError(`Nothing was saved: with the recorded answers of the API the newer version fails. ${problem}`)
}
