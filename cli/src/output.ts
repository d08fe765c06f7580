// What the command line prints: data on stdout (text, or JSON with --json), everything else on stderr.

/** A mistake the user can fix: printed as one line, exit code 1. */
export class UserError extends Error {}

/** A time as people read it, in one spelling for all services: `2026-01-31T12:00:00Z`. What is not a time stays as it is. */
export function timeText(time: string | Date | null | undefined): string {
  const at = new Date(time ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? String(time ?? '') : `${at.toISOString().slice(0, 19)}Z`
}

/** Rows as aligned columns under their titles; an empty list is reported. */
export function table(titles: readonly string[], rows: readonly (readonly unknown[])[], nothing = 'nothing found'): string {
  if (rows.length === 0) return nothing
  const cells = [titles, ...rows].map((row) => row.map((cell) => String(cell ?? '')))
  const widths = titles.map((_, i) => cells.reduce((max, row) => Math.max(max, [...(row[i] ?? '')].length), 0))
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell + ' '.repeat(Math.max(0, (widths[i] ?? 0) - [...cell].length)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A line that is rewritten in place on a terminal; elsewhere only steps are shown, each once and on a line of its own. */
export function progress(label: string) {
  const isTerminal = process.stderr.isTTY
  let lastDrawn = 0
  let lastStep = ''
  const draw = (text: string) => process.stderr.write(`\r\u001b[K${`${label} ${text}`.slice(0, process.stderr.columns - 1)}`)
  return {
    update(doneBytes: number, totalBytes?: number): void {
      const now = performance.now()
      if (!isTerminal || now - lastDrawn < 100) return
      lastDrawn = now
      draw(
        totalBytes ? `${bar(doneBytes / totalBytes)} ${megabytes(doneBytes)} of ${megabytes(totalBytes)}` : megabytes(doneBytes),
      )
    },
    say(text: string): void {
      if (isTerminal) draw(text)
    },
    step(text: string): void {
      if (!isTerminal && text !== lastStep) process.stderr.write(`${label} ${text}\n`)
      lastStep = text
      this.say(text)
    },
    done(text: string): void {
      if (isTerminal) process.stderr.write(`\r\u001b[K${label} ${text}\n`)
    },
  }
}

const BAR_WIDTH = 24
const bar = (share: number): string => {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`
}
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
