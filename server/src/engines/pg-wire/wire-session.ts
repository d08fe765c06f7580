// What the PostgreSQL protocol needs from the code that executes statements. The protocol has no notion of tables, tokens and SQL.

/** A column of a result as the protocol describes it. */
export interface WireColumn {
  readonly name: string
  /** Object id of the type in PostgreSQL's own catalogue. */
  readonly oid: number
  /** Modifier of the type, for example precision and scale; -1 for none. */
  readonly modifier: number
}

/** How a value is written: 0 is text, 1 is binary. */
export type Format = 0 | 1

export interface WireStatement {
  /** Types of the parameters and columns of the result; `columns` undefined when there is no result. */
  describe(): Promise<{ readonly parameters: readonly number[]; readonly columns: readonly WireColumn[] | undefined }>
  bind(values: readonly (string | null)[], formats: readonly Format[]): WirePortal
}

/** A statement with its values. `open` runs it; a second call continues the same result. */
export interface WirePortal {
  columns(): Promise<readonly WireColumn[] | undefined>
  open(): Promise<WireResult>
  /** Whatever runs fails soon; the portal is of no use any more. */
  cancel(): void
  close(): Promise<void>
}

export interface WireResult {
  readonly columns: readonly WireColumn[] | undefined
  /** The frames are CopyData instead of rows. */
  readonly copy?: { readonly format: Format; readonly columns: number } | undefined
  /** Copied data comes from the client instead: it is sent here, and the tag is what `end` answers. */
  readonly receive?: WireReceiver | undefined
  /** Whole frames, ready to be sent, in buffers of moderate size, each valid until the next is requested. */
  readonly frames: AsyncIterator<Buffer>
  /** `SELECT 5`, once the frames have ended; `rows` is how many rows were sent at the last. */
  tag(rows: number): string
  /** Prepared statements that go with this: one by its name, or all. */
  readonly forget?: { readonly name: string } | 'all' | undefined
}

export interface WireReceiver {
  write(chunk: Buffer): Promise<void>
  end(): Promise<string>
  /** The client gave up, or is gone, or what it sent failed. */
  abort(): Promise<void>
}

export interface WireSession {
  /** The statements of a text, one by one, and where each begins. */
  split(sql: string): Promise<readonly { readonly text: string; readonly offset: number }[]>
  /** `types`: object ids that the client gives for parameters; 0 where it gives none. */
  parse(sql: string, types: readonly number[]): Promise<WireStatement>
  /** What a statement declared; clients request its columns like those of a portal. */
  cursor(name: string): Pick<WirePortal, 'columns'> | undefined
  /** Idle, in a transaction, or in one that has failed. */
  status(): 'I' | 'T' | 'E'
  /** An error was sent: a transaction that is open has failed. */
  failed(): void
  /** What the client is informed of at the start, for example server_version. */
  readonly parameters: Readonly<Record<string, string>>
  /** Resolves with the reason when the session must end although the client has not left. */
  readonly ended: Promise<WireError>
  close(): Promise<void>
}

export interface Startup {
  readonly user: string
  readonly database: string
  readonly parameters: Readonly<Record<string, string>>
  readonly address: string
}

/** An error as the client sees it, with its SQLSTATE. */
export class WireError extends Error {
  readonly code: string
  readonly hint: string | undefined
  /** In UTF-16 units of the statement, from 1. */
  readonly position: number | undefined

  constructor(code: string, message: string, more: { readonly hint?: string; readonly position?: number | undefined } = {}) {
    super(message)
    this.name = 'WireError'
    this.code = code
    this.hint = more.hint
    this.position = more.position
  }
}
