// The log of a table's changes as versions of its rows: each is valid from its own change until the next one of the same key.

import { identifier } from '../sql.ts'

/** Behind the columns of the table: when a row came or went, with which state, and how (insert, update or delete). */
export const HISTORY_COLUMNS = ['valid_from', 'history_state', 'history_change'] as const

export const historyTableOf = (tableId: string): string => `${tableId}_history`

/** `log`: a select over the rows of the log. */
export function validitySelect(log: string, columns: readonly string[], primaryKey: readonly string[]): string {
  const [validFrom, state, change] = HISTORY_COLUMNS
  const names = columns.map(identifier).join(', ')
  const next = `lead(CAST(${validFrom} AS TIMESTAMP)) OVER (PARTITION BY ${primaryKey.map(identifier).join(', ')} ORDER BY CAST(${state} AS BIGINT))`
  const versions = `SELECT ${names}, CAST(${validFrom} AS TIMESTAMP) AS valid_from, ${next} AS valid_to, ${change} AS history_change FROM (${log}) log`
  return `SELECT ${names}, valid_from, valid_to, valid_to IS NULL AS is_current FROM (${versions}) WHERE history_change <> 'delete'`
}
