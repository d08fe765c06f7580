// Loaded before everything else by the processes of tools/mutants.ts: selects the filter that is off, and writes down which ones were reached.
// The parent sends `{ mutant: n }` before a test file runs; -1 leaves every filter as it is.

import { appendFileSync } from 'node:fs'

declare global {
  /** Put into the copied sources by tools/mutants.ts, at every filter. */
  var isMutant: (id: number) => boolean
}

const file = process.env.MILLRACE_MUTANTS_REACHED
let active = -1
let reached = new Set<number>()

process.on('message', (message: { readonly mutant?: number }) => {
  if (message.mutant === undefined) return
  active = message.mutant
  reached = new Set()
})

globalThis.isMutant = (id) => {
  if (file !== undefined && !reached.has(id)) {
    reached.add(id)
    appendFileSync(file, `${id}\n`)
  }
  return id === active
}
