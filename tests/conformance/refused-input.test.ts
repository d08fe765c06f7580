// What a client sends and the stack does not take is refused with a sentence, never ignored.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { shareTestStack } from '../support/test-stack.ts'

const startProject = shareTestStack({ bodyLimitBytes: 2 ** 20 })

const formOf = (...parts: readonly (readonly [name: string, value: string | Blob, filename?: string])[]): FormData => {
  const form = new FormData()
  for (const [name, value, filename] of parts)
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename)
  return form
}
const packed = (text: string) => new Blob([gzipSync(text)])

test('an upload has one file, and an empty field is none', async () => {
  const { request } = await startProject()
  const upload = (form: FormData) => request('POST', '/import/upload-file', { body: form })
  const twice = await upload(formOf(['data', new Blob(['a']), 'a.csv'], ['data', new Blob(['b']), 'b.csv']))
  assert.equal(twice.status, 400)
  assert.match(twice.text, /has the file .{1,2}data.{1,2} twice/)
  const empty = await upload(formOf(['data', '']))
  assert.equal(empty.status, 400)
  assert.match(empty.text, /The form has no file/)
  assert.deepEqual((await request('GET', '/v2/storage/files')).json(), [], 'neither left a file')
  assert.equal((await upload(formOf(['data', new Blob([]), 'empty.csv']))).status, 200)
  assert.equal((await upload(formOf(['data', 'text of a field']))).status, 200)
})

test('a packed JSON or urlencoded body is unpacked within the limit; other encodings and packed forms are refused', async () => {
  const { request } = await startProject()
  const send = (body: Uint8Array<ArrayBuffer>, type: string, encoding = 'gzip') =>
    request('POST', '/v2/storage/events', { body, headers: { 'content-type': type, 'content-encoding': encoding } })
  const bytes = (text: string) => new Uint8Array(gzipSync(text))
  assert.equal((await send(bytes('{"component":"c","message":"m"}'), 'application/json')).status, 201)
  assert.equal((await send(bytes('component=c&message=m'), 'application/x-www-form-urlencoded')).status, 201)
  assert.equal((await send(bytes(`{"message":"${'x'.repeat(2 ** 21)}"}`), 'application/json')).status, 413)
  assert.match((await send(bytes('{}').subarray(0, 12), 'application/json')).text, /not valid gzip/)
  assert.match((await send(bytes('{}'), 'application/json', 'br')).text, /Content-Encoding .{1,2}br/)
  assert.match((await send(bytes('x'), 'multipart/form-data; boundary=B')).text, /Content-Encoding .{1,2}gzip/)
})

test('integers with more digits than are kept are refused', async () => {
  const { request } = await startProject()
  for (const [path, name] of [
    ['workspaces', 'configurationVersion'],
    ['merge-request', 'branchFromId'],
    ['triggers', 'runWithTokenId'],
  ] as const)
    for (const digits of ['99999999999999999999999', '9007199254740993', '1e300']) {
      const body = `{"${name}": ${digits}}`
      const answer = await request('POST', `/v2/storage/${path}`, { body, headers: { 'content-type': 'application/json' } })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, new RegExp(`${name}[^]*This value should be of type integer`))
    }
})

test('a packed file is loaded whatever its name is', async () => {
  const { request } = await startProject()
  await request('POST', '/v2/storage/buckets', { json: { name: 'packed', stage: 'in' } })
  const form = formOf(['name', 'rows'], ['data', packed('id,name\n1,first\n'), 'rows.csv'])
  const made = await request('POST', '/v2/storage/buckets/in.c-packed/tables', { body: form })
  assert.ok(made.status < 300, made.text)
  assert.equal((await request('GET', '/v2/storage/tables/in.c-packed.rows/data-preview')).text, '"id","name"\n"1","first"\n')
})

test('unknown members of a preview of a schedule and of a copy of a version are refused', async () => {
  const { request } = await startProject()
  const preview = await request('POST', '/scheduler/preview', { json: { cronTab: '0 6 * * *', timeZone: 'Europe/Prague' } })
  assert.equal(preview.status, 400)
  assert.match(preview.text, /timeZone/)
  const configs = '/v2/storage/components/ex-generic-v2/configs'
  const { id } = (await request('POST', configs, { json: { name: 'one', configuration: {} } })).json()
  const copy = (json: object) => request('POST', `${configs}/${id}/versions/1/create`, { json })
  const refused = await copy({ name: 'two', branchId: 424242 })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /branchId/)
  assert.equal((await copy({ name: 'two' })).status, 201)
  const row = (await request('POST', `${configs}/${id}/rows`, { json: { name: 'row', configuration: {} } })).json()
  const rowCopy = await request('POST', `${configs}/${id}/rows/${row.id}/versions/1/create`, { json: { targetBranchId: 1 } })
  assert.equal(rowCopy.status, 400, rowCopy.text)
})
