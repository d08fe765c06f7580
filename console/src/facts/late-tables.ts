// Which late tables a failure explains: those that the failed job should have loaded, and those that wait for them.

import type { JudgedFreshness } from '../../../client/src/operations.ts'

export function lateBecauseOf(jobIds: ReadonlySet<string>, late: readonly JudgedFreshness[]): readonly JudgedFreshness[] {
  const explained = new Set(late.filter(({ failure }) => failure && jobIds.has(failure.jobId)))
  const waiting = ({ lateInputs }: JudgedFreshness): boolean => [...explained].some(({ tableId }) => lateInputs.includes(tableId))
  for (let size = -1; size !== explained.size; ) {
    size = explained.size
    for (const table of late) if (waiting(table)) explained.add(table)
  }
  return late.filter((table) => explained.has(table))
}
