import assert from 'node:assert/strict'
import test from 'node:test'
import { until } from '../../../tests/support/until.ts'
import { createEventLoopWatch, type LongDelay } from './event-loop-watch.ts'

const hold = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('a held event loop is reported with the operations that ran or ended meanwhile', async (t) => {
  const delays: number[] = []
  const long: LongDelay[] = []
  const watch = createEventLoopWatch({
    onDelay: (ms) => void delays.push(ms),
    onLongDelay: (delay) => void long.push(delay),
  })
  watch.start()
  t.after(watch.stop)
  await until('a first look', () => delays.length > 0)
  long.length = 0
  watch.begun('1', 'files.sniffBody')
  watch.begun('2', 'files.sniffBody')
  watch.begun('3', 'tokens.create')
  watch.ended('3')
  hold(500)
  await until('the report', () => long.length > 0)
  const [delay] = long
  assert.ok(delay!.delayMs > 200)
  assert.deepEqual(delay!.operations, { 'files.sniffBody': 2, 'tokens.create': 1 })
  watch.ended('1')
  watch.ended('2')
  const seen = long.length
  await until('a calm loop', () => delays.at(-1)! < 200)
  hold(500)
  await until('another report', () => long.length > seen)
  const { operations } = long.at(-1)!
  assert.ok(!('tokens.create' in operations), 'what ended before is not named again')
})
