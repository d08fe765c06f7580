// Sealed segments into tables. The transaction that shows the rows also writes that the segment is loaded, so a segment that is loaded
// again after a crash is recognised; its file goes last.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { type RecordLog, readSegment, type Segment, withTextFile } from '../../../engines/record-log/record-log.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { csvLine } from '../../../kit/text/double-quoted.ts'
import type { RunScope, RunTables, TableLoad } from '../../../model/run-ports.ts'
import { rowOf, type StreamRecord } from './columns.ts'
import { createStreamsStore, type Sink, type Source } from './streams.store.ts'

export interface BatchesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly scratchFolder: string
  readonly tables: Pick<RunTables, 'loadAll'>
  readonly isDefaultBranch: (projectId: number, branchId: number) => Promise<boolean>
  readonly baseUrl: () => string
}

export type Batches = ReturnType<typeof createBatches>

export function createBatches(deps: BatchesDeps) {
  const { clock } = deps
  const store = createStreamsStore(deps.db)

  /** Loads every sealed segment of a source, the oldest first. Throws when a table cannot be loaded; what is left is tried again. */
  async function loadSealed(sourceKey: number, log: RecordLog, signal: AbortSignal): Promise<void> {
    const source = await store.findSourceByKey(sourceKey)
    if (source) await log.sealIfFull(source.limits)
    else await log.close() // it is no longer written to: its contents are deleted with it
    for (const segment of log.sealed()) {
      if (signal.aborted) return
      if (source) await loadSegment(source, segment, signal)
      await log.remove(segment, store.forgetLoads) // of a source that is gone, or loaded everywhere
    }
  }

  async function loadSegment(source: Source, segment: Segment, signal: AbortSignal): Promise<void> {
    const sinks = (await store.listSinks(source.projectId, source.key)).filter(({ isDisabled }) => !isDisabled)
    if (sinks.length === 0) return
    const records = await readSegment(segment)
    if (records.length === 0) return
    for (const sink of sinks) {
      if (await store.isLoaded(sink.key, segment.id)) continue
      await loadSink(source, sink, segment, records, signal)
    }
  }

  async function loadSink(source: Source, sink: Sink, segment: Segment, records: readonly Buffer[], signal: AbortSignal) {
    const scope = await scopeOf(source, sink)
    try {
      await withTextFile(deps.scratchFolder, linesOf(sink, records), (path) =>
        deps.tables.loadAll(
          scope,
          [appendTo(sink, path, source.branchId)],
          async (trx) => {
            const now = clock.now().getTime()
            if (!(await store.recordLoad(trx, sink, segment.id, records.length, now))) throw new SinkChanged()
          },
          signal,
        ),
      )
    } catch (error) {
      if (error instanceof PlatformError) await store.recordFailure(sink, error.message)
      throw error
    }
  }

  const scopeOf = async ({ projectId, branchId }: Source, { actor }: Sink): Promise<RunScope> => ({
    actor,
    projectId,
    branchId,
    isDefaultBranch: await deps.isDefaultBranch(projectId, branchId),
    runId: '',
    baseUrl: deps.baseUrl(),
  })

  return { loadSealed }
}

/** The batch is tried again with the columns that the sink has now. */
class SinkChanged extends Error {
  override readonly message = 'The sink was changed while a batch of it was loaded.'
}

function* linesOf(sink: Sink, records: readonly Buffer[]): Generator<string> {
  for (const record of records) yield csvLine(rowOf(sink.columns, JSON.parse(record.toString()) as StreamRecord)) // written by receive
}

const appendTo = (sink: Sink, path: string, branchId: number): TableLoad => ({
  destination: sink.tableId,
  files: [path],
  columns: sink.columns.map(({ name }) => name),
  hasHeader: false,
  incremental: true,
  primaryKey: undefined,
  delimiter: ',',
  enclosure: '"',
  schema: undefined,
  nullValues: undefined,
  modifications: undefined,
  deduplication: undefined,
  deleteWhere: [],
  metadata: [],
  columnMetadata: {},
  description: undefined,
  writer: { componentId: 'platform.stream', configurationId: null, rowId: null, branchId },
})
