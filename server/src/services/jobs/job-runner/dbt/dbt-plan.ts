// The plan that the program of platform.dbt runs (components/dbt/src/plan.ts). Pure.

import type { RunWorkspace } from '../../../../model/run-ports.ts'
import type { DbtSettings } from './dbt-settings.ts'

/** What earlier runs of the configuration left. */
export interface Earlier {
  /** The manifest of the last good run is in in/dbt/good. */
  readonly hasGood: boolean
  /** The last run failed, and its artefacts are in in/dbt/last. */
  readonly hasFailed: boolean
}

export interface PlanPlace {
  /** in/dbt of the data folder. */
  readonly folder: string
  readonly archive: string | undefined
  readonly connection: RunWorkspace['connection']
  readonly workspaceId: number
}

const PROFILE = 'millrace'
/** Commands that rebuild relations with --full-refresh. */
const REFRESHABLE = ['build', 'run', 'seed']

export function planOf(settings: DbtSettings, earlier: Earlier, { folder, archive, connection, workspaceId }: PlanPlace) {
  const { target, threads, environment, secrets, packages, program, docs } = settings
  const { host, port, user, password, database } = connection
  const output = { type: 'postgres', host, port, user, password, dbname: database, schema: settings.schema, threads }
  const place = ['--profile', PROFILE, '--target', target]
  const vars = ['--vars', JSON.stringify(settings.vars)]
  const main =
    settings.retry && earlier.hasFailed
      ? ['retry', '--profile', PROFILE, '--state', `${folder}/last`, '--threads', String(threads), ...vars]
      : [settings.command, ...place, ...vars, ...selection(settings, earlier, folder), ...refresh(settings)]
  return {
    packages,
    program,
    commands: [main],
    deps: ['deps', ...place, ...vars],
    ...(docs && { docs: ['docs', 'generate', '--no-compile', ...place, ...vars] }),
    profiles: JSON.stringify({ [PROFILE]: { target, outputs: { [target]: output } } }),
    secrets: [password, ...secrets],
    environment,
    folder: settings.path,
    ...(archive !== undefined && { archive }),
    state: { workspaceId },
  }
}

function selection({ select, exclude, onlyModified }: DbtSettings, { hasGood }: Earlier, folder: string): string[] {
  const isModified = onlyModified && hasGood
  const wanted = isModified ? (select.length > 0 ? select.map((one) => `state:modified+,${one}`) : ['state:modified+']) : select
  return [
    ...(wanted.length > 0 ? ['--select', ...wanted] : []),
    ...(exclude.length > 0 ? ['--exclude', ...exclude] : []),
    ...(isModified ? ['--state', `${folder}/good`] : []),
  ]
}

const refresh = ({ command, fullRefresh }: DbtSettings): string[] =>
  fullRefresh && REFRESHABLE.includes(command) ? ['--full-refresh'] : []
