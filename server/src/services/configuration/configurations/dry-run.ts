// What deleting a configuration or a row, or rolling it back, would do: the same code, over transactions that are undone.

import type { Db } from '../../../engines/metadata-db/dialects.ts'
import type { Actor } from '../../../model/actor.ts'
import type { DryRunAnswer, NamingConfiguration } from '../../../model/dry-run.ts'
import type { Scope } from '../../../model/scope.ts'
import { type Caller, type ComponentLookup, type ExpectedVersion, mayUse } from './access.ts'
import type { WholeVersion } from './configuration-with-rows.ts'
import type { Configurations } from './configurations.ts'
import { listNaming } from './records/naming.store.ts'
import type { RowPlace, Rows } from './rows.ts'
import type { Versions } from './versions.ts'

export interface ConfigurationDryRunDeps {
  readonly db: Db
  readonly components: ComponentLookup
  /** Over transactions that are undone. */
  readonly configurations: Pick<Configurations, 'remove'>
  readonly rows: Pick<Rows, 'remove' | 'rollBack'>
  readonly versions: Pick<Versions, 'rollBack' | 'get' | 'getOfRow'>
  /** Of schedules that run the configuration. */
  readonly nextRunsOf: (actor: Actor, componentId: string, configurationId: string) => Promise<DryRunAnswer['nextRuns']>
}

export type ConfigurationDryRuns = ReturnType<typeof createConfigurationDryRuns>

export function createConfigurationDryRuns(deps: ConfigurationDryRunDeps) {
  const { db, components, configurations, rows, versions, nextRunsOf } = deps

  /** Configurations that the caller may see and that name one of these texts as a value. */
  async function naming({ actor, branch }: Scope, texts: readonly string[]): Promise<readonly NamingConfiguration[]> {
    const found = await listNaming(db, actor.projectId, branch.id, texts)
    return found.filter(({ componentId }) => mayUse(components, actor, componentId))
  }

  async function remove(caller: Caller, componentId: string, configurationId: string, expected: ExpectedVersion) {
    await configurations.remove(caller, componentId, configurationId, expected)
    return answer(caller, componentId, configurationId, 'configurationDelete', null)
  }

  async function rollBack(
    caller: Caller,
    componentId: string,
    configurationId: string,
    version: number,
    expected: ExpectedVersion,
  ) {
    const chosen = await versions.get(caller, componentId, configurationId, version)
    const after = await versions.rollBack(caller, componentId, configurationId, version, { expected })
    const before = await versions.get(caller, componentId, configurationId, after.version - 1)
    const results = {
      version: String(after.version),
      isContentChanged: before.configuration !== chosen.configuration,
      rows: rowChanges(before, chosen),
    }
    return answer(caller, componentId, configurationId, 'configurationRollback', results)
  }

  async function removeRow(caller: Caller, place: RowPlace, expected: ExpectedVersion) {
    await rows.remove(caller, place, undefined, expected)
    return answer(caller, place.componentId, place.configurationId, 'configurationRowDelete', null)
  }

  async function rollBackRow(caller: Caller, place: RowPlace, version: number, expected: ExpectedVersion) {
    const { componentId, configurationId, rowId } = place
    const chosen = await versions.getOfRow(caller, componentId, configurationId, rowId, version)
    const after = await rows.rollBack(caller, place, version, undefined, expected)
    const before = await versions.getOfRow(caller, componentId, configurationId, rowId, after.version - 1)
    const results = { version: String(after.version), isContentChanged: before.configuration !== chosen.configuration }
    return answer(caller, componentId, configurationId, 'configurationRowRollback', results)
  }

  async function answer(
    caller: Caller,
    componentId: string,
    configurationId: string,
    operationName: string,
    results: unknown,
  ): Promise<DryRunAnswer> {
    const named = await naming(caller, [configurationId])
    const isItself = (one: NamingConfiguration) =>
      one.configurationId === configurationId && one.componentId === components.canonicalId(componentId)
    return {
      isDryRun: true,
      operationName,
      tableId: null,
      results,
      rows: null,
      tables: [],
      configurations: named.filter((one) => !isItself(one)),
      nextRuns: await nextRunsOf(caller.actor, componentId, configurationId),
    }
  }

  return { naming, remove, rollBack, removeRow, rollBackRow }
}

/** How each row would differ; rows that stay as they are do not count. */
function rowChanges(before: WholeVersion, after: WholeVersion): { id: string; change: 'added' | 'removed' | 'changed' }[] {
  const texts = (version: WholeVersion) =>
    new Map(version.rows.map((row) => [row.id, JSON.stringify([row.name, row.description, row.isDisabled, row.configuration])]))
  const [was, will] = [texts(before), texts(after)]
  return [...new Set([...was.keys(), ...will.keys()])].flatMap((id) => {
    if (was.get(id) === will.get(id)) return []
    return [{ id, change: was.has(id) ? (will.has(id) ? 'changed' : 'removed') : 'added' } as const]
  })
}
