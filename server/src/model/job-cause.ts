// Why a job failed, as its result reports it (`result.error.cause`, spec platform 2.8), and what failures are grouped by.

import type { ErrorCode } from '../../../contract/error-codes.ts'
import { CAUSES, type CauseKind, type FailedRequest, type FailurePlace } from '../../../contract/failure-causes.ts'

export interface JobCause {
  readonly kind: CauseKind
  /** The general meaning of the kind; the message of the job has the details. */
  readonly text: string
  /** A host, a table: failures of one kind and subject are one group. */
  readonly subject: string | null
  readonly where: CausePlace | null
  readonly request: FailedRequest | null
  readonly place: FailurePlace | null
  readonly since: SinceLastGood | null
  readonly advice: string
  readonly code: string
  /** Address of the page about it, on this stack. */
  readonly help: string
}

/** A place in the effective configuration. */
export interface CausePlace {
  readonly pointer: string
  /** What has to be changed: the row, or the configuration itself. */
  readonly in: 'row' | 'configuration'
  readonly rowId: string | null
}

/** What is different from the last run of the configuration that ended well. */
export interface SinceLastGood {
  readonly job: string
  readonly endTime: string
  readonly configVersion: string
  readonly isConfigurationChanged: boolean
  /** Ids of rows that were changed, made or deleted since. */
  readonly rowsChanged: readonly string[]
}

export type CauseParts = Partial<Omit<JobCause, 'kind' | 'text' | 'help'>>

/** What is not known is null. */
export const jobCause = (kind: CauseKind, code: ErrorCode, known: CauseParts = {}): JobCause => ({
  kind,
  text: CAUSES[kind].text,
  subject: known.subject ?? null,
  where: known.where ?? null,
  request: known.request ?? null,
  place: known.place ?? null,
  since: known.since ?? null,
  advice: known.advice ?? CAUSES[kind].advice,
  code,
  help: `/help/errors#${kind}`,
})

/** Codes that are one kind wherever they come from. */
export const CAUSE_OF_CODE: Partial<Record<ErrorCode, CauseKind>> = {
  'jobRunner.invalidConfiguration': 'configuration.invalid',
  'jobRunner.missingVariables': 'configuration.variableMissing',
  'jobRunner.brokenByVariables': 'configuration.variableMissing',
  'jobRunner.inputMissing': 'input.missing',
  'jobRunner.noRoom': 'run.diskFull',
  'jobRunner.outputInvalid': 'output.invalid',
  'jobRunner.componentFailed': 'run.componentFailed',
  'jobRunner.componentBroken': 'run.componentBroken',
  'queue.unknownComponent': 'run.componentMissing',
  'runner.noContainerEngine': 'run.componentMissing',
  'runner.imageMissing': 'run.componentMissing',
  'runner.notIsolated': 'run.componentMissing',
  'runner.unsafeOutput': 'output.invalid',
  'runner.unsafeName': 'output.invalid',
  'runner.tooManyResults': 'output.invalid',
  'runner.outputTooLarge': 'output.invalid',
  'runner.invalidYaml': 'output.invalid',
  'tableEngine.diskFull': 'run.diskFull',
  'sql.diskFull': 'run.diskFull',
  'stack.diskFull': 'run.diskFull',
  invalidCsv: 'load.unreadableCsv',
  rowTooLarge: 'load.unreadableCsv',
  'csvImport.invalidCsvParams': 'load.unreadableCsv',
  'storage.tables.invalidValue': 'load.invalidValue',
  'storage.tables.nullValue': 'load.invalidValue',
  'storage.tables.columnNeedsValues': 'load.invalidValue',
  'storage.dataTests.failed': 'load.testsFailed',
  'storage.tables.columnAlreadyExists': 'load.columnsDiffer',
  'storage.tables.columnNotExists': 'load.columnsDiffer',
  'storage.tables.invalidColumnName': 'load.columnsDiffer',
  'storage.tables.validation.noColumns': 'load.columnsDiffer',
  'storage.tables.validation.columnNotExists': 'load.columnsDiffer',
  'storage.tables.validation.invalidColumnName': 'load.columnsDiffer',
  'storage.tables.validation.invalidPrimaryKeyColumns': 'load.columnsDiffer',
  'storage.maxNumberOfColumnsExceed': 'load.columnsDiffer',
  'sql.timeout': 'sql.tooMuch',
  'sql.tooMuch': 'sql.tooMuch',
  'sql.scriptFailed': 'sql.failed',
}
