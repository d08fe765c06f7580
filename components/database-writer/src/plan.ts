// Which column goes where, and whether the table in the database can take it.

import type { InputColumn, InputTable } from '../../connector-kit/src/input-table.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import type { Delivery } from './configuration.ts'
import type { Places, Target, TargetColumn } from './targets/target.ts'

export interface PlannedColumn {
  /** In the file of the input mapping. */
  readonly at: number
  readonly source: InputColumn
  /** For a table that is created. */
  readonly type: string
  readonly target: TargetColumn
  readonly isKey: boolean
  /** In the stage. */
  readonly staged: string
}

export interface Plan {
  readonly columns: readonly PlannedColumn[]
  readonly key: readonly PlannedColumn[]
  /** The column of the file that marks deleted rows. */
  readonly deletedAt: number | undefined
  readonly exists: boolean
}

/** What the input mapping calls the kind of change: insert, update or delete. */
const CHANGE_COLUMN = '_change'

export async function planOf(
  target: Pick<Target, 'nameOf' | 'describe' | 'typeFor'>,
  delivery: Delivery,
  input: InputTable,
): Promise<Plan> {
  const { mode, table } = delivery
  const hasChanges = input.columns.some(({ name }) => name === CHANGE_COLUMN)
  if (hasChanges && mode !== 'upsert')
    throw new UserError(
      `The changes of ${input.id} have deleted rows, too: use the mode "upsert", or take the table without changes.`,
    )
  const deletedColumn = delivery.deletedColumn ?? (hasChanges ? CHANGE_COLUMN : undefined)
  const places = new Map(input.columns.map(({ name }, at) => [name, at]))
  const placeOf = (name: string, where: string): number => {
    const at = places.get(name)
    if (at === undefined)
      throw new UserError(
        `${where} names "${name}", which is not a column of ${input.id}. It has ${[...places.keys()].join(', ')}.`,
      )
    return at
  }
  const choices =
    delivery.columns ??
    input.columns
      .filter(({ name }) => name !== deletedColumn)
      .map(({ name }) => ({ source: name, target: name, type: undefined }))
  const renamed = new Map(choices.map((choice) => [choice.source, choice.target]))
  const keyNames = delivery.primaryKey ?? input.primaryKey.map((name) => renamed.get(name) ?? name)
  const lost = keyNames.find((name) => !choices.some((choice) => choice.target === name))
  if (lost !== undefined && (mode === 'upsert' || mode === 'delete' || delivery.primaryKey))
    throw new UserError(`primaryKey names "${lost}", which is not a column that is delivered.`)
  if (keyNames.length === 0 && (mode === 'upsert' || mode === 'delete'))
    throw new UserError(`The mode "${mode}" needs a key: set primaryKey, or give ${input.id} a primary key.`)
  const found = await target.describe(table)
  if (!found && (mode === 'delete' || !delivery.create))
    throw new UserError(
      `The table ${target.nameOf(table)} does not exist in the database.${mode === 'delete' ? '' : ' Create it, or set "create": true.'}`,
    )
  const columns = choices
    .filter((choice) => mode !== 'delete' || keyNames.includes(choice.target))
    .map((choice, index): PlannedColumn => {
      const at = placeOf(choice.source, 'columns')
      const source = input.columns[at]! // just found
      const isKey = keyNames.includes(choice.target)
      const type = choice.type ?? target.typeFor(source, isKey)
      const own = found
        ? found.find(({ name }) => name === choice.target)
        : { name: choice.target, native: type, isText: source.base === 'STRING', isOptional: true }
      if (!own)
        throw new UserError(
          `The table ${target.nameOf(table)} has no column "${choice.target}". It has ${found?.map(({ name }) => name).join(', ')}; add the column, or choose others in columns.`,
        )
      return { at, source, type, target: own, isKey, staged: `c${index}` }
    })
  const missing =
    mode === 'delete'
      ? undefined
      : found?.find(({ name, isOptional }) => !isOptional && !columns.some((one) => one.target.name === name))
  if (missing)
    throw new UserError(
      `The column "${missing.name}" of ${target.nameOf(table)} must have a value, and no column is delivered to it.`,
    )
  return {
    columns,
    key: columns.filter(({ isKey }) => isKey),
    deletedAt: deletedColumn === undefined ? undefined : placeOf(deletedColumn, 'deletedColumn'),
    exists: found !== undefined,
  }
}

/** `names`: of the table that is loaded. */
export function placesOf(
  plan: Plan,
  input: InputTable,
  { emptyAsNull }: Delivery,
  nameOf: (column: PlannedColumn) => string,
  flag?: string,
): Places {
  return input.columns.map((_, at) => {
    const column = plan.columns.find((one) => one.at === at)
    if (column)
      return {
        column: nameOf(column),
        isBoolean: column.source.base === 'BOOLEAN',
        emptyIsNull: emptyAsNull || !column.target.isText,
      }
    return at === plan.deletedAt && flag !== undefined ? { column: flag, isBoolean: false, emptyIsNull: true } : undefined
  })
}
