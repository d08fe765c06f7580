import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXTENSIONS_FOLDER } from '../../../../../contract/duckdb-extensions.ts'
import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { fetchOnce } from '../../../engines/git/git-checkout.ts'
import { componentBundle } from '../../../engines/runner/bundle.ts'
import { createCheckpoints } from '../../../engines/runner/checkpoints.ts'
import { createEnvironments } from '../../../engines/runner/environments.ts'
import { createRuntimes } from '../../../engines/runner/runtimes.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { QueuedJob } from '../../../model/queued-job.ts'
import type { RunScope } from '../../../model/run-ports.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { OauthModule } from '../../access/oauth/oauth.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { VaultModule } from '../../access/vault/vault.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { RunWorkspacesModule } from '../../query/run-workspaces/run-workspaces.module.ts'
import type { SandboxesModule } from '../../query/sandboxes/sandboxes.module.ts'
import type { SqlModule } from '../../query/sql/sql.module.ts'
import type { DataTestsModule } from '../../storage/data-tests/data-tests.module.ts'
import type { FilesModule } from '../../storage/files/files.module.ts'
import type { FreshnessModule } from '../../storage/lineage/freshness.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { JobRecordsModule } from '../queue/job-records.module.ts'
import type { SparkModule } from '../spark/spark.module.ts'
import { createRunRule } from './content-rule.ts'
import type { ProgramsModule } from './programs.module.ts'
import { notRehearsable } from './rehearsal.ts'
import { resolveConfiguration } from './resolve-configuration.ts'
import { runAction, runTrial } from './run-action.ts'
import { type JobRunnerDeps, rowIdsOf } from './run-job.ts'
import { runQueuedJob } from './run-queued-job.ts'

const PYTHON_FOLDER = fileURLToPath(new URL('../../../../../components/python-transformation', import.meta.url))
const REPOSITORY = fileURLToPath(new URL('../../../../..', import.meta.url))
/** The folder of DuckDB's packages: in an installed package they are beside it, not in it. */
const NATIVE_CODE = join(dirname(createRequire(import.meta.url).resolve('@duckdb/node-api')), '..', '..')

export interface JobRunnerModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly jobRecords: JobRecordsModule
  readonly objects: ObjectsModule
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly files: FilesModule
  readonly tables: TablesModule
  readonly freshness: FreshnessModule
  readonly sql: SqlModule
  readonly sandboxes: SandboxesModule
  readonly runWorkspaces: RunWorkspacesModule
  readonly dataTests: Pick<DataTestsModule, 'recordDbtTests'>
  readonly oauth: OauthModule
  readonly vault: VaultModule
  readonly spark: SparkModule
  readonly programs: ProgramsModule
  readonly worker: WorkerSettings
  /** Addresses of the sample shop, which components may reach. */
  readonly samplePlaces: () => readonly string[]
}

export type JobRunnerModule = ReturnType<typeof createJobRunnerModule>

export function createJobRunnerModule(deps: JobRunnerModuleDeps) {
  const { core, branches, components, configurations, tables, worker } = deps
  const { clock, log, subscribe } = core
  const { runAccess } = configurations
  const checkpoints = createCheckpoints({
    folder: join(core.dataDir, 'checkpoints'),
    clock,
    keepMs: worker.checkpointHours * 3_600_000,
    maxBytes: worker.checkpointBytes,
    onError: (err) => log.error({ err }, 'what failed runs have left could not be removed; it is tried again'),
  })
  const runner = runnerDeps(deps, checkpoints)
  const rule = createRunRule({ tableExists: tables.exists, componentExists: components.exists })
  subscribe('configuration.validated', ({ actor, branch }, _place, content) => rule({ actor, branch }, content))

  return defineModule({
    name: 'job-runner',
    background: [{ role: 'worker', start: checkpoints.start, stop: checkpoints.stop }],
    run: (handle: Parameters<typeof runQueuedJob>[1]) =>
      runQueuedJob({ runner, prepare: runAccess.prepare, holdBranch: branches.hold }, handle),
    /** Why a component cannot run in a rehearsal; undefined when it can. */
    notRehearsable,
    rowIdsOf: (job: QueuedJob) => rowIdsOf(runner, job),
    runAction: (scope: RunScope, action: Parameters<typeof runAction>[2], signal: AbortSignal) =>
      runAction(runner, scope, action, signal),
    /** A SQL transformation over a sample, without keeping anything. */
    tryScript: (scope: RunScope, trial: Parameters<typeof runTrial>[2], signal: AbortSignal) =>
      runTrial(runner, scope, trial, signal),
    resolve: (scope: RunScope, request: Parameters<typeof resolveConfiguration>[3]) =>
      resolveConfiguration(runner, runAccess.findAt, scope, request),
  })
}

