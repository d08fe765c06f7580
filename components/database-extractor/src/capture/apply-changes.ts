// Messages of the stream become rows of files: what is to be stored, and what leaves its table.

import { UserError } from '../../../http-extractor/src/errors.ts'
import type { ChangeFile } from './change-file.ts'
import type { Message, RelationMessage, Value } from './pgoutput.ts'
import type { CaptureSettings } from './settings.ts'
import { type CaptureColumn, nameOf, type TableShape } from './source.ts'

export interface AppliedChanges {
  /** False: the stream must end here. */
  take(message: Message): boolean
  /** Rows of a shape that the table does not have as it was read from the catalogue. */
  readonly unknownShape: { readonly shape: TableShape; readonly relation: RelationMessage } | undefined
  /** Take rows of this shape all the same: it is an older one. */
  accept(relation: RelationMessage): void
  /** A row as it is now. */
  write(shape: TableShape, row: readonly (string | null)[]): void
  /** Keys of rows some of whose values were not sent. */
  unsentOf(shape: TableShape): Iterable<readonly string[]>
}

interface Setup {
  readonly shapes: readonly TableShape[]
  readonly fileOf: (shape: TableShape) => ChangeFile
  /** Only transactions that were committed from here on concern the table. */
  readonly startOf: (shape: TableShape) => bigint
  /** How many columns follow that the table has in the project only. */
  readonly droppedOf: (shape: TableShape) => number
  readonly settings: Pick<CaptureSettings, 'deletes' | 'invalidValues'>
}

/** A table of the stream. */
interface Target {
  readonly shape: TableShape
  readonly relation: RelationMessage
  readonly isKnown: boolean
  readonly file: ChangeFile
  readonly start: bigint
  /** For each column of the table its place in the rows of the stream; -1: they do not have it. */
  readonly places: readonly number[]
  readonly keyPlaces: readonly number[]
  readonly unsent: Map<string, readonly string[]>
}

/** Keys that are remembered; with more of them the run ends, and the next one continues. */
const MAX_UNSENT = 200_000

