// The events of configurations, each recorded in the transaction of its change.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { eventOf, type NewEvent, type RecordEvent } from '../../../model/event.ts'
import type { Caller } from './access.ts'
import type { MetadataItem } from './records/records.ts'

/** A configuration at one of its versions. */
interface Versioned {
  readonly listedAs: string
  readonly configurationId: string
  readonly name: string
  readonly version: number
}

interface VersionedRow {
  readonly id: string
  readonly name: string
  readonly version: number
}

export type RecordChange = (trx: Trx, caller: Caller, event: NewEvent) => Promise<void>

/** An event belongs to the branch of the request. */
export const createRecordChange =
  (recordEvent: RecordEvent): RecordChange =>
  (trx, caller, event) =>
    recordEvent(trx, caller.actor, { ...event, branchId: caller.branch.id }, caller.origin)

const paramsOf = ({ listedAs, configurationId, name, version }: Versioned) => ({
  component: listedAs,
  configurationId,
  name,
  version,
})

const objectOf = ({ configurationId, name }: Versioned) => ({ configurationId, objectId: configurationId, objectName: name })

export const configurationEvent = (
  kind: 'Created' | 'Changed' | 'Deleted' | 'Purged' | 'Restored',
  configuration: Versioned,
): NewEvent => eventOf(`storage.componentConfiguration${kind}`, paramsOf(configuration), objectOf(configuration))

/** Made of an earlier version, of another configuration or of the same. */
export const configurationFromEvent = (kind: 'Copied' | 'RolledBack', configuration: Versioned, source: Versioned): NewEvent => {
  const params = { ...paramsOf(configuration), sourceConfiguration: paramsOf(source) }
  return eventOf(`storage.componentConfiguration${kind}`, params, objectOf(configuration))
}

export const metadataSetEvent = (configuration: Versioned, items: readonly Pick<MetadataItem, 'key' | 'value'>[]): NewEvent =>
  eventOf('storage.componentConfigurationMetadataSet', paramsOf(configuration), {
    ...objectOf(configuration),
    results: { metadata: items.map(({ key, value }) => ({ key, value })) },
  })

export const metadataDeletedEvent = (configuration: Versioned, metadataId: number, key: string): NewEvent =>
  eventOf(
    'storage.componentConfigurationMetadataDeleted',
    { ...paramsOf(configuration), metadataId, key },
    objectOf(configuration),
  )

const rowParamsOf = (configuration: Versioned, { id, name, version }: VersionedRow) => ({
  rowId: id,
  name,
  version,
  configuration: paramsOf(configuration),
})

const rowOf = ({ configurationId }: Versioned, { id, name }: VersionedRow) => ({
  configurationId,
  objectId: id,
  objectName: name,
})

export const rowEvent = (
  kind: 'RowCreated' | 'RowChanged' | 'RowDeleted',
  configuration: Versioned,
  row: VersionedRow,
): NewEvent => eventOf(`storage.componentConfiguration${kind}`, rowParamsOf(configuration, row), rowOf(configuration, row))

/** `source` is the row it was made of, in its configuration as it was before the step. */
export const rowFromEvent = (
  kind: 'RowCopied' | 'RowRolledBack',
  configuration: Versioned,
  row: VersionedRow,
  source: { readonly configuration: Versioned; readonly row: VersionedRow },
): NewEvent => {
  const params = { ...rowParamsOf(configuration, row), sourceRow: rowParamsOf(source.configuration, source.row) }
  return eventOf(`storage.componentConfiguration${kind}`, params, rowOf(configuration, row))
}

/** The usual mistake with the update call (spec storage 2.8.3): the whole record was sent where its `configuration` belongs. */
export const wrappedEvent = (configuration: Versioned): NewEvent => {
  const { component, configurationId } = paramsOf(configuration)
  return eventOf('storage.componentConfigurationWrapped', { component, configurationId }, objectOf(configuration))
}

/** A configuration was saved although something in it is worth a look. */
export const contentWarning = (configuration: Versioned, warning: string): NewEvent => {
  const { component, configurationId } = paramsOf(configuration)
  return eventOf('storage.componentConfigurationDoubtful', { component, configurationId, warning }, objectOf(configuration))
}

const NODES = ['parameters', 'storage', 'processors', 'authorization', 'runtime'] as const

export function looksWrapped(configuration: unknown): boolean {
  if (typeof configuration !== 'object' || configuration === null) return false
  const inner: unknown = Object.hasOwn(configuration, 'configuration')
    ? (configuration as { configuration: unknown }).configuration // an own key, by the check
    : undefined
  return typeof inner === 'object' && inner !== null && !NODES.some((node) => Object.hasOwn(configuration, node))
}
