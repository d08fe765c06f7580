// A process that runs test files one after another: it gets the path of a file and answers with what the test runner reports about it.
// Loading the server costs more than most files do, so many files share one process (tools/test-process.ts starts it).
//
//     node --test-reporter tools/test-worker.ts tools/test-worker.ts
//
// The same file is the program and its reporter.

import { Transform } from 'node:stream'
import { suite } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'

/** What is reported about a file; `ended` comes last. */
export type WorkerMessage =
  | { readonly type: 'begun'; readonly name: string }
  | { readonly type: 'passed' }
  | { readonly type: 'skipped'; readonly name: string }
  | { readonly type: 'failed'; readonly name: string; readonly error: string }
  | { readonly type: 'ended'; readonly error: string | null }

const runs = new Map<string, number>()

// Property tests choose their own seeds otherwise.
if (process.argv[1] === import.meta.filename && process.env.MILLRACE_SEED)
  (await import('fast-check')).configureGlobal({ seed: Number(process.env.MILLRACE_SEED) })

if (process.argv[1] === import.meta.filename)
  process.on('message', (message) => {
    if (typeof message !== 'string') return // for tools/mutant-switch.ts
    // What a file starts ends with its suite: hooks outside of a test belong to the suite around them.
    void suite(message, async () => {
      const before = runs.get(message) ?? 0
      runs.set(message, before + 1)
      // Its tests, also when it has run here before; without a query Node keeps the compiled code.
      await import(`${pathToFileURL(message).href}${before === 0 ? '' : `?run=${before}`}`)
    })
  })

/** The reporter prints nothing: everything goes to the parent. */
export default new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    report(event)
    done()
  },
})

function report({ type, data }: TestEvent): void {
  if (type === 'test:dequeue' && data.nesting > 0) send({ type: 'begun', name: data.name })
  if (type !== 'test:pass' && type !== 'test:fail') return
  const error = type === 'test:fail' && !isConsequence(data.details.error) ? explain(data.details.error) : null
  if (data.nesting === 0) send({ type: 'ended', error })
  else if (error !== null) send({ type: 'failed', name: data.name, error })
  else if (type === 'test:fail' || data.details.type === 'suite') return
  else if (data.skip) send({ type: 'skipped', name: `${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}` })
  else send({ type: 'passed' })
}

function send(message: WorkerMessage): void {
  process.send?.(message)
}

/** A suite that failed because a test in it failed is not one more failure. */
function isConsequence(error: Error & { readonly failureType?: string }): boolean {
  return error.failureType === 'subtestsFailed'
}

function explain(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  const text = cause.stack?.includes(cause.message) ? cause.stack : `${cause.message}\n${cause.stack ?? ''}`
  return text.replace(/\n\s+at [^\n]*node:internal[^\n]*/g, '').trimEnd()
}
