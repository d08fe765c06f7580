import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import pg from 'pg'
import { wireClient } from '../../../../tests/support/clients/postgres-wire.ts'
import { until } from '../../../../tests/support/until.ts'
import { systemClock } from '../../kit/clock.ts'
import { openCertificate } from '../tls/certificate.ts'
import { ensureLocalCertificate } from '../tls/local-authority.ts'
import { createWireListener } from './listener.ts'
import { frame, int16, int32 } from './messages.ts'
import { rowFrames } from './rows.ts'
import { ENCODERS, elementsOf, OID, textOf } from './values.ts'
import { WireError, type WireSession } from './wire-session.ts'

/** Answers every statement with itself, as many times as its length. */
function echo(): WireSession {
  const columns = [{ name: 'said', oid: OID.text, modifier: -1 }]
  return {
    split: async (sql) => (sql === '' ? [] : [{ text: sql, offset: 0 }]),
    parse: async (sql) => ({
      describe: async () => ({ parameters: [], columns }),
      bind: (values, formats) => ({
        columns: async () => columns,
        open: async () => {
          if (sql === 'fail') throw new WireError('42601', 'as asked')
          const lines = (async function* () {
            yield Buffer.from(`${[sql, ...values].join(' ')}\n`)
          })()
          return { columns, frames: rowFrames(lines, columns, formats), tag: (rows) => `SELECT ${rows}` }
        },
        cancel: () => {},
        close: async () => {},
      }),
    }),
    cursor: () => undefined,
    status: () => 'I',
    failed: () => {},
    parameters: { server_version: '1', client_encoding: 'UTF8' },
    ended: new Promise(() => {}),
    close: async () => {},
  }
}

const ends: (() => Promise<unknown>)[] = []
let port: number
let securePort: number
let authority: string
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-wire-'))
  const files = await ensureLocalCertificate(folder, ['localhost'], systemClock)
  authority = await readFile(files.authorityFile, 'utf8')
  const certificate = openCertificate({ ...files, onError: () => {} })
  const login = async (_: unknown, password: string) => {
    if (password !== 'right') throw new WireError('28P01', 'wrong')
    return echo()
  }
  const wireError = (error: unknown) => (error instanceof WireError ? error : new WireError('XX000', String(error)))
  const plain = createWireListener({ maxConnections: 3, login, wireError })
  const secure = createWireListener({ tls: certificate, maxConnections: 3, login, wireError })
  port = await plain.listen(0, '127.0.0.1')
  securePort = await secure.listen(0, '127.0.0.1')
  ends.push(
    plain.close,
    secure.close,
    async () => certificate.close(),
    () => rm(folder, { recursive: true }),
  )
})
test.after(async () => {
  for (const end of ends) await end()
})

test('a client that asks for TLS gets it where there is a certificate', async () => {
  const options = { host: '127.0.0.1', user: 'a', password: 'right' }
  const ssl = { ca: authority, servername: 'localhost' }
  const secure = new pg.Client({ ...options, port: securePort, ssl })
  await secure.connect()
  assert.deepEqual((await secure.query('over TLS')).rows, [{ said: 'over TLS' }])
  await secure.end()
  const to = (given: object, at = securePort) => new pg.Client({ ...options, port: at, ssl: given }).connect()
  await assert.rejects(to({ servername: 'localhost' }), /certificate/, 'an authority that the client does not know')
  await assert.rejects(to({ ...ssl, servername: 'other.example' }), /altnames/, 'the name of another server')
  await assert.rejects(to(ssl, port), /does not support SSL/)
})

test('without a certificate the answer to a request for TLS is N, and the client may go on without', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.concat([int32(8), int32(80_877_103)]))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.equal(String(answer), 'N')
  const startup = Buffer.concat([int32(196_608), Buffer.from('user\0a\0\0')])
  socket.write(Buffer.concat([int32(startup.length + 4), startup]))
  const [question] = (await once(socket, 'data')) as [Buffer]
  assert.equal(question.toString('latin1', 0, 1), 'R', 'asks for the password')
  socket.destroy()
})

test('messages are cut wherever the network cuts them, and handled one by one', async () => {
  const text = (value: string) => Buffer.from(`${value}\0`)
  const wire = await wireClient(port, 'a', 'right')
  const one = (sql: string) =>
    Buffer.concat([
      frame('P', text(''), text(sql), int16(0)),
      frame('B', text(''), text(''), int16(0), int16(0), int16(0)),
      frame('E', text(''), int32(0)),
      frame('S'),
    ])
  const all = Buffer.concat(['first', 'fail', 'third'].map(one))
  for (const byte of all) await wire.write(Buffer.from([byte]))
  const kinds: string[] = []
  while (kinds.filter((kind) => kind === 'Z').length < 3) kinds.push((await wire.next())?.kind ?? assert.fail('gone'))
  assert.equal(kinds.join(''), '12DCZ12EZ12DCZ')
  wire.end()
})