export function applyChanges({ shapes, fileOf, startOf, droppedOf, settings }: Setup): AppliedChanges {
  const { deletes } = settings
  const shapeByName = new Map(shapes.map((shape) => [`${shape.table.schema}\n${shape.table.name}`, shape]))
  const unsent = new Map(shapes.map((shape) => [shape, new Map<string, readonly string[]>()]))
  const targets = new Map<number, Target>()
  const accepted = new Set<string>()
  const cleaners = new Map(shapes.map((shape) => [shape, shape.columns.map((column) => cleaner(column, settings.invalidValues))]))
  let unknownShape: AppliedChanges['unknownShape']
  let commitAt = 0n
  let touched = new Set<ChangeFile>()

  function takeRelation(relation: RelationMessage): void {
    targets.delete(relation.id)
    const shape = shapeByName.get(`${relation.schema}\n${relation.name}`)
    if (!shape) return
    const placeOf = (name: string) => relation.columns.findIndex((column) => column.name === name)
    targets.set(relation.id, {
      shape,
      relation,
      isKnown: isShape(shape, relation) || accepted.has(JSON.stringify(relation)),
      file: fileOf(shape),
      start: startOf(shape),
      places: shape.columns.map(({ name }) => placeOf(name)),
      keyPlaces: shape.key.map(placeOf),
      unsent: unsent.get(shape)!, // made for all of them
    })
  }

  /** Undefined: of a table that is not captured, or in its snapshot. */
  const targetOf = (relation: number): Target | undefined => {
    const target = targets.get(relation)
    if (!target || commitAt < target.start) return undefined
    if (!target.isKnown) throw new UnknownShape(target)
    if (!touched.has(target.file)) {
      touched.add(target.file)
      target.file.begin()
    }
    return target
  }

  const keyOf = ({ keyPlaces, shape }: Target, row: readonly Value[]): readonly string[] =>
    keyPlaces.map((place) => {
      const value = row[place]
      if (value === undefined || value === null)
        throw new UserError(`A change of ${nameOf(shape.table)} has no key. Check its REPLICA IDENTITY.`)
      return value
    })

  /** A row as the table has it now; `before` has the values that were not sent. */
  function put(target: Target, row: readonly Value[], before: readonly Value[] | undefined): void {
    const { places, shape } = target
    const clean = cleaners.get(shape)! // made for all of them
    const cells: (string | null)[] = []
    for (let at = 0; at < places.length; at++) {
      const place = places[at] ?? -1
      const value = place === -1 ? null : row[place] === undefined ? before?.[place] : row[place]
      const cell = value === undefined ? undefined : clean[at]!(value) // as many as columns
      if (cell === undefined) {
        const key = keyOf(target, row)
        target.unsent.set(JSON.stringify(key), key)
        return
      }
      cells.push(cell)
    }
    write(shape, cells)
  }

  function write(shape: TableShape, cells: readonly (string | null)[], isGone = false): void {
    const flag = deletes === 'flag' ? [String(isGone)] : []
    const dropped = Array.from({ length: droppedOf(shape) }, () => null)
    fileOf(shape).write([...cells, ...flag, ...dropped, String(isGone && deletes === 'remove')])
  }

  function remove(target: Target, old: readonly Value[]): void {
    if (deletes === 'ignore') return
    const { places, shape } = target
    const key = keyOf(target, old)
    target.unsent.delete(JSON.stringify(key))
    const clean = cleaners.get(shape)! // made for all of them
    const cells = places.map((place, at) => {
      const value = place === -1 ? null : (old[place] ?? null)
      return deletes === 'flag' || shape.key.includes(shape.columns[at]!.name) ? (clean[at]!(value) ?? null) : null
    })
    write(shape, cells, true)
  }

  const isOtherKey = ({ keyPlaces }: Target, row: readonly Value[], old: readonly Value[]): boolean =>
    keyPlaces.some((place) => row[place] !== undefined && row[place] !== old[place])

  /** What was written of the transaction is void. */
  function take(message: Message): boolean {
    try {
      return apply(message)
    } catch (error) {
      if (!(error instanceof UnknownShape)) throw error
      unknownShape = error.target
      for (const file of touched) file.rollBack()
      return false
    }
  }

  function apply(message: Message): boolean {
    switch (message.kind) {
      case 'begin':
        commitAt = message.commitAt
        touched = new Set()
        return true
      case 'commit':
        return [...unsent.values()].reduce((sum, keys) => sum + keys.size, 0) < MAX_UNSENT
      case 'relation':
        takeRelation(message)
        return true
      case 'insert': {
        const target = targetOf(message.relation)
        if (target) put(target, message.row, undefined)
        return true
      }
      case 'update': {
        const target = targetOf(message.relation)
        if (!target) return true
        const { row, old, isWhole } = message
        if (old && isOtherKey(target, row, old)) remove(target, old)
        put(target, row, isWhole ? old : undefined)
        return true
      }
      case 'delete': {
        const target = targetOf(message.relation)
        if (target) remove(target, message.old)
        return true
      }
      case 'truncate':
        for (const relation of message.relations) {
          const target = deletes === 'ignore' ? undefined : targetOf(relation)
          target?.file.empty()
          target?.unsent.clear()
        }
        return true
      case 'other':
        return true
    }
  }

  return {
    take,
    get unknownShape() {
      return unknownShape
    },
    accept(relation) {
      accepted.add(JSON.stringify(relation))
      unknownShape = undefined
    },
    write: (shape, row) => write(shape, row),
    unsentOf: (shape) => unsent.get(shape)?.values() ?? [],
  }
}

class UnknownShape extends Error {
  readonly target: Pick<Target, 'shape' | 'relation'>
  constructor(target: Target) {
    super('a change of a table that has another shape')
    this.target = target
  }
}

/** The columns that are captured, in any order; columns that were dropped or are generated may be there, too. */
const isShape = ({ columns }: TableShape, relation: RelationMessage): boolean =>
  relation.columns.every(({ name }) => columns.some((column) => column.name === name)) &&
  columns.every((column) =>
    relation.columns.some(
      ({ name, typeId, modifier }) => name === column.name && typeId === column.typeId && modifier === column.modifier,
    ),
  )

type Clean = (value: string | null) => string | null | undefined

/** As the snapshot has the value. Undefined: the stream has it in another form, so the row has to be read. */
function cleaner({ native, base }: CaptureColumn, invalidValues: CaptureSettings['invalidValues']): Clean {
  if (/^(geometry|geography)\b/.test(native)) return (value) => (value === null ? null : undefined)
  const isZoned = /^timestamp(\(\d\))? with time zone$/.test(native)
  const plain = (value: string): string => (isZoned ? value.replace(/\+00( BC)?$/, '$1') : value)
  const isInvalid =
    invalidValues !== 'null'
      ? () => false
      : base === 'NUMERIC'
        ? (value: string) => value === 'NaN'
        : base === 'DATE' || base === 'TIMESTAMP'
          ? (value: string) => !/^\d{4}-/.test(value) || value.endsWith(' BC')
          : () => false
  return (value) => (value === null || isInvalid(value) ? null : plain(value))
}
