import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newRootKey, type RootKeys, rootKeysFromEnvironment, rootKeysFromFile } from '../../../engines/encryption/root-keys.ts'
import type { MetadataDb } from '../../../engines/metadata-db/metadata-db.ts'
import { systemClock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { listDataKeys } from './encryption.store.ts'
import { createEncryption, type Encryption } from './encryption.ts'
import { createKeyRing } from './key-ring.ts'
import { isCipher, isPlaceholder, kindFor } from './scope.ts'

const EXISTING = new Set([1, 2, 3])
const NAMES = ['keboola.ex-generic-v2', 'platform.ex-http']

const open = (metadata: MetadataDb, rootKeys: RootKeys, names = NAMES): Encryption =>
  createEncryption({
    keyRing: createKeyRing({ ...metadata, rootKeys, projectExists: async (id) => EXISTING.has(id), clock: systemClock }),
    componentNames: (id) => (names.includes(id) ? names : [id]),
  })

const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof PlatformError ? error.code : String(error)
  }
  return 'nothing was thrown'
}

test('every combination of ids has its prefix, and the others are refused', () => {
  const expected: Record<string, string | undefined> = {
    '': 'Secure',
    c: 'ComponentSecure',
    cp: 'ProjectSecure',
    cpg: 'ConfigSecure',
    p: 'ProjectWideSecure',
    pb: 'ProjectWideBranchTypeSecure',
    cpb: 'BranchTypeSecure',
    cpgb: 'BranchTypeConfigSecure',
  }
  for (let bits = 0; bits < 16; bits++) {
    const letters = ['c', 'p', 'g', 'b'].filter((_, i) => bits & (1 << i)).join('')
    const id = (letter: string) => (letters.includes(letter) ? letter : undefined)
    assert.equal(
      kindFor({ componentId: id('c'), projectId: id('p'), configId: id('g'), branchType: id('b') }),
      expected[letters],
      letters,
    )
  }
})

test('ciphers of other clouds and of the past are recognised, lookalikes are not', () => {
  for (const cipher of [
    'KBC::ProjectSecure::abc',
    'KBC::ProjectSecureKV::x',
    'KBC::SecureGKMS::x',
    'KBC::ComponentProjectEncrypted==x',
    'KBC::Encrypted==x',
  ])
    assert.ok(isCipher(cipher), cipher)
  for (const text of ['KBC::', 'KBC::Nonsense::x', 'KBC::UnknownSecure::x', 'xKBC::ProjectSecure::x', 'kbc::projectsecure::x'])
    assert.ok(!isCipher(text), text)
  for (const text of ['{{ a }}', '{{vault.x}}']) assert.ok(isPlaceholder(text), text)
  for (const text of ['{{a}}{{b}}', 'x{{a}}', '{{a}} ', '{{a', '{{{a}}}']) assert.ok(!isPlaceholder(text), text)
})

