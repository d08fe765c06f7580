// Why jobs fail, in one list: what programs and people group failures by, and what to do about each. tools/errors-doc.ts writes it into
// docs/errors.md. A component may name one of these kinds in `out/failure.json`; it needs none of ours to have words of its own.

export interface CauseEntry {
  /** Who finds it out. */
  readonly by: 'extractor' | 'loader' | 'runner' | 'sql'
  readonly text: string
  readonly advice: string
}

export const CAUSES = {
  'http.unauthorized': {
    by: 'extractor',
    text: 'The API did not accept the credentials (401).',
    advice: 'Check the credentials in api.authentication; a login that ends early needs `expires`.',
  },
  'http.forbidden': {
    by: 'extractor',
    text: 'The API accepts the credentials but denies the request (403).',
    advice: 'Ask the owner of the API for the missing permission, or remove the request.',
  },
  'http.notFound': {
    by: 'extractor',
    text: 'Nothing exists at the URL (404, 410).',
    advice: 'Check api.baseUrl and the endpoint of the job.',
  },
  'http.tooManyRequests': {
    by: 'extractor',
    text: 'The API limits the number of requests, and went on doing so after all retries (429, 420).',
    advice: 'Lower config.maxRequestsPerSecond or concurrency, or allow more retries in api.retryConfig.',
  },
  'http.rejected': {
    by: 'extractor',
    text: 'The API refused the request as wrong (another 4xx status).',
    advice: 'Compare the method, parameters and headers of the job with the documentation of the API.',
  },
  'http.serverError': {
    by: 'extractor',
    text: 'The API failed by itself, and went on doing so after all retries (5xx).',
    advice: 'Run the job again later; config.resume keeps what was received.',
  },
  'login.failed': {
    by: 'extractor',
    text: 'The login request was refused, or its answer cannot be used.',
    advice: 'Check api.authentication.loginRequest and what it answers.',
  },
  'network.nameNotFound': {
    by: 'extractor',
    text: 'The host has no address.',
    advice: 'Check the host in api.baseUrl, and the name server of this machine.',
  },
  'network.unreachable': {
    by: 'extractor',
    text: 'The host did not accept a connection.',
    advice: 'Check the host and the port, and whether the API is up.',
  },
  'network.timeout': {
    by: 'extractor',
    text: 'No answer came in time.',
    advice: 'Run the job again later, ask for smaller pages, or raise api.http.requestTimeout.',
  },
  'network.tls': {
    by: 'extractor',
    text: 'No secure connection could be made: the certificate was refused, or the protocols do not fit.',
    advice: 'Check the certificate of the host; a private authority is named in api.caCertificate.',
  },
  'network.interrupted': {
    by: 'extractor',
    text: 'The connection was closed in the middle of a response.',
    advice: 'Run the job again; config.resume keeps what was received.',
  },
  'network.refusedHere': {
    by: 'extractor',
    text: 'This stack does not let components connect to that address.',
    advice: 'Use a public address, or ask the operator to add it to MILLRACE_EGRESS_ALLOW.',
  },
  'response.unreadable': {
    by: 'extractor',
    text: 'The response is not JSON, or does not match responseType.',
    advice: 'Look at the answer with the action previewPage, and set responseType where the API sends something else.',
  },
  'response.noItems': {
    by: 'extractor',
    text: 'The answer has no list of items where one was looked for.',
    advice: 'Set dataField of the job to the path of the list.',
  },
  'pagination.endless': {
    by: 'extractor',
    text: 'The pagination requests the same page again.',
    advice: 'Check api.pagination: the value that leads to the next page does not change.',
  },
  'configuration.invalid': {
    by: 'runner',
    text: 'The configuration has a value that cannot be used, or lacks one.',
    advice: 'Correct the named member of the configuration.',
  },
  'configuration.variableMissing': {
    by: 'runner',
    text: 'A variable of the configuration has no value.',
    advice: 'Give the variable a value: in the vault, in the row of values, or with the job.',
  },
  'configuration.notFound': {
    by: 'runner',
    text: 'The configuration, a row, its shared code or its variables no longer exist.',
    advice: 'Restore what was deleted, or choose another one.',
  },
  'input.missing': {
    by: 'runner',
    text: 'A table, column or file of the input mapping does not exist, or the token may not read it.',
    advice: 'Correct the input mapping, or run first what makes the table.',
  },
  'output.invalid': {
    by: 'runner',
    text: 'The results do not fit the output mapping or their manifests.',
    advice: 'Compare the output mapping with what the component wrote.',
  },
  'run.outOfMemory': {
    by: 'runner',
    text: 'The program needed more memory than it may have.',
    advice: 'Choose a larger backend (runtime.backend.type), or let it read less at a time.',
  },
  'run.timeout': {
    by: 'runner',
    text: 'The program ran longer than it may.',
    advice: 'Raise runtime.process_timeout, or divide the work into rows.',
  },
  'run.diskFull': {
    by: 'runner',
    text: 'The run needed more disk than it may have, or than is left.',
    advice: 'Read or write less, or ask the operator for more disk (MILLRACE_RUN_DISK_BYTES).',
  },
  'run.componentFailed': {
    by: 'runner',
    text: 'The component failed with its own message.',
    advice: 'Read the message and the log of the job.',
  },
  'run.componentBroken': {
    by: 'runner',
    text: 'The component crashed, or broke the rules of a run.',
    advice: 'Read the log of the job; report it to the author of the component.',
  },
  'run.componentMissing': {
    by: 'runner',
    text: 'The component or a processor is not installed, or its image cannot be fetched.',
    advice: 'Install the component, or ask the operator for it.',
  },
  'run.workerLost': {
    by: 'runner',
    text: 'The node that ran the job was stopped or lost.',
    advice: 'Run the job again; what its finished rows wrote is kept.',
  },
  'run.internal': {
    by: 'runner',
    text: 'An error of the platform itself.',
    advice: 'Run the job again; the exception id finds the details in the log.',
  },
  'load.unreadableCsv': {
    by: 'loader',
    text: 'A result is not valid CSV: a quote that is not closed, a row with more or fewer values than columns, a wrong encoding.',
    advice: 'Correct the named line, or set delimiter and enclosure in the output mapping.',
  },
  'load.columnsDiffer': {
    by: 'loader',
    text: 'The columns of a result do not fit the table or its primary key.',
    advice: 'Correct columns and primary_key in the output mapping, or change the table.',
  },
  'load.invalidValue': {
    by: 'loader',
    text: 'A value does not fit the type of its column, or is missing where one is required.',
    advice: 'Correct the value, or change the type of the column.',
  },
  'load.testsFailed': {
    by: 'loader',
    text: 'Rows of a result fail the data tests of their table, so the table stays as it was.',
    advice: 'Read the rows that failed in the named file; correct the data, or change the tests of the table.',
  },
  'load.refused': {
    by: 'loader',
    text: 'The table cannot be written: another definition, an alias, no permission.',
    advice: 'Choose another destination in the output mapping, or change the table.',
  },
  'sql.syntax': {
    by: 'sql',
    text: 'A statement is not valid SQL of DuckDB, or is not allowed in a script.',
    advice: 'Correct the statement at the named line and character.',
  },
  'sql.unknownTable': {
    by: 'sql',
    text: 'A statement or the output mapping names a table that does not exist.',
    advice: 'Add the table to the input mapping, or correct its name.',
  },
  'sql.unknownColumn': {
    by: 'sql',
    text: 'A statement names a column that does not exist.',
    advice: 'Correct the name of the column, or add it to the input mapping.',
  },
  'sql.invalidValue': {
    by: 'sql',
    text: 'A value cannot be converted to the type that a statement requires.',
    advice: 'Use try_cast, or correct the value.',
  },
  'sql.tooMuch': {
    by: 'sql',
    text: 'A statement needed more memory, disk or time than it may have.',
    advice: 'Read fewer rows or columns, or choose a larger backend.',
  },
  'sql.failed': { by: 'sql', text: 'A statement failed for another reason.', advice: 'Read the message of the engine.' },
  'parts.failed': {
    by: 'runner',
    text: 'Rows of a container or tasks of a flow failed.',
    advice: 'Look at the jobs below this one: each has its own cause.',
  },
} as const satisfies Record<string, CauseEntry>

