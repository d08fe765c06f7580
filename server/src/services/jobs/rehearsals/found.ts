// What a rehearsal found.

import type { Comparison } from './compare.ts'
import type { Place, Plan } from './plan.ts'

export interface Found {
  readonly steps: readonly (Place & { readonly jobId: string; readonly status: string; readonly error: string | null })[]
  readonly tables: readonly ({ readonly id: string } & Comparison)[]
  /** Tables beyond those that were compared. */
  readonly tablesLeftOut: number
}

export const differs = ({ added, removed, changed, addedColumns, removedColumns }: Comparison): boolean =>
  added + removed + changed + addedColumns.length + removedColumns.length > 0

export const rowsOf = ({ added, removed, changed }: Comparison): number => added + removed + changed

const MAX_NAMED = 3

/** `readable`: the tables that the caller may read. Others are counted. */
export function summaryOf(readable: Found['tables'], found: Found, { notRun }: Pick<Plan, 'notRun'>): string {
  const compared = readable.filter(({ problem }) => problem === undefined)
  const different = compared.filter(differs)
  const hidden = found.tables.filter(differs).length - different.length
  const notCompared = found.tables.filter(({ problem }) => problem !== undefined).length
  const isWhole = hidden + notCompared + found.tablesLeftOut === 0
  const rows = different.reduce((sum, table) => sum + rowsOf(table), 0)
  const failed = found.steps.filter(({ status }) => status !== 'success').length
  const sentences: (string | false)[] = [
    different.length > 0
      ? `${counted(rows, 'row')} ${rows === 1 ? 'differs' : 'differ'} in ${counted(different.length, 'table')}.`
      : found.tables.length === 0 && !(isWhole && failed + notRun.length === 0)
        ? 'No table was compared.'
        : isWhole
          ? 'No row differs.'
          : compared.length > 0 && `No row differs in ${counted(compared.length, 'table')}.`,
    hidden > 0 && `${counted(hidden, 'table')} that the caller may not read ${hidden === 1 ? 'differs' : 'differ'}.`,
    notCompared > 0 && `${counted(notCompared, 'table')} could not be compared${namesOf(readable)}.`,
    found.tablesLeftOut > 0 &&
      `${counted(found.tablesLeftOut, 'table')} ${found.tablesLeftOut === 1 ? 'was' : 'were'} left out of the comparison.`,
    failed > 0 && `${counted(failed, 'configuration')} failed.`,
    notRun.length > 0 && `${counted(notRun.length, 'configuration')} could not be rehearsed.`,
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

function namesOf(readable: Found['tables']): string {
  const names = readable.filter(({ problem }) => problem !== undefined).map(({ id }) => id)
  if (names.length === 0) return ''
  return `: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ' and others' : ''}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
