// Changes of a table that other projects link are events there as well, about the table as they see it (corrections-2 S3).

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { EventSource, NewEvent, RecordEvent } from '../../../model/event.ts'
import { eventOf } from '../../../model/event.ts'
import type { EventName } from '../../../model/event-definitions.ts'
import type { Bucket } from './buckets.store.ts'

export interface LinkedEventsDeps {
  readonly recordEvent: RecordEvent
  readonly defaultBranchId: (projectId: number) => Promise<number>
  readonly listLinksInto: (projectId: number, branchId: number, bucketId: string, trx: Trx) => Promise<readonly Bucket[]>
}

const COPIED: ReadonlySet<string> = new Set<EventName>([
  'storage.tableCreated',
  'storage.tableUpdated',
  'storage.tableDeleted',
  'storage.tableImportDone',
  'storage.tableColumnAdded',
  'storage.tableColumnDeleted',
  'storage.tableColumnsUpdated',
  'storage.tablePrimaryKeyAdded',
  'storage.tablePrimaryKeyDeleted',
  'storage.tableRowsDeleted',
  'storage.tableRestored',
])

/** What a project that links the table can see in it anyway; files, runs and other tables of its owner are not among them. */
const SHOWN_PARAMS = [
  'name',
  'primaryKey',
  'columns',
  'column',
  'deletedRows',
  'incremental',
  'partial',
  'csv',
  'importedColumns',
]

export const createLinkedEvents =
  ({ recordEvent, defaultBranchId, listLinksInto }: LinkedEventsDeps) =>
  async (trx: Trx, source: EventSource, recorded: NewEvent): Promise<void> => {
    const { event, objectId, branchId, params = {}, results } = recorded
    if (!COPIED.has(event) || objectId === undefined || recorded.isOfLink) return
    const nameAt = objectId.lastIndexOf('.') + 1
    const bucketId = objectId.slice(0, nameAt - 1)
    const branch = branchId ?? (await defaultBranchId(source.projectId))
    for (const link of await listLinksInto(source.projectId, branch, bucketId, trx)) {
      const name = objectId.slice(nameAt)
      const shown = Object.fromEntries(Object.entries(params).filter(([param]) => SHOWN_PARAMS.includes(param)))
      const copy = eventOf(
        event as 'storage.tableImportDone', // one of COPIED, whose params were taken from an event of the same name
        { ...shown, ...(event === 'storage.tableImportDone' && { source: { type: 'linkedBucket' } }) } as never,
        { objectId: `${link.id}.${name}`, objectName: name, branchId: link.branchId, ...(results && { results }) },
      )
      const owner = { projectId: link.projectId, tokenId: source.tokenId, tokenDescription: `Project ${source.projectId}` }
      await recordEvent(trx, owner, { ...copy, isOfLink: true })
    }
  }
