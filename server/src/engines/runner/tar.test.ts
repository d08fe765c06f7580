import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listSlices } from './data-folder.ts'
import { packFolder, unpackFile } from './tar.ts'

const SIGNAL = new AbortController().signal

async function scratch(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'millrace-tar-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { root, write, at: (path: string) => join(root, path) }
}

const FILES: Readonly<Record<string, string | Buffer>> = {
  empty: '',
  'a/b/c.txt': 'hello',
  'exact block': Buffer.alloc(512, 1),
  large: Buffer.alloc(300_000, 'x'),
  [`${'long/'.repeat(40)}name`]: 'far away',
  'žluťoučký 😀': 'not ASCII',
}

test('what is packed comes back the same, by us and by any tar', async (t) => {
  const { root, write, at } = await scratch(t)
  for (const [name, content] of Object.entries(FILES)) write(`from/${name}`, content)
  await packFolder(at('from'), at('one.tar.gz'), SIGNAL)
  mkdirSync(at('theirs'))
  execFileSync('tar', ['-xzf', at('one.tar.gz'), '-C', at('theirs')])
  await unpackFile(at('ours'), at('one.tar.gz'), 10e6, SIGNAL)
  assert.equal(existsSync(at('one.tar.gz')), false)
  for (const copy of ['ours', 'theirs']) {
    assert.deepEqual(await listSlices(join(root, copy)), Object.keys(FILES).sort())
    for (const [name, content] of Object.entries(FILES))
      assert.ok(readFileSync(join(root, copy, name)).equals(Buffer.from(content)), `${copy}/${name}`)
  }
})

test('an archive of another tar is read: links and folders in it are passed over', async (t) => {
  const { write, at } = await scratch(t)
  write(`from/${'deep/'.repeat(30)}plain`, 'x')
  execFileSync('ln', ['-s', '/etc/passwd', at('from/link')])
  for (const format of ['ustar', 'pax']) {
    execFileSync('tar', ['-czf', at('it.tar.gz'), `--format=${format}`, '-C', at('from'), '.'])
    await unpackFile(at(format), at('it.tar.gz'), 1e6, SIGNAL)
    assert.deepEqual(await listSlices(at(format)), [`${'deep/'.repeat(30)}plain`])
  }
})

test('an archive that leads out, grows without end, or is none is refused', async (t) => {
  const { write, at } = await scratch(t)
  const refuse = async (content: Buffer, reason: RegExp) => {
    write('bad.tar.gz', content)
    await assert.rejects(unpackFile(at('into'), at('bad.tar.gz'), 1e6, SIGNAL), {
      code: 'runner.invalidArchive',
      message: reason,
    })
  }
  write('from/x', 'evil')
  execFileSync('tar', ['-czf', at('out.tar.gz'), '-P', '--transform', 's,x,../../escaped,', '-C', at('from'), 'x'])
  await refuse(readFileSync(at('out.tar.gz')), /is not a valid name of a file/)
  assert.equal(existsSync(at('../escaped')), false)
  write('from/x', Buffer.alloc(5_000_000))
  await packFolder(at('from'), at('bomb.tar.gz'), SIGNAL)
  await refuse(readFileSync(at('bomb.tar.gz')), /more than 1000000 bytes/)
  await refuse(Buffer.from('not gzip at all'), /incorrect header check/)
  await refuse(gzipSync('not tar at all, but long enough to be a block'.padEnd(600, '!')), /not a tar archive/)
  write('from/x', Buffer.alloc(20_000, 'y'))
  await packFolder(at('from'), at('cut.tar.gz'), SIGNAL)
  await refuse(readFileSync(at('cut.tar.gz')).subarray(0, 40), /unexpected end|ends too early/)
})
