// What the writer needs of a database, whichever it is. Names in statements are quoted as standard SQL has it.

import type { InputColumn, InputTable } from '../../../connector-kit/src/input-table.ts'

export interface TableName {
  readonly schema: string
  readonly name: string
}

export interface TargetColumn {
  readonly name: string
  /** The type as the database writes it. */
  readonly native: string
  /** An empty text is a value of the type. */
  readonly isText: boolean
  /** A row may leave it out. */
  readonly isOptional: boolean
}

/** Where each column of a file goes; undefined: nowhere. */
export type Places = readonly (Place | undefined)[]

export interface Place {
  /** In the table that is loaded. */
  readonly column: string
  readonly isBoolean: boolean
  /** An empty text becomes NULL. */
  readonly emptyIsNull: boolean
}

export interface NewColumn {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
}

export interface Target {
  /** For statements. */
  nameOf(table: TableName): string
  /** Undefined when there is no such table. */
  describe(table: TableName): Promise<readonly TargetColumn[] | undefined>
  typeFor(column: InputColumn, isKey: boolean): string
  /** Answers the number of rows that were changed. */
  execute(sql: string): Promise<number>
  ask(sql: string): Promise<readonly (readonly (string | null)[])[]>
  /** Statements that a person wrote. */
  script(sql: string): Promise<void>
  begin(): Promise<void>
  commit(): Promise<void>
  rollback(): Promise<void>
  /** CREATE TABLE cannot be rolled back: it ends the transaction. */
  readonly commitsDefinitions: boolean
  /**
   * Whether a part of the transaction can be rolled back. Without, rows with values that do not fit are still rejected, because stages are
   * filled outside of the transaction; a row that breaks a rule of the table stops the delivery.
   */
  readonly hasSavepoints: boolean
  /** For statements over stages alone. */
  readonly stages: { execute(sql: string): Promise<number>; ask(sql: string): Promise<readonly (readonly (string | null)[])[]> }
  /** A table of this session, with columns of these expressions over the target and, first, the number of the row if `isNumbered`. */
  makeStage(name: string, columns: readonly StageColumn[], from: string, isNumbered: boolean): Promise<void>
  /** Answers the number of rows. `table` is for statements; a number column that it has is filled by the load. */
  load(input: InputTable, table: string, places: Places, isNumbered: boolean): Promise<number>
  /** Keeps other writers from the table until the transaction ends, and lets readers read. */
  lock(table: string): Promise<void>
  /** Removes all rows, within the transaction. */
  empty(table: string): Promise<void>
  /** Whether two values differ, where two NULLs do not. */
  differ(a: string, b: string, column: TargetColumn): string
  /** Of a value of the text stage, as the column requires it. */
  converted(value: string, column: TargetColumn): string
  update(request: UpdateRequest): string
  /** DELETE; the table has the alias `t` in the condition. */
  remove(table: string, where: string): string
  /** After a stage was loaded, before it is joined. */
  analyze(stage: string): Promise<void>
  close(): Promise<void>
}

export interface StageColumn {
  readonly name: string
  /** A column of the target; undefined: a text. */
  readonly like: string | undefined
}

/** Aliases: `t` is the target, `s` the stage. */
export interface UpdateRequest {
  readonly target: string
  readonly stage: string
  readonly match: string
  readonly assignments: readonly { readonly column: string; readonly value: string }[]
  readonly where: string
}

export const NUMBER = 'n'
