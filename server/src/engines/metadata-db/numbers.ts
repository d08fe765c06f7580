// Increasing numbers that are never assigned twice, stored as a value of the database: a copy of it continues where the original stopped.

import { type Trx, withTables } from './dialects.ts'

interface Tables {
  ticket: { name: string; last_id: number }
}

/** The next number of a row of `ticket`. Other callers wait until the transaction ends. */
export async function takeNumber(trx: Trx, name: 'ticket' | 'admin'): Promise<number> {
  const { last_id } = await withTables<Tables>(trx)
    .updateTable('ticket')
    .set((e) => ({ last_id: e('last_id', '+', 1) }))
    .where('name', '=', name)
    .returning('last_id')
    .executeTakeFirstOrThrow()
  return last_id
}
