// Runs of scripts on a registered Spark cluster. The driver is a program of ours in a process of its own, with the network of the node; rows never
// come here: they go between the cluster and the object store, by keys that the catalogue gives for an hour to the token of the run.

import { randomUUID } from 'node:crypto'
import { dirname, isAbsolute, join } from 'node:path'
import { counted } from '../../../../../contract/counted.ts'
import { type DataFolder, readOutput, writeDataFile } from '../../../engines/runner/data-folder.ts'
import type { LogEvent } from '../../../engines/runner/log-event.ts'
import { createMask, type Mask } from '../../../engines/runner/mask.ts'
import { homeOf } from '../../../engines/runner/program.ts'
import type { Runner, RunOutcome, RunSpec } from '../../../engines/runner/runner.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type {
  RunNamespace,
  RunScope,
  RunSpark,
  RunTables,
  RunTarget,
  RunTokenOwner,
  SparkRun,
  SparkRunEnd,
  SqlInput,
} from '../../../model/run-ports.ts'
import { sparkApplicationName } from '../../../model/spark-application.ts'
import { type DriverEnd, failureOfEnd, planCatalogues, planInput, planPart } from './spark-plan.ts'

export interface SparkSettings {
  /** Undefined: no cluster is registered. */
  readonly url: string | undefined
  /** The Python that has pyspark. */
  readonly python: string
  /** Of every application: `spark.jars`, `spark.executor.memory` and whatever else the operator sets. */
  readonly conf: Readonly<Record<string, string>>
}

export const NO_SPARK: SparkSettings = { url: undefined, python: 'python3', conf: {} }

export interface SparkScriptsDeps {
  readonly settings: SparkSettings
  readonly runner: Pick<Runner, 'run'>
  readonly namespace: RunNamespace
  readonly tables: Pick<RunTables, 'targetOf' | 'isWhole' | 'materialise'>
  /** A token that reads these buckets and nothing else. */
  readonly issueToken: (
    scope: RunScope,
    buckets: readonly string[],
    expiresInSeconds: number,
  ) => Promise<{ readonly id: number; readonly value: string }>
  readonly revokeToken: (scope: RunScope, tokenId: number) => Promise<void>
  /** The folder of driver.py. */
  readonly driverFolder: string
  /** For the packages that `spark.jars.packages` names. */
  readonly packagesFolder: string
}

