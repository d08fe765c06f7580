// Numbers that rise and are never given twice, kept as a value of the database: a copy of it goes on where the original was.

import { type Trx, withTables } from './dialects.ts'

interface Tables {
  ticket: { name: string; last_id: number }
}

/** The next number of a row of `ticket`. Others who ask wait until the transaction ends. */
export async function takeNumber(trx: Trx, name: 'ticket' | 'admin'): Promise<number> {
  const { last_id } = await withTables<Tables>(trx)
    .updateTable('ticket')
    .set((e) => ({ last_id: e('last_id', '+', 1) }))
    .where('name', '=', name)
    .returning('last_id')
    .executeTakeFirstOrThrow()
  return last_id
}
