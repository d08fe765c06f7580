import assert from 'node:assert/strict'
import test from 'node:test'
import { createActionSlots } from './action-slots.ts'

const never = new AbortController().signal

/** Work that ends on request. */
function task() {
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let hasStarted = false
  return {
    work: () => {
      hasStarted = true
      return ended
    },
    end: () => end(),
    hasStarted: () => hasStarted,
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a project runs its share at once, the next waits for its turn, and others pass', async () => {
  const slots = createActionSlots({ max: () => 3, maxPerProject: () => 2, waitMs: 60_000 })
  const [a, b, c, other] = [task(), task(), task(), task()]
  const runs = [a, b, c].map(({ work }) => slots.run(1, never, work))
  runs.push(slots.run(2, never, other.work))
  await settled()
  assert.deepEqual(
    [a, b, c, other].map((one) => one.hasStarted()),
    [true, true, false, true],
  )
  other.end()
  await runs[3]
  assert.equal(c.hasStarted(), false) // module on the node, none in the project
  a.end()
  await runs[0]
  await settled()
  assert.equal(c.hasStarted(), true)
  b.end()
  c.end()
  await Promise.all(runs)
})

test('a long line of one project keeps no other from waiting', async () => {
  const slots = createActionSlots({ max: () => 2, maxPerProject: () => 2, waitMs: 60_000 })
  const tasks = [1, 1, 1, 1, 2].map((project) => ({ project, ...task() }))
  const runs = tasks.map(({ project, work }) => slots.run(project, never, work))
  for (const { end } of tasks) end()
  await Promise.all(runs)
})

test('who waits too long is told which limit it was, and a long line is not joined', async () => {
  const slots = createActionSlots({ max: () => 3, maxPerProject: () => 2, waitMs: 10 })
  const held = [1, 1, 2].map((project) => {
    const one = task()
    return { ...one, run: slots.run(project, never, one.work) }
  })
  const late = task()
  const waiting = [slots.run(1, never, late.work), slots.run(1, never, late.work)]
  const ends = Promise.allSettled(waiting)
  await assert.rejects(slots.run(1, never, late.work), { code: 'syncActions.projectBusy' })
  await assert.rejects(slots.run(3, never, late.work), { code: 'syncActions.busy' })
  for (const end of await ends) assert.equal(end.status === 'rejected' && end.reason.code, 'syncActions.projectBusy')
  for (const one of held) one.end()
  await Promise.all(held.map(({ run }) => run))
  assert.equal(late.hasStarted(), false)
  late.end()
  await slots.run(1, never, late.work)
})

test('who goes away, and who fails, leaves the place to the next', async () => {
  const slots = createActionSlots({ max: () => 1, maxPerProject: () => 1, waitMs: 60_000 })
  const first = task()
  const running = slots.run(1, never, first.work)
  const gone = new AbortController()
  const left = slots.run(2, gone.signal, async () => assert.fail('it was left'))
  gone.abort()
  await assert.rejects(left)
  first.end()
  await running
  await assert.rejects(
    slots.run(1, never, async () => {
      throw new Error('of the component')
    }),
    /of the component/,
  )
  assert.equal(await slots.run(1, never, async () => 'free again'), 'free again')
})
