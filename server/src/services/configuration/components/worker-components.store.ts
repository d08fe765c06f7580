// Which worker has which component, in the metadata database. Only components of folders: the built-in ones are on every node.

import { type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  worker_component: { worker: string; component: string }
  worker_lease: { worker: string; alive_until: number }
}

/** In place of what the worker had before. Rows of workers that are gone go with it. */
export async function replaceComponents(trx: Trx, worker: string, components: readonly string[]): Promise<void> {
  const tx = withTables<Tables>(trx)
  await tx
    .deleteFrom('worker_component')
    .where((e) =>
      e.or([e('worker', '=', worker), e('worker', 'not in', e.selectFrom('worker_lease').select('worker_lease.worker'))]),
    )
    .execute()
  for (const component of new Set(components)) await tx.insertInto('worker_component').values({ worker, component }).execute()
}

/** Those of the components that a worker has which is alive. */
export async function findAlive(trx: Trx, components: readonly string[], now: number): Promise<ReadonlySet<string>> {
  const rows = await withTables<Tables>(trx)
    .selectFrom('worker_component')
    .innerJoin('worker_lease', 'worker_lease.worker', 'worker_component.worker')
    .select('component')
    .where('component', 'in', components)
    .where('alive_until', '>=', now)
    .execute()
  return new Set(rows.map(({ component }) => component))
}
