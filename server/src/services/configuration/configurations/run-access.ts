// What a run needs of configurations: read one, decrypt its secrets, save the state of the component.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { ConfigurationChanges } from '../../../model/run-ports.ts'
import type { ComponentLookup } from './access.ts'
import type { ConfigurationsDeps } from './configurations.ts'
import {
  findConfiguration,
  findContents,
  findRevision,
  findVersion,
  listPlaces,
  lockConfiguration,
} from './records/configurations.store.ts'
import { type Address, inOrder } from './records/records.ts'
import { findRow, listRows, listRowsChangedSince, setRowState } from './records/rows.store.ts'
import { saveState } from './versioning.ts'

export interface RunConfiguration {
  readonly componentId: string
  readonly listedAs: string
  readonly configurationId: string
  readonly name: string
  readonly version: number
  readonly isDisabled: boolean
  /** JSON text, secrets still encrypted. */
  readonly configuration: string
  readonly state: string
  /** In the order they run. */
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly version: number
    readonly isDisabled: boolean
    readonly configuration: string
    readonly state: string
  }[]
}

export interface ParsedConfiguration {
  readonly version: number
  readonly isDisabled: boolean
  readonly configuration: unknown
}

export interface RunAccess {
  /** Undefined when there is no such configuration, or it is deleted. The component may be named by an alias. */
  find(address: Address): Promise<RunConfiguration | undefined>
  /** As `find`; a configuration that is not there is an error. */
  get(address: Address): Promise<RunConfiguration>
  /** As `find`, for rules that look into the configuration. */
  findParsed(address: Address): Promise<(ParsedConfiguration & { readonly rowIds: readonly string[] }) | undefined>
  findParsedAt(address: Address, version: number): Promise<ParsedConfiguration | undefined>
  /** The content of a configuration at a version. Undefined when it has no such version, or it is deleted. */
  findAt(
    address: Address,
    version: number,
  ): Promise<Pick<RunConfiguration, 'version' | 'isDisabled' | 'configuration'> | undefined>
  /** What is different from an earlier version: its own text, and at most 100 rows. */
  changesSince(address: Address, version: number): Promise<ConfigurationChanges>
  /** Where the configurations of some components are, in all branches; at most 1,000. */
  listPlaces(projectId: number, componentIds: readonly string[]): Promise<readonly Address[]>
  /** Whether there is such a configuration that is not deleted. */
  exists(address: Address): Promise<boolean>
  /**
   * Saves the state of a component, in the transaction that makes the run's outcome visible. Makes no version.
   * Clear `#` values are encrypted. Answers what is stored now; undefined when the configuration or the row was deleted meanwhile.
   */
  saveState(trx: Db, address: Address, rowId: string | undefined, state: string): Promise<string | undefined>
  /** Encryption keys are read before the transaction begins: call it first, once for each project. */
  prepare(projectId: number): Promise<void>
}

const ATTEMPTS = 3
const MAX_PLACES = 1_000

export function createRunAccess({
  db,
  inTransaction,
  components,
  secretsOf,
}: Pick<ConfigurationsDeps, 'db' | 'inTransaction' | 'secretsOf'> & { readonly components: ComponentLookup }): RunAccess {
  const canonical = (address: Address): Address => ({ ...address, componentId: components.canonicalId(address.componentId) })

  /** Head and rows of one moment: a run must not mix two versions. Only under continuous writes does it take a transaction. */
  async function find(given: Address): Promise<RunConfiguration | undefined> {
    const address = canonical(given)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const found = await read(db, address)
      if (found?.revision === (await findRevision(db, address))?.revision) return found?.configuration
    }
    return (await inTransaction((trx) => read(trx, address)))?.configuration
  }

  async function read(from: Db, address: Address) {
    const record = await findConfiguration(from, address)
    if (!record) return undefined
    const { componentId, listedAs, configurationId, name, version, isDisabled, configuration, state, revision } = record
    if (record.isDeleted) return { revision, configuration: undefined }
    const rows = inOrder(
      await listRows(from, record.projectId, record.ownerId),
      record.rowsSortOrder,
      ({ created }) => created.at,
    )
    const head = { componentId, listedAs, configurationId, name, version, isDisabled, configuration, state }
    return { revision, configuration: { ...head, rows } }
  }

  const findAt: RunAccess['findAt'] = async (address, version) => {
    const record = await findConfiguration(db, canonical(address))
    if (!record || record.isDeleted) return undefined
    const found = await findVersion(db, record.projectId, record.ownerId, version)
    if (!found) return undefined
    const contents = await findContents(db, record.projectId, record.ownerId, [found.contentVersion])
    return { version, isDisabled: found.isDisabled, configuration: contents.get(found.contentVersion) ?? '{}' }
  }

  const changesSince: RunAccess['changesSince'] = async (address, version) => {
    const record = await findConfiguration(db, canonical(address))
    const then = record && (await findVersion(db, record.projectId, record.ownerId, version))
    if (!record || !then) return { isConfigurationChanged: false, rowIds: [] }
    return {
      isConfigurationChanged: then.contentVersion !== record.contentVersion,
      rowIds: await listRowsChangedSince(db, record.projectId, record.ownerId, version),
    }
  }

  const exists = async (address: Address): Promise<boolean> => (await findRevision(db, canonical(address)))?.isDeleted === false

  async function save(trx: Db, given: Address, rowId: string | undefined, state: string): Promise<string | undefined> {
    const address = canonical(given)
    const secrets = await secretsOf(address.projectId)
    const record = await lockConfiguration(trx, address)
    if (!record || record.isDeleted) return undefined
    if (rowId === undefined) {
      const stored = secrets.encrypt(state, record.componentId, record.state)
      await saveState(trx, record, stored)
      return stored
    }
    const row = await findRow(trx, record.projectId, record.ownerId, rowId)
    if (!row || row.isDeleted) return undefined
    const stored = secrets.encrypt(state, record.componentId, row.state)
    await setRowState(trx, record.projectId, record.ownerId, rowId, stored)
    await saveState(trx, record, record.state, { rowsChanged: true })
    return stored
  }

  const prepare = async (projectId: number): Promise<void> => {
    await secretsOf(projectId)
  }

  async function get(address: Address): Promise<RunConfiguration> {
    const found = await find(address)
    if (found) return found
    throw new PlatformError('storage.configuration.notFound', { id: address.configurationId, component: address.componentId })
  }

  const parsed = <T extends { readonly version: number; readonly isDisabled: boolean; readonly configuration: string }>(
    found: T,
  ) => ({
    version: found.version,
    isDisabled: found.isDisabled,
    configuration: JSON.parse(found.configuration) as unknown,
  })

  const findParsed: RunAccess['findParsed'] = async (address) => {
    const found = await find(address)
    return found && { ...parsed(found), rowIds: found.rows.map((row) => row.id) }
  }

  const findParsedAt: RunAccess['findParsedAt'] = async (address, version) => {
    const found = await findAt(address, version)
    return found && parsed(found)
  }

  const places: RunAccess['listPlaces'] = (projectId, componentIds) => listPlaces(db, projectId, componentIds, MAX_PLACES)

  return { listPlaces: places, find, get, findParsed, findParsedAt, findAt, changesSince, exists, saveState: save, prepare }
}
