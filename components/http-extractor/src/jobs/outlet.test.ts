import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { type Aside, DIRECT, inOrder, type Outlet } from './outlet.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 2_000 : 60

/** A task gives pieces of work and, after each, may have tasks inside; each step takes some turns of the event loop. */
type Task = { readonly name: string; readonly steps: readonly { readonly turns: number; readonly inside: readonly Task[] }[] }

const tree: fc.Memo<Task> = fc.memo((depth) =>
  fc.record({
    name: fc.string({ minLength: 1, maxLength: 3 }),
    steps: fc.array(
      fc.record({
        turns: fc.nat({ max: 4 }),
        inside: depth <= 1 ? fc.constant([]) : fc.array(tree(depth - 1), { maxLength: 5 }),
      }),
      { maxLength: 4 },
    ),
  }),
)

async function run(tasks: readonly Task[], width: number): Promise<{ order: string[]; aside: Aside }> {
  const order: string[] = []
  const aside = { bytes: 0 }
  const perform = (task: Task) => async (outlet: Outlet) => {
    for (const [i, { turns, inside }] of task.steps.entries()) {
      for (let n = 0; n < turns; n++) await turn()
      await outlet.run(() => order.push(`${task.name}.${i}`), 1)
      await inOrder(inside.map(perform), outlet, width, aside)
    }
  }
  await inOrder(tasks.map(perform), DIRECT, width, aside)
  return { order, aside }
}

test('whatever runs at the same time, it is done in the order of one after another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tree(3), { maxLength: 6 }), fc.integer({ min: 2, max: 9 }), async (tasks, width) => {
      const { order, aside } = await run(tasks, width)
      assert.deepEqual(order, (await run(tasks, 1)).order)
      assert.equal(aside.bytes, 0)
    }),
    { numRuns: ROUNDS },
  )
})

test('what is put aside is bounded: who has two pieces waits for its turn', async () => {
  const order: number[] = []
  let max = 0
  let first: () => void = () => {}
  const started = new Promise<void>((go) => {
    first = go
  })
  const aside = { bytes: 0 }
  const task = (id: number) => async (outlet: Outlet) => {
    if (id === 0) await started
    for (let i = 0; i < 10; i++) {
      await outlet.run(() => order.push(id), 1)
      max = Math.max(max, aside.bytes)
      if (id === 3 && i === 0) first()
    }
  }
  await inOrder([0, 1, 2, 3].map(task), DIRECT, 4, aside)
  assert.deepEqual(
    order,
    [0, 1, 2, 3].flatMap((id) => Array.from({ length: 10 }, () => id)),
  )
  assert.ok(max <= 6, `${max} pieces were put aside`)
})

test('the first failure ends it, and nothing after it is done', async () => {
  const done: number[] = []
  const task = (id: number) => async (outlet: Outlet) => {
    if (id === 1) throw new Error('one')
    await turn()
    await outlet.run(() => done.push(id), 1)
  }
  await assert.rejects(inOrder([0, 1, 2, 3, 4, 5, 6, 7].map(task), DIRECT, 2, { bytes: 0 }), /one/)
  await turn()
  assert.deepEqual(
    done.filter((id) => id > 1),
    [],
  )
})
