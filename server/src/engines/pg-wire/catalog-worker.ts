// A process with a PostgreSQL in memory (PGlite). It holds the definitions of tables and no rows, and runs the queries of clients on
// PostgreSQL's own catalogue. Every question runs in a transaction of its own that is rolled back: it leaves nothing to the next one.

import type { PGlite } from '@electric-sql/pglite'
import { openCatalogDatabase } from './catalog-database.ts'
import { type FromCatalog, type Question, STARTED, type ToCatalog } from './catalogs.ts'

process.on('disconnect', () => process.exit())

/** The process ends before it takes the memory of others. */
const MAX_RSS = 1_500 << 20
setInterval(() => process.memoryUsage.rss() > MAX_RSS && process.exit(9), 500).unref()

const database = openCatalogDatabase()
let last: Promise<void> = Promise.resolve()
const send = (said: FromCatalog) => process.send?.(said)
const said = () => send({ id: STARTED, frames: Buffer.alloc(0) })
database.then(said, said) // a database that could not be opened is reported to the first query

process.on('message', (message: ToCatalog) => {
  last = last.then(() => answer(message))
})

async function answer({ id, define, ask }: ToCatalog): Promise<void> {
  try {
    const db = await database
    if (define !== '') await db.exec(define)
    send({ id, frames: await questioned(db, ask) })
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) })
  }
}

/** The answers of PostgreSQL to the messages of one question. */
async function questioned(db: PGlite, { settings, messages }: Question): Promise<Uint8Array> {
  await db.exec(`BEGIN; ${settings}`)
  try {
    const answers: Uint8Array[] = []
    for (const message of messages) answers.push(await db.execProtocolRaw(message))
    return Buffer.concat(answers)
  } finally {
    await db.exec('ROLLBACK')
  }
}
