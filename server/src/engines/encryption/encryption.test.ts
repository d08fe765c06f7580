import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DataKey, dataKeyIdOf, newDataKey, newKey, open, seal, unwrap, wrap } from './cipher.ts'
import { newRootKey, rootKeysFromEnvironment, rootKeysFromFile } from './root-keys.ts'

const NONCES = process.env.MILLRACE_LONG ? 1_000_000 : 20_000

/** GCM test case 16 of McGrew and Viega (AES-256, with associated data): the cipher itself is the standard one. */
const KNOWN: { key: DataKey; nonce: Buffer } = {
  key: {
    id: '0011223344556677',
    key: createSecretKey('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308', 'hex'),
  },
  nonce: Buffer.from('cafebabefacedbaddecaf888', 'hex'),
}

test('a known text becomes the known cipher', () => {
  const sealed = Buffer.from(seal(KNOWN.key, 'millrace', 'context', KNOWN.nonce), 'base64')
  assert.equal(sealed.subarray(0, 21).toString('hex'), '010011223344556677cafebabefacedbaddecaf888')
  // With the key and nonce of the published vector the key stream is the published one: its plaintext xor its ciphertext.
  const plain = Buffer.from('d9313225f88406e5', 'hex')
  const published = Buffer.from('522dc1f099567d07', 'hex')
  const stream = plain.map((byte, i) => byte ^ published[i]!)
  assert.deepEqual(Buffer.from(sealed.subarray(37).map((byte, i) => byte ^ stream[i]!)).toString(), 'millrace')
})

test('what was sealed opens again, whatever it is', () => {
  const key = newDataKey()
  for (const text of ['', 'x', 'žluťoučký kůň \u0000 🐎', 'a'.repeat(1_000_000)]) {
    const sealed = seal(key, text, 'scope')
    assert.equal(dataKeyIdOf(sealed), key.id)
    assert.equal(open(key, sealed, 'scope'), text)
  }
})

test('every changed bit, a wrong key, a wrong scope and a cut text are refused', () => {
  const key = newDataKey()
  const sealed = seal(key, 'secret', 'scope')
  const bytes = Buffer.from(sealed, 'base64')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const tampered = Buffer.from(bytes)
    tampered[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(open(key, tampered.toString('base64'), 'scope'), undefined, `bit ${bit}`)
  }
  for (let length = 0; length < bytes.length; length++)
    assert.equal(open(key, bytes.subarray(0, length).toString('base64'), 'scope'), undefined)
  assert.equal(open(key, sealed, 'other scope'), undefined)
  assert.equal(open({ id: key.id, key: newKey() }, sealed, 'scope'), undefined)
  assert.equal(open(newDataKey(), sealed, 'scope'), undefined)
  assert.equal(open(key, `${sealed} `, 'scope'), undefined)
})

test('nonces do not repeat', () => {
  const key = newDataKey()
  const seen = new Set<string>()
  for (let i = 0; i < NONCES; i++)
    seen.add(
      Buffer.from(seal(key, 'x', ''), 'base64')
        .subarray(9, 21)
        .toString('base64'),
    )
  assert.equal(seen.size, NONCES)
})

test('a data key unwraps for its own owner only', () => {
  const root = newKey()
  const key = newDataKey()
  const wrapped = wrap(root, key, '7')
  assert.ok(unwrap(root, key.id, '7', wrapped)?.key.equals(key.key))
  assert.equal(unwrap(root, key.id, '8', wrapped), undefined)
  assert.equal(unwrap(newKey(), key.id, '7', wrapped), undefined)
})

const inFolder = async (work: (path: string, folder: string) => Promise<void>) => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-keys-'))
  await work(join(folder, 'root-keys'), folder).finally(() => rm(folder, { recursive: true }))
}

test('the key file is made once, also by many at once, and only its owner can read it', () =>
  inFolder(async (path, folder) => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await rootKeysFromFile(path).readOrCreate())[0]!.id))
    assert.equal(new Set(ids).size, 1)
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(folder), ['root-keys'])
  }))

test('a key file that others can read is closed again', () =>
  inFolder(async (path) => {
    await rootKeysFromFile(path).readOrCreate()
    await chmod(path, 0o644)
    await rootKeysFromFile(path).read()
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  }))

test('keys are written in order and read again', () =>
  inFolder(async (path) => {
    const keys = [newRootKey(), newRootKey()]
    await rootKeysFromFile(path).write(keys)
    assert.deepEqual(
      (await rootKeysFromFile(path).read()).map((key) => key.id),
      keys.map((key) => key.id),
    )
  }))

test('a broken key file stops the start and is not replaced', () =>
  inFolder(async (path) => {
    for (const content of ['', 'nonsense\n', '# only a comment\n']) {
      await writeFile(path, content)
      await assert.rejects(rootKeysFromFile(path).read(), /holds no usable root key/)
      assert.equal(await readFile(path, 'utf8'), content)
    }
  }))

test('keys of the environment stay in their order and cannot be written', async () => {
  const [current, old] = [newRootKey(), newRootKey()]
  const rootKeys = rootKeysFromEnvironment([current, old].map(({ key }) => key.export()))
  assert.deepEqual(
    (await rootKeys.read()).map(({ id }) => id),
    [current.id, old.id],
  )
  await assert.rejects(rootKeys.write([current]), /MILLRACE_ENCRYPTION_KEY/)
})
