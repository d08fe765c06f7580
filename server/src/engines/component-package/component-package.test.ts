import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { lookAtFolder, type Package, packFolder, removeOthers, unpackOnce } from './component-package.ts'

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-package-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function packed(folder: string): Promise<Package> {
  const found = await lookAtFolder(folder)
  assert.ok(found.ok)
  return packFolder(folder, found.files)
}

test('a folder comes back with its files and with what can be run', async (t) => {
  const [folder, cache] = [await newFolder(t), await newFolder(t)]
  await mkdir(join(folder, 'lib', 'deep'), { recursive: true })
  await writeFile(join(folder, 'run.sh'), '#!/bin/sh\n')
  await chmod(join(folder, 'run.sh'), 0o700)
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i)
  await writeFile(join(folder, 'lib', 'deep', 'ž.bin'), bytes)
  const one = await packed(folder)
  const target = await unpackOnce(cache, one.digest, async () => one.bytes)
  assert.deepEqual(await readFile(join(target, 'lib', 'deep', 'ž.bin')), Buffer.from(bytes))
  assert.deepEqual(
    [(await stat(join(target, 'run.sh'))).mode & 0o111, (await stat(join(target, 'lib', 'deep', 'ž.bin'))).mode & 0o111],
    [0o111, 0],
  )
  await unpackOnce(cache, one.digest, () => assert.fail('it is there already'))

  assert.equal((await packed(folder)).digest, one.digest, 'the same files have the same digest')
  await writeFile(join(folder, 'run.sh'), '#!/bin/sh\nexit 1\n')
  assert.notEqual((await packed(folder)).digest, one.digest)
  await removeOthers(cache, new Set())
  assert.deepEqual(await readdir(cache), [])
})

test('what changes between two looks changes the stamp; links, missing and large folders are refused by their reason', async (t) => {
  const folder = await newFolder(t)
  const stampOf = async () => {
    const found = await lookAtFolder(folder)
    return found.ok ? found.stamp : found.reason
  }
  const before = await stampOf()
  await writeFile(join(folder, 'a'), '1')
  assert.notEqual(await stampOf(), before)
  await symlink('/etc/passwd', join(folder, 'link'))
  assert.equal(await stampOf(), '"link" in its folder is not a plain file')
  await rm(join(folder, 'link'))
  await writeFile(join(folder, 'large'), Buffer.alloc(17 << 20))
  assert.equal(await stampOf(), 'its folder has more than 16 MiB')
  await rm(folder, { recursive: true })
  assert.equal(await stampOf(), 'its folder cannot be read')
})

test('a damaged package and one with a way out are never unpacked', async (t) => {
  const [folder, cache] = [await newFolder(t), await newFolder(t)]
  await writeFile(join(folder, 'a'), '1')
  const { digest } = await packed(folder)
  const text = JSON.stringify([{ path: '../out', isExecutable: false, content: '' }])
  const forged = gzipSync(text)
  await assert.rejects(
    unpackOnce(cache, digest, async () => forged),
    /is damaged/,
  )
  const named = createHash('sha256').update(text).digest('hex')
  await assert.rejects(
    unpackOnce(cache, named, async () => forged),
    /outside its folder/,
  )
  assert.deepEqual(await readdir(cache), [])
})

test('runs that need the same folder at once share it', async (t) => {
  const [folder, cache] = [await newFolder(t), await newFolder(t)]
  await writeFile(join(folder, 'a'), '1')
  const { digest, bytes } = await packed(folder)
  const found = await Promise.all(Array.from({ length: 8 }, () => unpackOnce(cache, digest, async () => bytes)))
  assert.equal(new Set(found).size, 1)
  assert.deepEqual(await readdir(cache), [digest])
})
