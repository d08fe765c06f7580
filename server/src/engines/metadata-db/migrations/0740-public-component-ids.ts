// Built-in components are stored under the ids that clients know; before, under ids of this stack alone.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

const PUBLIC_IDS: readonly (readonly [former: string, own: string])[] = [
  ['platform.ex-http', 'keboola.ex-generic-v2'],
  ['platform.flow', 'keboola.flow'],
  ['platform.orchestrator', 'keboola.orchestrator'],
  ['platform.sandboxes', 'keboola.sandboxes'],
  ['platform.scheduler', 'keboola.scheduler'],
  ['platform.shared-code', 'keboola.shared-code'],
  ['platform.variables', 'keboola.variables'],
]

export async function up(trx: Trx): Promise<void> {
  await sql`alter table configuration add column listed_as text`.execute(trx)
  for (const [former, own] of PUBLIC_IDS) {
    await sql`update configuration set component_id = ${own} where component_id = ${former}`.execute(trx)
    await sql`update schedule set target_component_id = ${own} where target_component_id = ${former}`.execute(trx)
    await sql`update queue_job set component_id = ${own}, lock_key = replace(lock_key, ${`/${former}/`}, ${`/${own}/`})
      where component_id = ${former}`.execute(trx)
    await sql`update queue_lock set lock_key = replace(lock_key, ${`/${former}/`}, ${`/${own}/`})
      where lock_key like ${`%/${former}/%`}`.execute(trx)
  }
}
