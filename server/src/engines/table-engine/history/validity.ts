// The log of a table's changes as versions of its rows: each is valid from its own change until the next one of the same key, or until the
// log was restarted: changes before that are unknown.

import { identifier } from '../sql.ts'

/** Behind the columns of the table: when a row came or went, with which state, and how: insert, update or delete, or `start`, of no row. */
export const HISTORY_COLUMNS = ['valid_from', 'history_state', 'history_change'] as const

export const historyTableOf = (tableId: string): string => `${tableId}_history`

/** `changes`: a select over the rows of the log. */
export function validitySelect(changes: string, columns: readonly string[], primaryKey: readonly string[]): string {
  const [validFrom, state, change] = HISTORY_COLUMNS
  const names = columns.map(identifier).join(', ')
  const log = `SELECT *, CAST(${validFrom} AS TIMESTAMP) AS log_time, CAST(${state} AS BIGINT) AS log_state FROM (${changes})`
  const next = `lead(log_time) OVER (PARTITION BY ${primaryKey.map(identifier).join(', ')} ORDER BY log_state)`
  const newStart = `(SELECT min(s.log_time) FROM (${log}) s WHERE s.${change} = 'start' AND s.log_state > log.log_state)`
  const versions = `SELECT ${names}, log_time AS valid_from, least(${next}, ${newStart}) AS valid_to, ${change} AS history_change FROM (${log}) log WHERE ${change} <> 'start'`
  return `SELECT ${names}, valid_from, valid_to, valid_to IS NULL AS is_current FROM (${versions}) WHERE history_change <> 'delete'`
}
