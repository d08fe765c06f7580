// What the run of a row needs, how far it is, and what it ends with.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { CheckpointOwner } from '../../../engines/runner/checkpoints.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { ProgressOfRow, RecordState } from '../../../model/job-progress.ts'
import type { RecordUse } from '../../../model/lineage.ts'
import type {
  ConfigurationPlace,
  LoadedTable,
  RunConfigurations,
  RunnableComponent,
  RunSandboxes,
  RunScope,
  RunSpark,
  SparkRunEnd,
  SqlRunEnd,
  TableInfo,
} from '../../../model/run-ports.ts'
import type { ArtifactOwner, ArtifactSettings } from './artifacts.ts'
import type { ImageRecord, ProgramSettings } from './component-run.ts'
import type { DbtDeps, DbtEnd } from './dbt/dbt-step.ts'
import type { DebugArchive } from './debug-archive.ts'
import type { InputDeps } from './input.ts'
import type { JobLog } from './job-log.ts'
import type { ComponentLimits } from './limits.ts'
import type { Mapping } from './mapping/mapping.ts'
import type { OutputContext } from './mapping/output-plan.ts'
import type { Staging } from './mapping/staging.ts'
import type { Recording, RehearsalDeps } from './rehearsal.ts'
import type { RowAccount } from './row-account.ts'

export interface RowDeps extends InputDeps, RehearsalDeps {
  readonly programs: ProgramSettings
  readonly dbt: DbtDeps
  readonly spark: RunSpark
  readonly sandboxes: RunSandboxes
  readonly configurations: RunConfigurations
  /** What a run of a stored configuration read and wrote. */
  readonly recordUse: RecordUse
  readonly recordState: RecordState
  readonly clock: Clock
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
}

/** A component or processor that runs as part of the row, in order. */
export interface Step {
  readonly component: RunnableComponent
  readonly tag: string
  readonly isMain: boolean
  readonly limits: ComponentLimits
  /** Text of config.json, secrets in clear. */
  readonly configFile: string
  readonly environment: Readonly<Record<string, string>>
}

export interface RowRun {
  readonly scope: RunScope
  readonly steps: readonly Step[]
  readonly mapping: Mapping
  readonly staging: Staging
  /** The component distinguishes null from an empty text. */
  readonly bareNulls: boolean
  /** Secrets in clear. */
  readonly state: string
  /** Every clear value that is in the folder. */
  readonly secrets: readonly string[]
  readonly output: Omit<OutputContext, 'now'>
  /** Where the state is saved; undefined when it is not. */
  readonly statePlace: StatePlace | undefined
  readonly debug: DebugArchive | undefined
  /** Programs have no network; an extractor is answered from the recording. */
  readonly rehearsal: { readonly recording: Recording | undefined } | undefined
  /** The row ends before its first program starts. */
  readonly inputOnly: boolean
  /** Undefined without a stored configuration: they would not be found again. */
  readonly artifacts: { readonly settings: ArtifactSettings; readonly owner: ArtifactOwner } | undefined
  /** Whose folder outlives a failed run; undefined when the component has none. */
  readonly checkpoint: CheckpointOwner | undefined
  /** The component may store rows and state while it runs. */
  readonly hasBatches: boolean
  /** The component sends data elsewhere: what it wrote down of that is kept until its results are stored. */
  readonly isDelivery: boolean
  readonly log: JobLog
  readonly signal: AbortSignal
  /** How far the row is. */
  tell(progress: ProgressOfRow): void
  /** To be called before the first program starts. */
  begin(): Promise<void>
  /** Fails when the job is no longer ours; part of every transaction that publishes. */
  hold(trx: Trx): Promise<void>
  publish<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  /** As `hold`, of a batch: what it publishes does not keep a lost job from being repeated, which continues from its state. */
  holdBatch(trx: Trx): Promise<void>
  /** Called in the transaction that publishes the row. */
  onPublish?(trx: Trx, tables: readonly LoadedTable[], artifacts: readonly number[]): Promise<void>
}

/** `before`: the state as it was stored when the row began. */
export interface StatePlace {
  readonly place: ConfigurationPlace
  readonly rowId: string | null
  readonly before: string
}

export interface RowResult {
  readonly images: readonly ImageRecord[]
  readonly inputTables: readonly TableInfo[]
  readonly outputTables: readonly LoadedTable[]
  readonly inputBytes: number
  readonly outputBytes: number
  readonly usage: readonly unknown[]
  readonly outputVariables: Readonly<Record<string, unknown>>
}

/** The account of a row while it runs: a failed one still has its images, inputs and usage. */
export interface RowProgress {
  images: ImageRecord[]
  inputTables: readonly TableInfo[]
  /** Tables that a script named by itself. */
  namedTables: readonly string[]
  /** What the columns of a script's tables are made of, by their names in the script. */
  columns: SqlRunEnd['columns']
  /** Results that lie in the object store, by destination. */
  stored: SparkRunEnd['stored']
  /** Of a run of dbt. */
  dbt?: DbtEnd
  usage: readonly unknown[]
  /** What batches have written so far. */
  batchTables: readonly LoadedTable[]
  /** Clear values that came to the folder with the inputs. */
  readonly secrets: string[]
  /** Ids of files. */
  readonly artifacts: { downloaded: readonly number[]; uploaded: readonly number[] }
  /** The component itself has done its work. */
  hasRun: boolean
  readonly account: RowAccount
}