test('what is no message of the protocol ends the connection, and nobody else', async () => {
  const raw = connect(port, '127.0.0.1')
  raw.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => raw.once('close', resolve))
  const wire = await wireClient(port, 'a', 'right')
  await wire.write(Buffer.concat([Buffer.from('Q'), int32(1 << 30)]))
  const last = await wire.next()
  assert.match(String(last?.content), /54000/)
  const short = await wireClient(port, 'a', 'right')
  await short.write(Buffer.concat([frame('B', Buffer.from('x')), frame('S')]))
  assert.match(String((await short.next())?.content), /08P01/)
  assert.equal((await short.next())?.kind, 'Z')
  short.end()
  await assert.rejects(wireClient(port, 'a', 'wrong'), /28P01/)
})

test('prepared statements of a connection have a limit of bytes, which closing them gives back', async () => {
  const db = new pg.Client({ host: '127.0.0.1', port, user: 'a', password: 'right' })
  await db.connect()
  const text = (i: number) => `${i}${'x'.repeat(1 << 20)}`
  for (let i = 0; i < 7; i++) await db.query({ name: `s${i}`, text: text(i) })
  await assert.rejects(db.query({ name: 's7', text: text(7) }), { code: '53400', message: /8 MiB.*DEALLOCATE/ })
  assert.equal((await db.query({ name: 's0', text: text(0) })).rowCount, 1, 'those that fit stay')
  for (let i = 0; i < 20; i++) await db.query(String(i), []) // the one without a name takes the place of the last
  await db.end()
})

test('the end of a session reaches a statement that runs and one that is still read, both with its reason', async (t) => {
  const wireError = (error: unknown) => (error instanceof WireError ? error : new WireError('XX000', String(error)))
  const [reading, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [running, over] = [Promise.withResolvers<void>(), Promise.withResolvers<WireError>()]
  const opened: string[] = []
  const login = async (): Promise<WireSession> => {
    const session = echo()
    const parse: WireSession['parse'] = async (sql, types) => {
      if (sql === 'is read') {
        reading.resolve()
        await released.promise
      }
      const cancelled = Promise.withResolvers<never>()
      const statement = await session.parse(sql, types)
      const bind: typeof statement.bind = (values, formats) => {
        const portal = statement.bind(values, formats)
        const open = () => {
          opened.push(sql)
          running.resolve()
          return sql === 'runs' ? cancelled.promise : portal.open()
        }
        return { ...portal, open, cancel: () => cancelled.reject(new WireError('57014', 'cancelled')) }
      }
      return { ...statement, bind }
    }
    return { ...session, parse, ended: over.promise }
  }
  const listener = createWireListener({ maxConnections: 3, login, wireError })
  t.after(() => listener.close())
  const at = await listener.listen(0, '127.0.0.1')
  const query = async (sql: string): Promise<string> => {
    const db = new pg.Client({ host: '127.0.0.1', port: at, user: 'a', password: 'right' })
    db.on('error', () => {})
    await db.connect()
    return db.query(sql).then(
      () => 'no error',
      (error: { code: string; severity: string }) => `${error.severity} ${error.code}`,
    )
  }
  const both = Promise.all([query('runs'), query('is read')])
  await Promise.all([running.promise, reading.promise])
  over.resolve(new WireError('57P01', 'revoked'))
  await over.promise
  setImmediate(() => released.resolve())
  assert.deepEqual(await both, ['FATAL 57P01', 'FATAL 57P01'])
  assert.deepEqual(opened, ['runs'])
})

test('there are no more connections than allowed', async () => {
  const open = await Promise.all([1, 2, 3].map(() => wireClient(port, 'a', 'right')))
  await assert.rejects(wireClient(port, 'a', 'right'), /53300/)
  for (const wire of open) wire.end()
})

test('values go to binary and back', () => {
  for (const [oid, texts] of [
    [OID.int2, ['-32768', '0']],
    [OID.int8, ['-9223372036854775808', '9223372036854775807']],
    [OID.numeric, ['0', '0.0000', '-1', '10000', '0.0001', '123456789.000100', '99999999999999999999999999999999999999', 'NaN']],
    [OID.float8, ['0.1', '-1e+300', 'Infinity', 'NaN']],
    [OID.date, ['1970-01-01', '0001-01-01', '2024-02-29', '9999-12-31']],
    [OID.timestamp, ['2024-02-29 23:59:59.123456', '0001-01-01 00:00:00.000000', '-infinity']],
    [OID.bytea, ['\\x', '\\x00ff']],
  ] as const)
    for (const value of texts) assert.equal(textOf(oid, ENCODERS[oid]!(value)), value)
  assert.deepEqual(elementsOf('{1,NULL,"a\\"b,c",}'), ['1', null, 'a"b,c', ''])
  assert.deepEqual(elementsOf('{}'), [])
  assert.equal(elementsOf('{{1}}'), undefined)
})

test('connections that never sign in keep nobody out, and the oldest of them are closed', async (t) => {
  const silent = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      t.after(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }),
  )
  await until('all but twenty are closed', () => {
    for (const socket of silent) socket.resume()
    return silent.filter((socket) => socket.readyState === 'open').length <= 20
  })
  const first = await wireClient(port, 'a', 'right')
  assert.ok(first)
})