function runnerDeps(deps: JobRunnerModuleDeps, checkpoints: ReturnType<typeof createCheckpoints>): JobRunnerDeps {
  const { core, tokens, jobRecords, branches, components, configurations, encryption, worker } = deps
  const { runAccess } = configurations
  return {
    inTransaction: core.inTransaction,
    clock: core.clock,
    log: core.log,
    tables: deps.tables.runTables,
    sql: deps.sql.scripts,
    spark: deps.spark.scripts,
    sandboxes: deps.sandboxes.tasks,
    oauth: deps.oauth.forRuns,
    files: deps.files.runFiles,
    dbt: { workspaces: deps.runWorkspaces.runWorkspaces, fetchOnce, recordTests: deps.dataTests.recordDbtTests },
    findBranch: branches.findByName,
    recordEvent: core.recordEvent,
    onSaid: (runId) => jobRecords.notifier.notify(Number(runId)),
    onError: (error) => core.log.error({ err: error }, 'events of a job could not be written'),
    components: { find: components.findRunnable },
    configurations: {
      find: runAccess.find,
      saveState: (trx, place, rowId, state) => runAccess.saveState(trx, place, rowId ?? undefined, state),
    },
    secrets: { decrypt: encryption.decryptForRun, encrypterOf: encryption.encrypterOf },
    vaultValues: deps.vault.valuesIn,
    tokens: {
      issue: ({ actor }, description, expiresIn) => tokens.issueForRun(actor, description, expiresIn),
      revoke: ({ actor }, id) => tokens.revokeOfRun(actor, id),
    },
    changesSince: runAccess.changesSince,
    recordUse: deps.freshness.recordUse,
    recordState: jobRecords.stateHistory.record,
    lastGood: jobRecords.lastGood,
    defaultBranchId: branches.defaultId,
    statesOf: jobRecords.stateHistory.listOfJob,
    isolationProblem: async () => (await deps.programs.isolation()).problem,
    project: async (projectId) => (await tokens.findProject(projectId)) ?? { name: '', features: [] },
    programs: {
      runner: deps.programs.runner,
      findContainerEngine: deps.programs.findContainerEngine,
      builtinFolder: join(REPOSITORY, 'components'),
      pythonFolder: PYTHON_FOLDER,
      environments: createEnvironments(join(core.dataDir, 'cache', 'environments')),
      runtimes: createRuntimes(worker.path),
      isolation: deps.programs.isolation,
      pythonIndexUrl: worker.pythonIndexUrl,
      componentBundle,
      // Other built-in components use the egress guard and the log of the extractor, and the kit.
      readable: ['node_modules', 'contract', 'components/http-extractor/src', 'components/connector-kit/src'].map((path) =>
        join(REPOSITORY, path),
      ),
      nativeCode: NATIVE_CODE,
      extensions: join(core.dataDir, EXTENSIONS_FOLDER),
      folders: worker.folders,
      commandFolder: components.folderOf,
      get diskBytes() {
        return worker.diskBytes
      },
      get results() {
        return worker.results
      },
      checkpoints,
      egress: egressPolicyFrom(worker.egressAllow),
      objectStoreUrl: deps.objects.url,
      places: deps.samplePlaces,
    },
  }
}