await onBothDatabases('encryption', (metadata) => {
  const folder = mkdtemp(join(tmpdir(), 'millrace-encryption-'))
  after(async () => rm(await folder, { recursive: true }))
  const keysOfFile = async () => rootKeysFromFile(join(await folder, 'root-keys'))

  test('only clear scalars under # change, and the rest of the text stays byte for byte', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const text =
      '{ "big": 12345678901234567890, "#n":1.10,"#t":true, "#z":null,"o":{"plain":"p","#in":"s"},"#l":["a",["b"]],"\\u0023esc":"e","#p":"{{ x }}","#e":"" ,"2":2,"1":1}'
    const encrypted = secrets.encrypt(text, 'platform.ex-http')
    assert.match(
      encrypted,
      /^\{ "big": 12345678901234567890, "#n":"KBC::ProjectSecure::[\w+/=]+","#t":"KBC[^"]+", "#z":"KBC[^"]+","o":\{"plain":"p","#in":"KBC[^"]+"\},"#l":\["KBC[^"]+",\["KBC[^"]+"\]\],"\\u0023esc":"KBC[^"]+","#p":"\{\{ x \}\}","#e":"KBC[^"]+" ,"2":2,"1":1\}$/,
    )
    const decrypted = secrets.decrypt(encrypted, { componentId: 'platform.ex-http' })
    assert.equal(
      decrypted.text,
      '{ "big": 12345678901234567890, "#n":"1.10","#t":"true", "#z":"","o":{"plain":"p","#in":"s"},"#l":["a",["b"]],"\\u0023esc":"e","#p":"{{ x }}","#e":"" ,"2":2,"1":1}',
    )
    assert.deepEqual(decrypted.values, ['1.10', 'true', 's', 'a', 'b', 'e'])
    assert.equal(secrets.encrypt(encrypted, 'platform.ex-http'), encrypted, 'encrypting again changes nothing')
  })

  test('Z1: an object below # is sealed whole and opens as it was sent', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const texts = [
      '{"#credentials": { "password":"x", "port":5432 , "big":12345678901234567890,"on":true,"no":null,"e":"","in":{"#deep":["y"]}}}',
      '{"a":[{"#list":[{"password":"y"},"z",1.10]}]}',
      '{"\\u0023x":{"name":"#n","value":"v"}}',
      '{"#x":"\\u0000json:{\\"a\\":1}"}',
      '{"#mixed":{"user":"bob","port":1,"password":"{{ pw }}"}}',
    ]
    for (const text of texts) {
      const encrypted = secrets.encrypt(text, 'c')
      assert.doesNotMatch(encrypted, /"(x|y|z|v|bob|password":"y)"|5432|1\.10|:true/, encrypted)
      assert.equal(secrets.decrypt(encrypted, { componentId: 'c' }).text, text)
      assert.equal(secrets.encrypt(encrypted, 'c'), encrypted, 'a cipher stays as it is')
      assert.equal(secrets.encrypt(text, 'c', encrypted), encrypted, 'the same value keeps its cipher')
    }
    const whole = secrets.encrypt(texts[0]!, 'c')
    assert.match(whole, /^\{"#credentials": "KBC::ProjectSecure::[\w+/=]+"\}$/)
    assert.deepEqual(
      secrets.decrypt(whole, { componentId: 'c' }).values,
      ['x', '5432', '12345678901234567890', 'y'],
      'what is hidden in logs',
    )
    assert.match(
      secrets.encrypt(texts[4]!, 'c'),
      /^\{"#mixed":\{"user":"KBC[^"]+","port":"KBC[^"]+","password":"\{\{ pw \}\}"\}\}$/,
    )
  })

  test('Z1: ciphers inside an object below # open with it, and an object that holds nothing clear stays', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const inner = JSON.parse(secrets.encrypt('{"#k":"v"}', 'c'))['#k']
    const left = `{"#a":{"#k":"${inner}","b":"{{ b }}"},"#e":{},"#f":[{}]}`
    assert.equal(secrets.encrypt(left, 'c'), left)
    const opened = secrets.decrypt(left, { componentId: 'c' })
    assert.deepEqual([opened.text, opened.values], ['{"#a":{"#k":"v","b":"{{ b }}"},"#e":{},"#f":[{}]}', ['v']])
    const encrypted = secrets.encrypt(`{"#a":{"#k":"${inner}","user":"u"}}`, 'c')
    const whole = secrets.decrypt(encrypted, { componentId: 'c' })
    assert.deepEqual([whole.text, whole.values], ['{"#a":{"#k":"v","user":"u"}}', ['v', 'u']])
    assert.throws(() => secrets.decrypt(encrypted, { componentId: 'd' }), { code: 'encryption.foreignCipher' })
  })

  test('Z1: an object that was stored in clear opens, and its values are hidden', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const stored = '{"#credentials":{"password":"x","user":""}}'
    assert.deepEqual(secrets.decrypt(stored, { componentId: 'c' }), { text: stored, values: ['x'] })
  })

  test('Z1: an object as the value of a variable named with # is sealed whole', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const row = '{"values":[{"name":"#x","value":{"a":"b"}},{"name":"#y","value":["c"]},{"name":"z","value":["d"]}]}'
    const encrypted = secrets.encrypt(row, 'keboola.variables')
    assert.match(
      encrypted,
      /"value":"KBC::ProjectWideSecure[^"]+"\},\{"name":"#y","value":"KBC[^"]+"\},\{"name":"z","value":\["d"\]/,
    )
    assert.equal(secrets.decrypt(encrypted, { componentId: 'keboola.variables' }).text, row)
  })

  test('Z1: the encrypt endpoint seals objects whole', async () => {
    const encryption = open(metadata, await keysOfFile())
    const scope = { componentId: 'c', projectId: '1' }
    const cipher = await encryption.encryptBody('{"#o":{"password":"x"},"#l":[{"password":"y"}]}', true, scope)
    assert.match(cipher, /^\{"#o":"KBC::ProjectSecure::[^"]+","#l":"KBC::ProjectSecure::[^"]+"\}$/)
    assert.equal(await encryption.decryptBody(JSON.parse(cipher)['#o'], scope), '{"password":"x"}')
    const marked = '\0json:nonsense'
    assert.equal(await encryption.decryptBody(await encryption.encryptBody(marked, false, scope), scope), marked)
  })

  test('a clear value that did not change keeps its cipher', async () => {
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const before = secrets.encrypt('{"a":{"#x":"1","#y":"2"}}', 'c')
    const after = secrets.encrypt('{"a":{"#x":"1","#y":"other"}}', 'c', before)
    assert.equal(JSON.parse(after).a['#x'], JSON.parse(before).a['#x'])
    assert.notEqual(JSON.parse(after).a['#y'], JSON.parse(before).a['#y'])
  })

  test('ciphers of another project, component or configuration, damaged ones and clear values are refused by the path', async () => {
    const encryption = open(metadata, await keysOfFile())
    const [one, two] = [await encryption.secretsOf(1), await encryption.secretsOf(2)]
    const text = one.encrypt('{"p":[{"#k":"v"}]}', 'c')
    for (const refused of [
      () => two.decrypt(text, { componentId: 'c' }),
      () => one.decrypt(text, { componentId: 'd' }),
      () => one.decrypt(text.replace(/.("}]})$/, '$1'), { componentId: 'c' }),
    ]) {
      assert.equal(codeOf(refused), 'encryption.foreignCipher')
      assert.throws(refused, /p\.0\.#k/)
    }
    assert.equal(
      codeOf(() => one.decrypt('{"#k":"clear"}', { componentId: 'c' })),
      'encryption.notEncrypted',
    )
    const forConfig = await encryption.encryptBody('{"#k":"v"}', true, { componentId: 'c', projectId: '1', configId: '7' })
    assert.equal(one.decrypt(forConfig, { componentId: 'c', configurationId: '7' }).text, '{"#k":"v"}')
    assert.equal(
      codeOf(() => one.decrypt(forConfig, { componentId: 'c', configurationId: '8' })),
      'encryption.foreignCipher',
    )
  })

  test('a wider cipher opens in a narrower place, by either name of the component', async () => {
    const encryption = open(metadata, await keysOfFile())
    const place = { componentId: 'platform.ex-http', configurationId: '7', branchType: 'dev' } as const
    for (const scope of [
      {},
      { componentId: 'keboola.ex-generic-v2' },
      { componentId: 'keboola.ex-generic-v2', projectId: '1' },
      { projectId: '1' },
      { projectId: '1', branchType: 'dev' },
      { componentId: 'platform.ex-http', projectId: '1', branchType: 'dev' },
      { componentId: 'platform.ex-http', projectId: '1', configId: '7', branchType: 'dev' },
    ]) {
      const cipher = await encryption.encryptBody('{"#k":"v"}', true, scope)
      assert.equal((await encryption.secretsOf(1)).decrypt(cipher, place).text, '{"#k":"v"}', JSON.stringify(scope))
    }
  })

  test('ciphers of the time when another id was the own one of the component open, and stay as they are', async () => {
    const formerly = await open(metadata, await keysOfFile(), NAMES.toReversed()).secretsOf(1)
    const secrets = await open(metadata, await keysOfFile()).secretsOf(1)
    const text = formerly.encrypt('{"#k":"v"}', 'keboola.ex-generic-v2')
    assert.equal(secrets.decrypt(text, { componentId: 'keboola.ex-generic-v2' }).text, '{"#k":"v"}')
    assert.equal(secrets.encrypt('{"#k":"v"}', 'keboola.ex-generic-v2', text), text)
    assert.equal(
      codeOf(() => secrets.decrypt(text, { componentId: 'other' })),
      'encryption.foreignCipher',
    )
  })

  test('a text body is encrypted whole, and again means unchanged', async () => {
    const encryption = open(metadata, await keysOfFile())
    const cipher = await encryption.encryptBody('a secret', false, { componentId: 'c', projectId: '1' })
    assert.ok(cipher.startsWith('KBC::ProjectSecure::'))
    assert.equal(await encryption.encryptBody(cipher, false, { componentId: 'c', projectId: '1' }), cipher)
    const inJson = await encryption.encryptBody(' "a \\"secret\\""', true, { componentId: 'c', projectId: '1' })
    assert.match(inJson, /^"KBC::ProjectSecure::[^"]+"$/)
    assert.equal(await encryption.encryptBody(inJson, true, { componentId: 'c', projectId: '1' }), inJson)
    await assert.rejects(encryption.encryptBody('x', false, { configId: '1', projectId: undefined }), {
      code: 'encryption.scope',
      message: /for this scope \(configId\)/,
    })
    await assert.rejects(encryption.encryptBody('{}', true, { branchType: 'dev' }), { code: 'encryption.scope' })
    await assert.rejects(encryption.encryptBody('{"#a":', true, {}), { code: 'malformedRequest' })
  })

  test('projects that do not exist share the key of the stack, so nobody fills the store with keys', async () => {
    const encryption = open(metadata, await keysOfFile())
    await encryption.encryptBody('x', false, {})
    const before = (await listDataKeys(metadata.db)).length
    for (const projectId of ['999', '0', '-1', '00001', 'a', '99999999999999999999999'])
      assert.ok((await encryption.encryptBody('x', false, { projectId })).startsWith('KBC::ProjectWideSecure::'))
    assert.equal((await listDataKeys(metadata.db)).length, before)
  })

  test('a rotation leaves one root key in the file, and every cipher opens, in this process and in the next', async () => {
    const rootKeys = await keysOfFile()
    const running = open(metadata, rootKeys)
    const cipher = (await running.secretsOf(2)).encrypt('{"#k":"v"}', 'c')
    const before = (await rootKeys.read())[0]!.id
    const [first, second] = await Promise.all([running.rotate(), open(metadata, rootKeys).rotate()])
    const present = await rootKeys.read()
    assert.equal(present.length, 1)
    assert.ok(present[0]!.id !== before && [first.rootKeyId, second.rootKeyId].includes(present[0]!.id))
    for (const encryption of [running, open(metadata, rootKeys)])
      assert.equal((await encryption.secretsOf(2)).decrypt(cipher, { componentId: 'c' }).text, '{"#k":"v"}')
    assert.equal(
      (await running.secretsOf(3)).encrypt('{"k":{"#l":1}}', 'c').startsWith('{"k":{"#l":"KBC::'),
      true,
      'new keys are still made',
    )
  })

  test('a rotation that is interrupted before or after its transaction can be opened and repeated', async () => {
    const rootKeys = await keysOfFile()
    const cipher = (await open(metadata, rootKeys).secretsOf(1)).encrypt('{"#k":"v"}', 'c')
    const dying = (failAt: number): RootKeys => {
      let writes = 0
      return {
        ...rootKeys,
        write: async (keys) => (++writes === failAt ? Promise.reject(new Error('killed')) : rootKeys.write(keys)),
      }
    }
    for (const failAt of [1, 2]) {
      await assert.rejects(open(metadata, dying(failAt)).rotate(), /killed/)
      assert.equal((await open(metadata, rootKeys).secretsOf(1)).decrypt(cipher, { componentId: 'c' }).text, '{"#k":"v"}')
    }
    await open(metadata, rootKeys).rotate()
    assert.equal((await rootKeys.read()).length, 1)
  })

  test('without its root key the store says so instead of making a new one', async () => {
    await open(metadata, await keysOfFile()).secretsOf(1)
    const wrong = rootKeysFromEnvironment([newRootKey().key.export()])
    await assert.rejects(open(metadata, wrong).secretsOf(1), /root key .* is missing/)
    const nowhere = join(await folder, 'lost-root-keys')
    await assert.rejects(open(metadata, rootKeysFromFile(nowhere)).secretsOf(77), /root key .* is missing/)
    await assert.rejects(readFile(nowhere), { code: 'ENOENT' })
  })

  test('keys of the environment rotate to the first of them', async () => {
    const file = await keysOfFile()
    const old = (await file.read())[0]!
    const fresh = newRootKey()
    const both = rootKeysFromEnvironment([fresh, old].map(({ key }) => key.export()))
    const encryption = open(metadata, both)
    assert.equal((await encryption.rotate()).rootKeyId, fresh.id)
    await file.write([fresh, old])
    assert.ok((await readFile(join(await folder, 'root-keys'), 'utf8')).includes(fresh.key.export().toString('base64')))
    await open(metadata, rootKeysFromEnvironment([fresh.key.export()])).secretsOf(1)
  })
})
