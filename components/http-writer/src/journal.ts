// What was sent, in a file that outlives a run that is killed: a line before each request and one after. Lines are written at once, so that
// the end of the process loses none. A run that finds the journal of another one continues it.

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, createReadStream, existsSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface Receipt {
  readonly row: string
  readonly key: string
  readonly operation: string
  readonly status: 'delivered' | 'rejected' | 'failed'
  readonly httpStatus: number | null
  readonly message: string
  readonly attempts: number
  /** It was sent before, and whether it arrived is not known. */
  readonly repeated: boolean
  readonly at: string
  /** By path: the settings may name other columns when it is stored. */
  readonly answer: Readonly<Record<string, string | null>>
}

/** A request whose answer is not known. */
export interface OpenUnit {
  readonly idempotencyKey: string
  readonly rows: readonly string[]
}

type Line =
  | { readonly delivery: string }
  | { readonly unit: number; readonly key: string; readonly rows: readonly string[] }
  | { readonly done: number; readonly receipts: readonly Receipt[] }

export interface Journal {
  /** Its name, the same for all runs that continue it. */
  readonly delivery: string
  readonly isContinued: boolean
  /** Whether the row was delivered by an earlier run; each is reported once. */
  takeDelivered(row: string): boolean
  readonly open: readonly OpenUnit[]
  send(idempotencyKey: string, rows: readonly string[]): number
  done(unit: number, receipts: readonly Receipt[]): void
  receipts(): AsyncGenerator<Receipt>
  close(): void
}

/** `stored`: the last delivery whose receipts were stored. Its journal is over, also when the end of the stack has left it here. */
export async function openJournal(path: string, runId: string, stored: string | undefined): Promise<Journal> {
  let found = existsSync(path) ? await readJournal(path) : undefined
  if (found?.delivery !== undefined && found.delivery === stored) {
    truncateSync(path)
    found = undefined
  }
  const file = openSync(path, 'a')
  // A line that the end of a process cut off is ended here.
  if (found && !endsWithNewline(path)) writeSync(file, '\n')
  const write = (line: Line) => writeSync(file, `${JSON.stringify(line)}\n`)
  const delivery = found?.delivery ?? `${runId}-${randomBytes(4).toString('hex')}`
  if (!found?.delivery) write({ delivery })
  const delivered = found?.delivered ?? new Map<string, number>()
  let last = found?.last ?? 0
  return {
    delivery,
    isContinued: found?.delivery !== undefined,
    takeDelivered(row) {
      const count = delivered.get(row)
      if (count === undefined) return false
      if (count === 1) delivered.delete(row)
      else delivered.set(row, count - 1)
      return true
    },
    open: [...(found?.open.values() ?? [])],
    send(key, rows) {
      last++
      write({ unit: last, key, rows })
      return last
    },
    done: (unit, receipts) => void write({ done: unit, receipts }),
    async *receipts() {
      for await (const line of linesOf(path)) if ('done' in line) yield* line.receipts
    },
    close: () => closeSync(file),
  }
}

async function readJournal(path: string) {
  const open = new Map<number, OpenUnit>()
  const delivered = new Map<string, number>()
  let [delivery, last] = [undefined as string | undefined, 0]
  for await (const line of linesOf(path)) {
    if ('delivery' in line) delivery = line.delivery
    else if ('unit' in line) {
      open.set(line.unit, { idempotencyKey: line.key, rows: line.rows })
      last = line.unit
    } else {
      open.delete(line.done)
      for (const { row, status } of line.receipts) if (status === 'delivered') delivered.set(row, (delivered.get(row) ?? 0) + 1)
    }
  }
  return { delivery, open, delivered, last }
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  for await (const text of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })) {
    try {
      yield JSON.parse(text) as Line // written below
    } catch {
      // cut off by the end of a process: its entry did not happen
    }
  }
}

function endsWithNewline(path: string): boolean {
  const { size } = statSync(path)
  if (size === 0) return true
  const [file, last] = [openSync(path, 'r'), Buffer.alloc(1)]
  readSync(file, last, 0, 1, size - 1)
  closeSync(file)
  return last.toString() === '\n'
}

export const shortHash = (...texts: readonly string[]): string => {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('base64url').slice(0, 22)
}
