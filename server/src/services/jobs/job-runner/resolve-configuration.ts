// A configuration as a run would use it, for people to inspect: rows merged, variables replaced (spec platform 5).

import { PlatformError } from '../../../kit/errors.ts'
import type { ConfigurationPlace, RunScope, StoredConfiguration } from '../../../model/run-ports.ts'
import { invalid } from './mapping/mapping.ts'
import { resolveRow } from './run-configuration.ts'
import type { JobRunnerDeps } from './run-job.ts'

/** What is known of an earlier version. */
type VersionOfConfiguration = Omit<StoredConfiguration, 'state' | 'rows'>

/** A configuration as it was: without the rows and the state it has now. */
const atVersion = (found: VersionOfConfiguration | undefined): StoredConfiguration | undefined =>
  found && { ...found, state: '{}', rows: [] }

interface VariableData {
  readonly values?: { readonly name: string; readonly value: unknown }[]
}

export interface ResolveRequest {
  readonly componentId: string
  readonly configId: string
  readonly configRowId?: string | null
  readonly configVersion?: string | null
  readonly variableValuesId?: string | null
  readonly variableValuesData?: VariableData | never[] | null
}

export async function resolveConfiguration(
  deps: JobRunnerDeps,
  findAt: (place: ConfigurationPlace, version: number) => Promise<VersionOfConfiguration | undefined>,
  scope: RunScope,
  request: ResolveRequest,
): Promise<string> {
  const { componentId, configId, configRowId, configVersion, variableValuesData } = request
  const place = { ...scope, componentId, configurationId: configId }
  if (configRowId && configVersion)
    throw invalid('configRowId and configVersion exclude each other: rows are resolved as they are now')
  const stored = configVersion
    ? atVersion(await findAt(place, /^\d{1,15}$/.test(configVersion) ? Number(configVersion) : 0))
    : await deps.configurations.find(place)
  if (!stored)
    throw new PlatformError('notFound', {
      what: `Configuration "${configId}" of ${componentId}${configVersion ? ` in version "${configVersion.slice(0, 20)}"` : ''}`,
    })
  const row = configRowId ? stored.rows.find(({ id }) => id === configRowId) : undefined
  if (configRowId && !row) throw new PlatformError('notFound', { what: `Row "${configRowId}" of configuration "${configId}"` })
  const values = variableValuesData && !Array.isArray(variableValuesData) ? (variableValuesData.values ?? []) : []
  const { text } = await resolveRow(deps, {
    place,
    stored,
    row,
    variableValuesId: request.variableValuesId ?? null,
    variableValues: values,
  })
  return `{"configuration":${text}}`
}
