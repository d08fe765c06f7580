import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from './fair-queue.ts'

/** A queue of one at a time, and the order in which its work was done; the first piece of work lasts until `open`. */
async function start(maxWaiting = 100) {
  const queue = createFairQueue({ atOnce: 1, maxWaiting })
  const done: string[] = []
  let open = (): void => {}
  const held = queue.run(() => new Promise<void>((resolve) => (open = resolve)), { place: 'first', isKnown: false })
  const ask = (name: string, isKnown = false) =>
    queue.run(
      async () => {
        done.push(name)
        return name
      },
      { place: name[0]!, isKnown },
    )
  return { ask, done, open: () => open(), held }
}

test('places take turns, and who is known goes first', async () => {
  const { ask, done, open, held } = await start()
  const asked = [...Array.from({ length: 40 }, (_, i) => ask(`a${i}`)), ask('b0'), ask('b1'), ask('c0'), ask('k', true)]
  open()
  await held
  await Promise.all(asked)
  assert.deepEqual(done.slice(0, 6), ['k', 'a0', 'b0', 'c0', 'a1', 'b1'])
  assert.equal(done.length, 44)
})

test('when there is no more room, the place that asks most goes without', async () => {
  const { ask, done, open, held } = await start(4)
  const asked = ['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'c0', 'b1', 'd0'].map((name) => ask(name))
  const known = ask('k', true)
  open()
  await held
  const answers = await Promise.all(asked)
  assert.deepEqual(answers, ['a0', undefined, undefined, undefined, undefined, 'b0', 'c0', undefined, 'd0'])
  assert.equal(await known, 'k')
  assert.deepEqual(done, ['k', 'a0', 'b0', 'c0', 'd0'])
})

test('work that fails gives the turn to the next', async () => {
  const queue = createFairQueue({ atOnce: 1, maxWaiting: 10 })
  const from = { place: 'a', isKnown: false }
  const failing = queue.run(() => Promise.reject(new Error('no')), from)
  const next = queue.run(async () => 'done', from)
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'done')
})
