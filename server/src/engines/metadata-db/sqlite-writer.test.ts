import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openSqliteWriter } from './sqlite-writer.ts'

function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-writer-'))
  const path = join(folder, 'test.db')
  const writer = openSqliteWriter(path)
  writer.db.exec('create table row (n integer unique)')
  const others = new DatabaseSync(path, { readOnly: true })
  t.after(() => {
    others.close()
    if (writer.db.isOpen) writer.close()
    rmSync(folder, { recursive: true })
  })
  const seen = () =>
    others
      .prepare('select n from row order by n')
      .all()
      .map((row) => Number(row.n))
  const commits = () => Number(others.prepare('pragma data_version').get()?.data_version)
  const insert = async (n: number, end: 'commit' | 'rollback' = 'commit') => {
    const transaction = await writer.begin()
    try {
      writer.db.prepare('insert into row values (?)').run(n)
    } catch (error) {
      transaction.rollback()
      throw error
    }
    if (end === 'rollback') transaction.rollback()
    else await transaction.commit()
  }
  return { writer, seen, commits, insert }
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

test('what is acknowledged as committed can be seen by others at that moment', async (t) => {
  const { insert, seen } = start(t)
  await Promise.all(
    numbers(100).map((n) => insert(n).then(() => assert.ok(seen().includes(n), `${n} was acknowledged too early`))),
  )
})

test('transactions that queue up share a commit, a lone one has its own', async (t) => {
  const { insert, commits, seen } = start(t)
  let changes = 0
  let last = commits()
  await Promise.all(
    numbers(64).map((n) =>
      insert(n).then(() => {
        if (commits() !== last) changes++
        last = commits()
      }),
    ),
  )
  assert.ok(changes <= 8, `${changes} commits for 64 transactions`)
  await insert(1000)
  assert.ok(seen().includes(1000))
})

test('transactions of one turn of the event loop share a commit, though none of them waits for another', async (t) => {
  const { writer, insert, commits, seen } = start(t)
  const before = commits()
  const arrivals: Array<Promise<void>> = []
  // As Node serves sockets: everything one arrival can do at once is done before the next one is looked at.
  for (const n of numbers(10)) {
    arrivals.push(insert(n))
    await new Promise((resolve) => process.nextTick(resolve))
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  assert.deepEqual([seen(), commits()], [[], before], 'nothing is committed before the turn ends')
  await Promise.all(arrivals)
  assert.deepEqual(seen(), numbers(10))
  assert.equal(writer.db.isTransaction, false)
})

test('a member that is still at work when the turn ends is not torn in two', async (t) => {
  const { writer, insert, seen } = start(t)
  const first = insert(1)
  await Promise.resolve()
  const slow = await writer.begin()
  writer.db.exec('insert into row values (2)')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(seen(), [])
  slow.rollback()
  await first
  assert.deepEqual(seen(), [1])
})

test('what is waiting for its commit is on disk after close', async (t) => {
  const { writer, insert, seen } = start(t)
  const pending = insert(7)
  for (let i = 0; i < 20; i++) await Promise.resolve()
  writer.close()
  await pending
  assert.deepEqual(seen(), [7])
})

test('a member that rolls back undoes its own work only', async (t) => {
  const { insert, seen } = start(t)
  await Promise.all(numbers(60).map((n) => insert(n, n % 3 === 0 ? 'rollback' : 'commit')))
  assert.deepEqual(
    seen(),
    numbers(60).filter((n) => n % 3 !== 0),
  )
})

test('a member that fails a constraint fails alone', async (t) => {
  const { insert, seen } = start(t)
  const outcomes = await Promise.allSettled([1, 2, 1, 3, 2, 4].map((n) => insert(n)))
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(seen(), [1, 2, 3, 4])
})

test('when the database gives up the transaction, every member fails and the next ones work', async (t) => {
  const { writer, insert, seen } = start(t)
  const disaster = async () => {
    const transaction = await writer.begin()
    writer.db.exec('rollback') // what SQLite does by itself when the disk is full
    transaction.rollback()
    throw new Error('disk full')
  }
  const outcomes = await Promise.allSettled([insert(1), insert(2), disaster(), insert(3)])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['rejected', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(seen(), [3])
})

test('a commit that fails fails all who shared it, and leaves nothing', async (t) => {
  const { writer, insert, seen } = start(t)
  writer.db.exec('create table child (n integer references row (n) deferrable initially deferred)')
  const orphan = async () => {
    const transaction = await writer.begin()
    writer.db.exec('insert into child values (99)')
    await transaction.commit()
  }
  const outcomes = await Promise.allSettled([insert(1), orphan()])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(seen(), [])
  await insert(5)
  assert.deepEqual(seen(), [5])
})