export type CauseKind = keyof typeof CAUSES

export const isCauseKind = (kind: string): kind is CauseKind => Object.hasOwn(CAUSES, kind)

/** What is known of a failure besides its message; the code that notices it reports as much as it has. */
export interface FailureFacts {
  readonly kind?: CauseKind
  /** What else failures with one cause have in common: a host, a table. */
  readonly subject?: string
  /** JSON pointer into the effective configuration (RFC 6901): `/parameters/api/authentication`. */
  readonly pointer?: string
  readonly request?: FailedRequest
  readonly place?: FailurePlace
  readonly advice?: string
}

/** Of an extractor; the address without secrets. */
export interface FailedRequest {
  readonly method?: string
  readonly url?: string
  readonly status?: number
  readonly endpoint?: string
  readonly page?: number
}

/** Of a load: table, file, line, column. Of a script: block, code, statement, line, character. */
export interface FailurePlace {
  readonly table?: string
  readonly file?: string
  readonly line?: number
  readonly column?: string
  readonly block?: string
  readonly code?: string
  readonly statement?: number
  readonly character?: number
}

/** Where a component may leave the details of its failure, in its data folder. */
export const FAILURE_FILE = 'out/failure.json'

/** `['parameters', 'a/b']` is `/parameters/a~1b`. */
export const jsonPointer = (parts: readonly (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
