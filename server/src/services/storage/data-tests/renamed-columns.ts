// Tests keep what they test when a column is renamed. Texts of SQL are of people, who change them.

import type { TestRule } from './test-rules.ts'

export interface RenamedColumn {
  readonly tableId: string
  readonly from: string
  readonly to: string
}

/** The rule of a test of `tableId`, with the new name wherever it named the column. */
export function afterRename(rule: TestRule, tableId: string, renamed: RenamedColumn): TestRule {
  const name = (table: string, one: string): string => (table === renamed.tableId && one === renamed.from ? renamed.to : one)
  const own = (one: string): string => name(tableId, one)
  switch (rule.type) {
    case 'notNull':
    case 'unique':
      return { ...rule, columns: rule.columns.map(own) }
    case 'schema': {
      const columns = rule.columns.map((column) => ({ ...column, name: own(column.name) }))
      return { ...rule, columns, ...(rule.primaryKey && { primaryKey: rule.primaryKey.map(own) }) }
    }
    case 'relationships':
      return { ...rule, column: own(rule.column), toColumn: name(rule.toTable, rule.toColumn) }
    case 'acceptedValues':
    case 'range':
    case 'pattern':
      return { ...rule, column: own(rule.column) }
    case 'usual':
    case 'freshness':
      return rule.column === undefined ? rule : { ...rule, column: own(rule.column) }
    case 'rowCount':
    case 'sql':
    case 'dbt':
      return rule
  }
}
