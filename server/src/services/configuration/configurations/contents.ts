// The contents of all configurations of a branch, as texts.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { listConfigurations, listRevisions } from './records/configurations.store.ts'
import { listRowsOf } from './records/rows.store.ts'

const BATCH = 200

/** Of configurations and their rows, without those in the trash. */
export async function listContents(db: Db, projectId: number, branchId: number): Promise<string[]> {
  const owners = (await listRevisions(db, { projectId, branchId, isDeleted: false })).map(({ ownerId }) => ownerId)
  const texts: string[] = []
  for (let at = 0; at < owners.length; at += BATCH) {
    const some = owners.slice(at, at + BATCH)
    for (const { configuration } of await listConfigurations(db, projectId, some)) texts.push(configuration)
    for (const rows of (await listRowsOf(db, projectId, some)).values())
      for (const { configuration } of rows) texts.push(configuration)
  }
  return texts
}
