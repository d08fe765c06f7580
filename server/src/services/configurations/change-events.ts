// The events this room records, each in the transaction of the change it tells of.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import type { NewEvent, RecordEvent } from '../../model/event.ts'
import type { Caller } from './access.ts'
import type { ConfigurationRecord, RowRecord } from './records.ts'

export type ConfigurationEvent = 'Created' | 'Changed' | 'Deleted' | 'Purged' | 'Restored' | 'RolledBack' | 'Copied'
export type RowEvent = 'RowCreated' | 'RowChanged' | 'RowDeleted' | 'RowRolledBack' | 'RowCopied'
export type MetadataEvent = 'MetadataSet' | 'MetadataDeleted'

export type TellChange = (
  trx: Trx,
  caller: Caller,
  kind: ConfigurationEvent | RowEvent | MetadataEvent,
  configuration: ConfigurationRecord,
  row?: Pick<RowRecord, 'id' | 'name' | 'version'>,
) => Promise<void>

const SENTENCES: Record<ConfigurationEvent | RowEvent | MetadataEvent, string> = {
  Created: 'Created configuration',
  Changed: 'Changed configuration',
  Deleted: 'Deleted configuration',
  Purged: 'Purged configuration',
  Restored: 'Restored configuration',
  RolledBack: 'Rolled back configuration',
  Copied: 'Copied configuration',
  RowCreated: 'Created configuration row',
  RowChanged: 'Changed configuration row',
  RowDeleted: 'Deleted configuration row',
  RowRolledBack: 'Rolled back configuration row',
  RowCopied: 'Copied configuration row',
  MetadataSet: 'Set metadata of configuration',
  MetadataDeleted: 'Deleted metadata of configuration',
}

export function createTellChange(recordEvent: RecordEvent): TellChange {
  return (trx, caller, kind, configuration, row) =>
    recordEvent(trx, caller.actor, changeEvent(caller, kind, configuration, row), caller.origin)
}

function changeEvent(
  caller: Caller,
  kind: ConfigurationEvent | RowEvent | MetadataEvent,
  configuration: ConfigurationRecord,
  row: Pick<RowRecord, 'id' | 'name' | 'version'> | undefined,
): NewEvent {
  const { configurationId, componentId, name, version, changeDescription } = configuration
  return {
    event: `storage.componentConfiguration${kind}`,
    message: row
      ? `${SENTENCES[kind]} "${row.name || row.id}" (${row.id}) of "${name}" (${componentId}/${configurationId})`
      : `${SENTENCES[kind]} "${name}" (${componentId}/${configurationId})`,
    type: 'info',
    configurationId,
    objectId: configurationId,
    objectName: name,
    objectType: 'componentConfiguration',
    params: {
      component: componentId,
      configurationId,
      name,
      version,
      changeDescription,
      ...(row && { rowId: row.id, rowName: row.name, rowVersion: row.version }),
    },
    branchId: caller.branch.isDefault ? null : caller.branch.id,
  }
}

/** The usual mistake with the update call (spec storage 2.8.3): the whole record was sent where its `configuration` belongs. */
export const wrappedWarning = (caller: Caller, { componentId, configurationId, name }: ConfigurationRecord): NewEvent => ({
  event: 'storage.componentConfigurationWrapped',
  message: `Configuration "${name}" (${componentId}/${configurationId}) was saved with a second "configuration" node inside. The component reads parameters and storage from the top, so it will not find them: send the contents of the node only.`,
  type: 'warn',
  configurationId,
  objectId: configurationId,
  objectName: name,
  objectType: 'componentConfiguration',
  params: { component: componentId, configurationId },
  branchId: caller.branch.isDefault ? null : caller.branch.id,
})

const NODES = ['parameters', 'storage', 'processors', 'authorization', 'runtime'] as const

export function looksWrapped(configuration: unknown): boolean {
  if (typeof configuration !== 'object' || configuration === null) return false
  const inner: unknown = Object.hasOwn(configuration, 'configuration')
    ? (configuration as { configuration: unknown }).configuration // an own key, by the check
    : undefined
  return typeof inner === 'object' && inner !== null && !NODES.some((node) => Object.hasOwn(configuration, node))
}
