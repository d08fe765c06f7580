// The statements that reach a MySQL server, as the driver's own server receives them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import mysql, { type Connection } from 'mysql2'
import type { ServerSettings } from '../../connector-kit/src/database/connection.ts'
import { openMysql } from '../src/targets/mysql.ts'

/** Bits of the handshake: PROTOCOL_41 with SECURE_CONNECTION, and CLIENT_MULTI_STATEMENTS. */
const [CAPABILITIES, MULTI_STATEMENTS] = [0x8200, 0x10000]

/** Answers every statement with OK. */
async function startServer(t: TestContext) {
  const received = { statements: [] as string[], flags: 0 }
  const server = createServer((stream) => {
    const connection = mysql.createConnection({ stream, isServer: true }) as Connection & {
      readonly clientHelloReply: { readonly clientFlags: number }
    } // of a server
    connection.serverHandshake({
      ...{ protocolVersion: 10, serverVersion: '8.0.0', connectionId: 1, statusFlags: 2, characterSet: 45 },
      capabilityFlags: CAPABILITIES | MULTI_STATEMENTS,
    })
    connection.on('error', () => {}) // the client is gone
    connection.on('stmt_prepare', () => connection.writeOk()) // it has SET among these
    connection.on('query', (sql: string) => {
      received.flags = connection.clientHelloReply.clientFlags
      received.statements.push(sql)
      connection.writeOk()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { received, port: (server.address() as AddressInfo).port }
}

test('a question mark in a name takes no value, and several statements at once are only for scripts', async (t) => {
  const { received, port } = await startServer(t)
  const settings: ServerSettings = {
    ...{ type: 'mysql', host: '127.0.0.1', port, user: 'writer', password: '', database: 'shop' },
    ...{ tls: undefined, ssh: undefined },
  }
  const folder = mkdtempSync(join(tmpdir(), 'millrace-mysql-out-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'rows.csv')
  writeFileSync(path, `"paid?","note"\n"1","\\') ; drop table x; -- \n'?"\n,"b"\n`)
  const column = (name: string) => ({ name, base: 'STRING' as const, length: undefined, nullable: true })
  const input = { id: 'in.c-a.b', path, columns: ['paid?', 'note'].map(column), primaryKey: [], rowsCount: 2 }
  const places = ['paid?', 'note'].map((name) => ({ column: name, isBoolean: false, emptyIsNull: false }))
  for (const hasScripts of [false, true]) {
    const stream = connect(port, '127.0.0.1')
    await once(stream, 'connect')
    const target = await openMysql(settings, { stream, close: () => stream.destroy() }, 60, hasScripts)
    assert.equal(await target.load(input, target.nameOf({ schema: '', name: 'what?' }), places, false), 2)
    await target.close()
    assert.equal(
      received.statements.at(-1),
      `insert into "what?" ("paid?", "note") values ('1', '\\\\\\') ; drop table x; -- \\n\\'?'), (NULL, 'b')`,
    )
    assert.equal((received.flags & MULTI_STATEMENTS) !== 0, hasScripts)
  }
})
