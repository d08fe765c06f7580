// An event as the API shows it (spec storage 2.10).

import { formatTimestamp } from '../../../kit/clock.ts'
import type { Actor } from '../../../model/actor.ts'
import type { EventAttachment } from '../../../model/event.ts'
import { shownObjectId } from '../../../model/event-definitions.ts'
import type { EventRow } from './events.store.ts'

/** What has become of a file that an event names. */
export interface FileState {
  readonly isExpired: boolean
  /** A link to its bytes, for callers that may read it. */
  readonly url: string | null
}

export type FileStates = (actor: Actor, ids: readonly number[], baseUrl: string) => Promise<ReadonlyMap<number, FileState>>

/** Events with the files they are about, as the actor may see them. */
export async function eventViews(
  rows: readonly EventRow[],
  { actor, baseUrl }: { readonly actor: Actor; readonly baseUrl: string },
  fileStates: FileStates,
  uuidAsId = false,
) {
  const ids = new Set(rows.flatMap((row) => attachmentsOf(row).map(({ id }) => id)))
  const states = ids.size === 0 ? undefined : await fileStates(actor, [...ids], baseUrl)
  return rows.map((row) => eventView(row, baseUrl, uuidAsId, states))
}

const attachmentsOf = (row: EventRow): readonly EventAttachment[] =>
  row.attachments === '[]' ? [] : (JSON.parse(row.attachments) as EventAttachment[]) // written by events.ts

export const eventView = (row: EventRow, baseUrl: string, uuidAsId = false, files?: ReadonlyMap<number, FileState>) => ({
  id: uuidAsId ? row.uuid : row.id,
  uuid: row.uuid,
  event: row.event,
  component: row.component,
  message: row.message,
  description: row.description,
  type: row.type,
  runId: row.run_id,
  created: formatTimestamp(new Date(row.created_at)),
  configurationId: row.configuration_id,
  objectId: shownObjectId(row.object_type, row.object_id),
  objectName: row.object_name,
  objectType: row.object_type,
  context: contextOf(row),
  params: JSON.parse(row.params) as unknown,
  results: JSON.parse(row.results) as unknown,
  performance: JSON.parse(row.performance) as unknown,
  token: { id: row.token_id, name: row.token_description },
  idBranch: row.branch_id,
  uri: `${baseUrl}/v2/storage/events/${row.id}`,
  attachments: attachmentsOf(row).map((file) => ({
    ...file,
    uploadType: 'userUpload',
    ...(files?.get(file.id) ?? { isExpired: true, url: null }),
  })),
})

function contextOf(row: EventRow) {
  const stored = JSON.parse(row.context) as { remoteAddr: string | null; userAgent: string | null } // written by events.ts
  return {
    remoteAddr: stored.remoteAddr,
    httpReferer: null,
    httpUserAgent: stored.userAgent,
    apiVersion: 'v2',
    userAgent: stored.userAgent,
    async: false,
  }
}
