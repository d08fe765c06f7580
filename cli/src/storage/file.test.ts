import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { prepareFile, uploadClient } from '../../../tests/support/clients/file-client.ts'
import { runCli } from '../../../tests/support/run-cli.ts'
import { shareTestStack } from '../../../tests/support/test-stack.ts'

const startProject = shareTestStack()

/** The real command, talking to a stack in this process, in a folder of its own. */
async function withStack(t: TestContext) {
  const stack = await startProject()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cli-'))
  t.after(() => rm(folder, { recursive: true }))
  const run = async (...args: string[]) => {
    const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken }
    const { code, out: stdout, err: stderr } = await runCli(args, env, { cwd: folder })
    return { code, stdout, stderr }
  }
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  return { stack, folder, run, json }
}

test('a file goes up and comes down, is listed, shown, tagged and deleted', async (t) => {
  const { folder, run, json } = await withStack(t)
  await writeFile(join(folder, 'orders.csv'), 'a,b\n1,2\n')
  const file = await json('file', 'upload', 'orders.csv', '--tag', 'one', 'two')
  assert.deepEqual([file.name, file.tags, file.sizeBytes, file.maxAgeDays], ['orders.csv', ['one', 'two'], 8, 15])
  assert.deepEqual(
    (await json('file', 'list', '--tag', 'two')).map((one: { id: number }) => one.id),
    [file.id],
  )
  assert.deepEqual(await json('file', 'list', '-q', 'name:nothing'), [])
  assert.match((await run('file', 'list')).stdout, /orders\.csv/)
  assert.match((await run('file', 'show', String(file.id))).stdout, /download {2}http/)
  assert.deepEqual((await json('file', 'tag', String(file.id), 'a/b', 'c')).tags, ['one', 'two', 'a/b', 'c'])
  assert.deepEqual((await json('file', 'tag', String(file.id), '--remove', 'a/b', 'one')).tags, ['two', 'c'])
  assert.equal((await run('file', 'download', String(file.id), '-o', 'copy.csv')).code, 0)
  assert.equal(await readFile(join(folder, 'copy.csv'), 'utf8'), 'a,b\n1,2\n')
  assert.equal((await run('file', 'download', String(file.id), '-o', '-')).stdout, 'a,b\n1,2\n')
  assert.equal((await run('file', 'delete', String(file.id))).code, 0)
  const gone = await run('file', 'show', String(file.id))
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /File not found/)
})

test('a large upload that was interrupted goes on where it stopped', async (t) => {
  const { stack, folder, json } = await withStack(t)
  const data = randomBytes(20_000_000)
  const path = join(folder, 'big.bin')
  await writeFile(path, data)
  // As an interrupted run leaves it: the first of three parts has arrived, the notes lie beside the file.
  const prepared = await prepareFile(stack, { name: 'big.bin', isEncrypted: true, sizeBytes: data.length })
  const { multipart } = stack.platform.objects.store
  const partBytes = 8 * 1024 * 1024
  const uploadId = await multipart.create(prepared.uploadParams!.key)
  const first = data.subarray(0, partBytes)
  const body = async function* () {
    yield first
  }
  await multipart.putPart(prepared.uploadParams!.key, uploadId, 1, body())
  const { size, mtimeMs } = await stat(path)
  const notes = { fileId: prepared.id, stack: stack.url, uploadId, partBytes, sizeBytes: size, modifiedMs: mtimeMs }
  await writeFile(`${path}.millrace-upload`, JSON.stringify(notes))
  const before = (await multipart.listParts(prepared.uploadParams!.key, uploadId))[0]!.modifiedMs

  const file = await json('file', 'upload', 'big.bin')
  assert.equal(file.id, prepared.id)
  assert.equal(file.sizeBytes, data.length)
  assert.ok(before > 0)
  assert.equal(existsSync(`${path}.millrace-upload`), false)
  await json('file', 'download', String(file.id), '-o', 'back.bin')
  assert.ok((await readFile(join(folder, 'back.bin'))).equals(data))
})

test('notes of another file, or of one that is gone, start a new upload', async (t) => {
  const { folder, json } = await withStack(t)
  const data = randomBytes(9_000_000)
  await writeFile(join(folder, 'f.bin'), data)
  await writeFile(join(folder, 'f.bin.millrace-upload'), '{"fileId":12345,"stack":"elsewhere"}')
  const file = await json('file', 'upload', 'f.bin', '--name', 'named', '--permanent')
  assert.deepEqual([file.name, file.sizeBytes, file.maxAgeDays], ['named', data.length, null])
})

test('a sliced file is downloaded as one', async (t) => {
  const { stack, run } = await withStack(t)
  const file = await prepareFile(stack, { isSliced: true })
  const { key, bucket } = file.uploadParams!
  const entries = []
  for (const slice of ['b', 'a']) {
    await uploadClient(file).send(new PutObjectCommand({ Bucket: bucket, Key: key + slice, Body: `${slice}\n` }))
    entries.push({ url: `s3://${bucket}/${key}${slice}` })
  }
  await uploadClient(file).send(
    new PutObjectCommand({ Bucket: bucket, Key: `${key}manifest`, Body: JSON.stringify({ entries }) }),
  )
  assert.equal((await run('file', 'download', String(file.id), '-o', '-')).stdout, 'b\na\n')
})

test('mistakes end with 1 and a sentence', async (t) => {
  const { stack, run } = await withStack(t)
  const { id } = await prepareFile(stack)
  for (const [args, sentence] of [
    [['upload', 'nothing-here'], /File .*nothing-here does not exist/],
    [['download', String(id), '-o', 'x'], /nothing has been uploaded/],
    [['download', '999'], /File not found/],
    [['show', 'abc'], /whole number/],
    [['list', '-q', '"open'], /quote is not closed/],
    [['tag', '999', 'x'], /File not found/],
  ] as const) {
    const { code, stderr } = await run('file', ...args)
    assert.equal(code, 1, stderr)
    assert.match(stderr, sentence)
  }
})
