// Rows of a cursor that goes in both directions. What was fetched is kept, up to a limit: the result itself comes only once.

import { cutRows } from '../../../engines/pg-wire/rows.ts'
import { WireError } from '../../../engines/pg-wire/wire-session.ts'

/** `FETCH FORWARD 3`, `FETCH BACKWARD ALL`, `FETCH ABSOLUTE -1`, `FETCH RELATIVE 0`. */
export type CursorMove = { readonly how: 'forward' | 'backward' | 'absolute' | 'relative'; readonly count: number }

const MAX_BYTES = 32 << 20

export function createScrollRows(frames: () => Promise<AsyncIterator<Buffer>>) {
  const rows: Buffer[] = []
  let bytes = 0
  let isEnd = false
  /** Of the row that was fetched last, from 1; 0 before the first. */
  let position = 0

  async function readTo(count: number): Promise<void> {
    while (!isEnd && rows.length < count) {
      const next = await (await frames()).next()
      isEnd = next.done === true
      if (next.done) return
      for (let rest = next.value; rest.length > 0; ) {
        const { end } = cutRows(rest, 1)
        rows.push(Buffer.from(rest.subarray(0, end)))
        rest = rest.subarray(end)
      }
      bytes += next.value.length
      if (bytes > MAX_BYTES)
        throw new WireError(
          '54000',
          `A SCROLL cursor keeps at most ${MAX_BYTES} bytes of rows. Leave out SCROLL, or select fewer rows.`,
        )
    }
  }

  async function to(at: number): Promise<readonly Buffer[]> {
    await readTo(at < 0 ? Number.POSITIVE_INFINITY : at)
    position = Math.min(Math.max(0, at < 0 ? rows.length + 1 + at : at), rows.length + 1)
    return rows.slice(position - 1, position).filter(() => position > 0)
  }

  return {
    fetch: async ({ how, count }: CursorMove): Promise<readonly Buffer[]> => {
      if (how === 'absolute') return to(count)
      if (how === 'relative') return to(Math.max(0, position + count))
      if (how === 'forward') {
        await readTo(position + count)
        const found = rows.slice(position, position + count)
        position = found.length < count ? rows.length + 1 : position + count
        return found
      }
      const from = Math.max(0, position - 1 - count)
      const found = rows.slice(from, Math.max(0, position - 1)).toReversed()
      position = found.length < count ? 0 : from + 1
      return found
    },
  }
}

export type ScrollRows = ReturnType<typeof createScrollRows>