const END_BYTES = 1 << 20
/** Of the memory of the run; the rest is for Python and for what the virtual machine takes beside its heap. */
const HEAP_SHARE = 0.5
const INTERRUPT_MS = 60_000
/** How a shell ends that cannot start a program. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

export function createSparkScripts(deps: SparkScriptsDeps): RunSpark {
  const { settings, namespace, tables, issueToken, revokeToken } = deps
  const packagesFolder = settings.conf['spark.jars.ivy'] ?? deps.packagesFolder

  async function run(request: SparkRun, signal: AbortSignal): Promise<SparkRunEnd> {
    const { url } = settings
    if (url === undefined) throw new PlatformError('spark.notRegistered')
    const { scope, limits } = request
    const partNames = await Promise.all(request.inputs.map(partName))
    const inputs = request.inputs.map((input, i) => planInput(request, input, partNames[i]))
    const parts = await Array.fromAsync(request.parts, planPart)
    const results = await Promise.all(
      request.results.map(async (result, i) => ({
        ...result,
        name: `result-${i}`,
        target: await tables.targetOf(scope, result.destination),
      })),
    )
    const buckets = [...new Set(request.inputs.map(({ tableId }) => tableId.split('.').slice(0, 2).join('.')))]
    const token = await issueToken(scope, buckets, Math.ceil(limits.timeoutMs / 1000) + 600)
    const owner = { projectId: scope.projectId, tokenId: token.id }
    try {
      const folder = `tables/${scope.projectId}/run-${randomUUID()}/`
      await namespace.open(owner, folder, results)
      for (const [i, name] of partNames.entries()) if (name) await addPart(request, owner, i, { name, folder, signal })
      const plan = {
        cluster: url,
        session: randomUUID(),
        name: sparkApplicationName(scope.projectId, scope.runId),
        conf: confOf(request),
        catalogue: { ...catalogueOf(scope, token.value), warehouses: planCatalogues(request) },
        inputs,
        parts,
        results: results.map(({ table, name, columns = null, target }) => ({ table, name, columns, isText: !target.typed })),
      }
      await drive(request, plan, createMask([token.value]), signal)
      return { stored: await storedRows(owner, results) }
    } finally {
      await namespace.close(owner)
      await revokeToken(scope, token.id)
    }
  }

  /** What a table of the run is called that holds the rows of an input; undefined: the input reads the files of its table. */
  async function partName({ scope, tableId, query }: SqlInput, i: number): Promise<string | undefined> {
    const isPart = query.changedSince !== undefined || !(await tables.isWhole(scope, tableId))
    return isPart ? `input-${i}` : undefined
  }

  async function addPart({ inputs, say }: SparkRun, owner: RunTokenOwner, i: number, where: PartPlace): Promise<void> {
    const { name, scope, tableId, query } = inputs[i]!
    const folder = `${where.folder}${where.name}/`
    const part = await tables.materialise(scope, tableId, query, folder, where.signal)
    await namespace.add(owner, where.name, folder, part)
    const rows = part.files.reduce((sum, file) => sum + file.rows, 0)
    say({ level: 'info', message: `Wrote ${counted(rows, 'row')} of the input "${name}" into files for Spark.` })
  }

  async function drive(request: SparkRun, plan: { readonly cluster: string }, hide: Mask, signal: AbortSignal): Promise<void> {
    const { folder } = request
    await writeDataFile(join(folder.data, 'spark.json'), JSON.stringify(plan))
    const onEvent = ({ level, message, fields }: LogEvent): void => {
      const { done, total } = fields ?? {}
      if (typeof done === 'number' && typeof total === 'number') request.onStatement(done, total)
      else request.say({ level, message, ...(fields && { fields }) })
    }
    const outcome = await start(request, hide, { signal, onEvent })
    if (signal.aborted && plan.cluster.startsWith('sc://')) await interrupt(request, hide)
    signal.throwIfAborted()
    const end = await readEnd(folder)
    const failure = end ? failureOfEnd(end) : failureOfOutcome(outcome, settings.python)
    if (failure) throw failure
  }

  /** A server of Spark Connect continues when its client has disconnected. */
  async function interrupt(request: SparkRun, hide: Mask): Promise<void> {
    const limits = { ...request.limits, timeoutMs: INTERRUPT_MS }
    await start({ ...request, limits }, hide, { onEvent: () => {} }, ['interrupt'])
  }

  const start = (
    { folder, limits, mask }: SparkRun,
    hide: Mask,
    how: Pick<RunSpec, 'signal' | 'onEvent'>,
    words: readonly string[] = [],
  ): Promise<RunOutcome> =>
    deps.runner.run({
      program: {
        kind: 'command',
        command: [settings.python, join(deps.driverFolder, 'driver.py'), ...words],
        folder: deps.driverFolder,
        readable: readableOf(settings),
        writable: [packagesFolder],
      },
      folder,
      environment: environmentOf(folder),
      limits,
      mask: (text) => hide(mask(text)),
      hostNetwork: true,
      ...how,
    })

  const environmentOf = (folder: DataFolder): Record<string, string> => ({
    SPARK_LOCAL_DIRS: folder.tmp,
    SPARK_USER: 'millrace',
    HADOOP_USER_NAME: 'millrace',
    PYSPARK_PYTHON: settings.python,
    PYSPARK_DRIVER_PYTHON: settings.python,
    PYTHONDONTWRITEBYTECODE: '1',
  })

  function confOf({ limits, folder }: SparkRun): Record<string, string> {
    const log = `-Dlog4j2.configurationFile=file:${join(deps.driverFolder, 'log4j2.properties')} -Djava.io.tmpdir=${folder.tmp}`
    const own = settings.conf['spark.driver.extraJavaOptions']
    return {
      'spark.driver.memory': `${Math.max(512, Math.floor((limits.memoryBytes * HEAP_SHARE) / 2 ** 20))}m`,
      'spark.jars.ivy': packagesFolder,
      'spark.sql.warehouse.dir': `file:${join(folder.tmp, 'warehouse')}`,
      ...settings.conf,
      'spark.driver.extraJavaOptions': own ? `${log} ${own}` : log,
    }
  }

  async function storedRows(
    owner: { readonly projectId: number; readonly tokenId: number },
    results: readonly {
      readonly name: string
      readonly table: string
      readonly destination: string
      readonly target: RunTarget
    }[],
  ): Promise<SparkRunEnd['stored']> {
    const stored = await Promise.all(
      results.map(async ({ name, table, destination }) => {
        const rows = await namespace.rowsOf(owner, name)
        if (!rows)
          throw new PlatformError('spark.scriptFailed', { message: `Output table "${table}": the run did not store it.` })
        return [destination, rows] as const
      }),
    )
    return Object.fromEntries(stored)
  }

  return { run }
}

interface PartPlace {
  readonly name: string
  readonly folder: string
  readonly signal: AbortSignal
}

const catalogueOf = ({ baseUrl, projectId, branchId, isDefaultBranch }: RunScope, token: string) => ({
  uri: `${baseUrl}/iceberg`,
  token,
  prefix: isDefaultBranch ? String(projectId) : `${projectId}-${branchId}`,
})

async function readEnd(folder: DataFolder): Promise<DriverEnd | undefined> {
  const text = await readOutput(folder, 'spark-end.json', END_BYTES)
  return text === undefined ? undefined : (JSON.parse(text) as DriverEnd) // written by our driver
}

/** Of a driver that ended without a word of its own. */
function failureOfOutcome({ reason, exitCode, words }: RunOutcome, python: string): PlatformError {
  if (reason === 'ended' && (exitCode === NOT_FOUND || exitCode === NOT_EXECUTABLE))
    return new PlatformError('spark.notReady', {
      reason: `Python does not exist at ${python}. The operator sets one that has pyspark with MILLRACE_SPARK_PYTHON.`,
    })
  const why = reason === 'ended' ? `it ended with exit code ${exitCode}` : `it was stopped (${reason})`
  const said = words.split('\n').slice(-5).join(' ').slice(0, 1000)
  return new PlatformError('spark.driverEnded', { reason: `${why}${said === '' ? '' : `: ${said}`}` })
}

/** Jars may lie anywhere. */
function readableOf({ python, conf }: SparkSettings): string[] {
  const jars = (conf['spark.jars'] ?? '').split(',').map((jar) => jar.trim().replace(/^file:(\/\/)?/, ''))
  return [...new Set([...homeOf(python), ...jars.filter((jar) => isAbsolute(jar)).map((jar) => dirname(jar))])]
}
