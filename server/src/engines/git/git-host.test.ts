// What is taken of a push, and what is refused before a library reads it.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { fetched, report } from './answers.ts'
import { packProblem } from './check-pack.ts'
import { createGitHost, HOST_LIMITS } from './git-host.ts'
import { FLUSH, packet } from './pkt-line.ts'
import { readFetchRequest, readPushRequest } from './requests.ts'

const LIMITS = { maxObjects: 3, maxObjectBytes: 1_000, maxBytes: 2_000 }
const OID = 'a'.repeat(40)
const NONE = '0'.repeat(40)

/** The type and size of an entry, as packs write them. */
function headOf(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 128
    bytes.push(rest & 127)
  }
  return Buffer.from(bytes)
}
const blob = (bytes: Buffer, claimed = bytes.length) => Buffer.concat([headOf(3, claimed), deflateSync(bytes)])
/** A delta that claims to make that many bytes. */
const delta = (makes: number) => {
  const sizes = [5, makes].flatMap((size) => [(size & 127) | 128, ((size >> 7) & 127) | 128, size >> 14])
  const data = Buffer.from(sizes)
  return Buffer.concat([headOf(7, data.length), Buffer.alloc(20, 1), deflateSync(data)])
}

function packOf(entries: readonly Buffer[], count = entries.length): Buffer {
  const head = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, count])])
  const body = Buffer.concat([head, ...entries])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

test('a pack is looked at before it is read: whole, and within limits also when it is unpacked', () => {
  const small = blob(Buffer.from('hello'))
  assert.equal(packProblem(packOf([]), LIMITS), undefined)
  assert.equal(packProblem(packOf([small, blob(Buffer.alloc(1_000)), delta(900)]), LIMITS), undefined)
  for (const [pack, reason] of [
    [Buffer.from('PACK'), /not one of version 2/],
    [packOf([small]).subarray(0, -1), /checksum differs/],
    [packOf([small], 2), /unknown type|cannot be unpacked/],
    [packOf([small, small], 1), /bytes that belong to no object/],
    [packOf([small, small, small, small]), /more than 3 objects/],
    [packOf([blob(Buffer.alloc(1_001))]), /an object of more than/],
    [packOf([blob(Buffer.alloc(50_000_000), 10)]), /cannot be unpacked/],
    [packOf([blob(Buffer.from('abc'), 900)]), /cannot be unpacked/],
    [packOf([delta(1_000_000)]), /an object of more than/],
    [packOf([1, 2, 3].map(() => blob(Buffer.alloc(900)))), /larger than .* when it is unpacked/],
    [packOf([Buffer.from([0x00])]), /unknown type/],
    [packOf([Buffer.from([0xb5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]), /an object of more than/],
    [packOf([Buffer.from([0x35, 1, 2, 3])]), /cannot be unpacked/],
  ] as const)
    assert.match(packProblem(pack, LIMITS) ?? 'nothing', reason)
})

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-git-host-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a push is read in pieces of any size, and to its end when it is too large', async (t) => {
  const folder = folderOf(t)
  const host = createGitHost({ tempDir: folder, limits: { ...HOST_LIMITS, maxPushBytes: 100 } })
  const command = Buffer.concat([packet(`${NONE} ${OID} refs/heads/main\0report-status side-band-64k`), FLUSH])
  const read = (bytes: Buffer, size = 1) =>
    host.readPush(
      Readable.from(Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))),
      folder,
    )
  const pack = Buffer.alloc(100, 7)
  for (const size of [1, 50, 1_000]) {
    const { request, pack: path, problem } = await read(Buffer.concat([command, pack]), size)
    assert.deepEqual(request?.changes, [{ name: 'refs/heads/main', before: undefined, after: OID }])
    assert.deepEqual([request?.isBanded, problem], [true, undefined])
    assert.deepEqual(readFileSync(path!), pack)
  }
  const large = await read(Buffer.concat([command, pack, pack]), 30)
  assert.match(large.problem!, /the pack is larger than/)
  const shown = report(large.request!, { problem: large.problem, refused: { 'refs/heads/main': 'x' } }).toString()
  assert.match(shown, /unpack the pack is larger than [\s\S]*ng refs\/heads\/main x/)
  assert.equal((await read(command)).pack, undefined)
  assert.equal((await read(Buffer.from('0010 rubbish'))).request, undefined)
  assert.equal((await read(Buffer.alloc(3 * 2 ** 20, 'x'), 2 ** 20)).request, undefined)
})

test('requests that clients do not send are not read', () => {
  for (const body of ['x', '0003', 'ffff', '0008abcd', '0032want 123'])
    assert.equal(readFetchRequest(Buffer.from(body)), undefined, body)
  for (const body of ['', '0008abcd', `${packet(`${OID} x`)}0000`])
    assert.equal(readPushRequest(Buffer.from(body)), undefined, body)
  const asked = Buffer.concat([
    packet(`want ${OID} multi_ack_detailed side-band-64k\n`),
    packet('deepen 2'),
    FLUSH,
    packet(`have ${OID}\n`),
  ])
  assert.deepEqual(readFetchRequest(asked), {
    wants: [OID],
    haves: [OID],
    shallow: [],
    depth: 2,
    isDone: false,
    isDetailed: true,
    isBanded: true,
  })
})

test('a client that is not done learns what is common, one that is gets the pack', async () => {
  const request = { wants: [OID], haves: [OID], shallow: [], depth: undefined, isDone: false, isDetailed: true, isBanded: true }
  const pack = () => Readable.from([Buffer.alloc(70_000, 1)])
  const answer = async (changed: object, common: readonly string[] = [OID]) =>
    Buffer.concat(await Array.fromAsync(fetched({ ...request, ...changed }, { common, shallow: [OID], unshallow: [] }, pack)))
  assert.equal(String(await answer({})), `0038ACK ${OID} common\n0008NAK\n`)
  assert.equal(String(await answer({}, [])), '0008NAK\n')
  assert.equal(String(await answer({ isDetailed: false })), `0031ACK ${OID}\n`)
  assert.equal(String(await answer({ depth: 1, haves: [] }, [])), `0034shallow ${OID}0000`)
  const done = await answer({ isDone: true })
  assert.ok(
    done.toString('latin1').startsWith(`0038ACK ${OID} common\n0031ACK ${OID}\nfff0\x01`),
    'in packets that are as large as may be',
  )
  assert.equal((await answer({ isDone: true, isBanded: false }, [])).length, 8 + 70_000)
})
