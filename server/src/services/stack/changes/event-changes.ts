// Changes from the events of modules: every change of a table, a configuration, a schedule, a file or a token leaves an event in
// its own transaction, and from it the change is read.

import type { NewChange } from '../../../model/change.ts'
import type { EventSource, NewEvent } from '../../../model/event.ts'

type Kind = NewChange['kind']

const STATES: Readonly<Record<string, readonly [kind: Kind, state: string]>> = {
  'storage.fileUploaded': ['file', 'created'],
  'storage.fileDeleted': ['file', 'deleted'],
  'storage.tableCreated': ['table', 'created'],
  'storage.tableAliasCreated': ['table', 'created'],
  'storage.tableDeleted': ['table', 'deleted'],
  'storage.tableLate': ['table', 'late'],
  'storage.componentConfigurationCreated': ['configuration', 'created'],
  'storage.componentConfigurationCopied': ['configuration', 'created'],
  'storage.componentConfigurationRestored': ['configuration', 'created'],
  'storage.componentConfigurationDeleted': ['configuration', 'deleted'],
  'storage.componentConfigurationPurged': ['configuration', 'purged'],
  'scheduler.scheduleActivated': ['schedule', 'active'],
  'scheduler.scheduleDeleted': ['schedule', 'deleted'],
  'scheduler.scheduleStopped': ['schedule', 'stopped'],
  'storage.tokenUpdated': ['token', 'changed'],
  'storage.tokenRefreshed': ['token', 'changed'],
  'storage.tokenDeleted': ['token', 'deleted'],
  'storage.personRoleChanged': ['token', 'changed'],
  'storage.personLeft': ['token', 'deleted'],
}

/** Events about something that stays as it is. */
const NO_CHANGE = new Set([
  'storage.tablesListed',
  'storage.tableDetail',
  'storage.tableImportStarted',
  'storage.tableExported',
  'storage.tableSnapshotCreated',
  'storage.componentConfigurationWrapped',
  'storage.componentConfigurationDoubtful',
])

function stateOf(event: string): readonly [kind: Kind, state: string] | undefined {
  if (NO_CHANGE.has(event)) return undefined
  if (STATES[event]) return STATES[event]
  if (event.startsWith('storage.table')) return ['table', 'changed']
  return event.startsWith('storage.componentConfiguration') ? ['configuration', 'changed'] : undefined
}

interface ConfigurationParams {
  readonly component?: string
  readonly configurationId?: string
  readonly version?: number
  /** Of an event about a row. */
  readonly configuration?: ConfigurationParams
}

export function changeOfEvent(source: EventSource, event: NewEvent): NewChange | undefined {
  const [kind, state] = stateOf(event.event) ?? []
  if (kind === undefined || state === undefined) return undefined
  const params = (event.params ?? {}) as ConfigurationParams // of events that have them, by event-definitions.ts
  const { component, configurationId, version } = params.configuration ?? params
  const isConfiguration = kind === 'configuration'
  return {
    projectId: source.projectId,
    kind,
    objectId: (isConfiguration ? (configurationId ?? event.configurationId) : event.objectId) ?? '',
    state,
    version: isConfiguration && typeof version === 'number' ? version : null,
    branchId: event.branchId ?? null,
    componentId: isConfiguration ? (component ?? null) : null,
    tokenId: kind === 'token' ? Number(event.objectId) : source.tokenId,
  }
}
