// Snapshots that people keep, as the API shows them (spec storage 2.5.8).

import { primaryKeyNames } from '../../engines/table-engine/snapshot.ts'
import { formatTimestamp } from '../../kit/clock.ts'
import type { KeptSnapshot } from './table-snapshots.store.ts'

export const snapshotView = (kept: KeptSnapshot, baseUrl: string) => ({
  id: String(kept.id),
  uri: `${baseUrl}/v2/storage/snapshots/${kept.id}`,
  description: kept.description,
  createdTime: formatTimestamp(kept.createdAt),
  type: 'table',
  creatorToken: kept.creatorToken,
  dataFileId: null,
})

export const snapshotDetail = (kept: KeptSnapshot, baseUrl: string) => ({
  ...snapshotView(kept, baseUrl),
  table: {
    id: kept.tableId,
    name: kept.tableId.split('.').at(-1) ?? '',
    uri: `${baseUrl}/v2/storage/tables/${kept.tableId}`,
    primaryKey: primaryKeyNames(kept.snapshot),
    columns: kept.snapshot.columns.map((column) => column.name),
    isTyped: kept.snapshot.typed,
    isAlias: false,
  },
})
