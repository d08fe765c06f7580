// The rules of configurations and their branches on a database of their own, in project 1, without HTTP, events and encryption.

import type { MetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { systemClock } from '../../server/src/kit/clock.ts'
import { createUlids } from '../../server/src/kit/ulid.ts'
import { NO_ORIGIN } from '../../server/src/model/event.ts'
import { insertBranch, insertDefaultBranch } from '../../server/src/services/configuration/branches/branches.store.ts'
import type { Caller } from '../../server/src/services/configuration/configurations/access.ts'
import { createBranchCopies } from '../../server/src/services/configuration/configurations/branch-copies.ts'
import { createConfigurations } from '../../server/src/services/configuration/configurations/configurations.ts'
import { createReader } from '../../server/src/services/configuration/configurations/reader.ts'
import { createRows } from '../../server/src/services/configuration/configurations/rows.ts'
import { createVersions } from '../../server/src/services/configuration/configurations/versions.ts'
import { masterActor } from './master-actor.ts'

export type ConfigurationRules = Awaited<ReturnType<typeof openConfigurationRules>>

/** Makes the project, so once for a database. */
export async function openConfigurationRules({ db, inTransaction }: MetadataDb) {
  const actor = masterActor(1)
  await inTransaction(async (trx) => {
    const tables = trx.withTables<{
      project: { id: number; name: string; features: string; is_disabled: number; created_at: number }
    }>()
    await tables.insertInto('project').values({ id: 1, name: 'p', features: '[]', is_disabled: 0, created_at: 0 }).execute()
    await insertDefaultBranch(trx, 1, 0)
  })
  const findMain = () =>
    db.withTables<{ branch: { id: number } }>().selectFrom('branch').select('id').orderBy('id').executeTakeFirstOrThrow()
  const main = await findMain()
  const deps = {
    db,
    inTransaction,
    clock: systemClock,
    components: {
      find: (id: string) => ({ id, type: 'other' }),
      canonicalId: (id: string) => id,
      listedId: (id: string) => id,
      problemOf: () => undefined,
    },
    secretsOf: async () => ({ encrypt: (text: string) => text }),
    recordEvent: async () => {},
    newId: createUlids(systemClock),
    checkContent: async () => [],
    defaultBranchId: async () => (await findMain()).id, // queries the database, as the branches module does
  }
  const copies = createBranchCopies(deps)
  const callerIn = (id: number): Caller => ({ actor, branch: { id, isDefault: id === main.id }, origin: NO_ORIGIN })
  return {
    main: { ...main, name: 'Main' },
    caller: callerIn(main.id),
    callerIn,
    configurations: createConfigurations(deps),
    rows: createRows(deps),
    versions: createVersions(deps),
    copies,
    reader: createReader(deps),
    /** One that remembers nothing. */
    newReader: () => createReader(deps),
    /** A branch with a copy of everything. */
    newBranch: (name: string) =>
      inTransaction(async (trx) => {
        const branch = await insertBranch(trx, {
          projectId: 1,
          name,
          description: '',
          isDefault: false,
          createdAt: 0,
          creator: undefined,
        })
        await copies.copyAll(trx, 1, main, branch, actor)
        return branch
      }),
  }
}
