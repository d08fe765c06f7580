import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { AccessScope } from './object-access.ts'
import { createSessionTokens } from './session-token.ts'

const SCOPE: AccessScope = {
  grants: [
    { action: 'upload', key: 'exp-15/1/files/ž.csv', isPrefix: false },
    { action: 'download', key: 'tables/1/', isPrefix: true },
  ],
  demandEncryption: true,
}
const OF_VERSION_1 =
  'WzEsIkFTSUFFR0IzMkVKU0RBSlpMV01CIiwxOTAwMDAwMDAwMDAwLCJkb3dubG9hZCIsImV4cC0xNS8xL2ZpbGVzL8W+LmNzdiIsdHJ1ZSxmYWxzZV0=.qVSDKHDiHiT69SV57vOzlpLQ4bfDbtUOFcbXEm5e8YY='
const EXPIRES = 1_900_000_000_000

test('a token opens to what it was issued for, and to the same secret', () => {
  const sessions = createSessionTokens(Buffer.from('a secret of the server'))
  const issued = sessions.issue(SCOPE, EXPIRES)
  assert.deepEqual(sessions.open(issued.sessionToken), {
    accessKeyId: issued.accessKeyId,
    secretAccessKey: issued.secretAccessKey,
    expiresMs: EXPIRES,
    scope: SCOPE,
  })
})

test('a token that the version before issued opens to its one grant', () => {
  const sessions = createSessionTokens(Buffer.from('a secret of the server'))
  assert.deepEqual(sessions.open(OF_VERSION_1)?.scope, {
    grants: [{ action: 'download', key: 'exp-15/1/files/ž.csv', isPrefix: true }],
    demandEncryption: false,
  })
})

test('a token of another server, or with any character changed, does not open', () => {
  const sessions = createSessionTokens(Buffer.from('a secret of the server'))
  const { sessionToken } = sessions.issue(SCOPE, EXPIRES)
  assert.equal(createSessionTokens(Buffer.from('another secret')).open(sessionToken), undefined)
  for (let i = 0; i < sessionToken.length; i++) {
    const swapped = sessionToken[i] === 'A' ? 'B' : 'A'
    const changed = sessionToken.slice(0, i) + swapped + sessionToken.slice(i + 1)
    // The last character of base64 carries bits that mean nothing: the bytes of the MAC must differ, not its spelling.
    const opened = sessions.open(changed)
    assert.ok(
      opened === undefined ||
        Buffer.from(changed.split('.')[1]!, 'base64').equals(Buffer.from(sessionToken.split('.')[1]!, 'base64')),
      `at ${i}`,
    )
  }
  for (const junk of ['', '.', 'x', 'a.b', '..', randomBytes(3000).toString('base64')])
    assert.equal(sessions.open(junk), undefined)
})

test('no two issued credentials are alike, and none is the root key', () => {
  const sessions = createSessionTokens(Buffer.from('a secret of the server'))
  const ids = Array.from({ length: 1000 }, () => sessions.issue(SCOPE, EXPIRES))
  assert.equal(new Set(ids.map((issued) => issued.accessKeyId)).size, 1000)
  assert.equal(new Set(ids.map((issued) => issued.secretAccessKey)).size, 1000)
  assert.notEqual(sessions.root.secretAccessKey, createSessionTokens(Buffer.from('other')).root.secretAccessKey)
})
