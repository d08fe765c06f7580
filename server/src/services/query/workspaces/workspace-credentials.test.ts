import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { before, test } from 'node:test'
import pg from 'pg'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

interface View {
  readonly id: number
  readonly connection: { readonly user: string; readonly password?: string; readonly credentials?: { readonly id: number } }
}

let stack: TestStack
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
})
test.after(() => stop?.())

const PATH = '/v2/storage/workspaces'
const ask = async (method: string, path: string, json?: object) => stack.request(method, `${PATH}${path}`, json ? { json } : {})
const make = async (json: object = {}): Promise<View> => {
  const made = await ask('POST', '', json)
  assert.equal(made.status, 201, made.text)
  return made.json<View>()
}

async function connect(user: string, password: string): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user, password, database: 'workspace' })
  await client.connect()
  return client
}
/** The error that ends a connection; the client reports it twice. */
const endOf = (client: pg.Client): Promise<Error> => new Promise((resolve) => client.on('error', resolve))

const canLogIn = async (user: string, password: string): Promise<boolean> => {
  try {
    const client = await connect(user, password)
    await client.query('SELECT 1')
    await client.end()
    return true
  } catch (error) {
    assert.equal((error as { code?: string }).code, '28P01', String(error))
    return false
  }
}

test('W5, W15: after its token is deleted a workspace opens with the password that another token resets, with the rights of that token', async () => {
  const tokens = '/v2/storage/tokens'
  const made = await stack.request('POST', tokens, { json: { description: 'short', canManageBuckets: true } })
  const { id: tokenId, token } = made.json<{ id: string; token: string }>()
  const workspace = (await stack.request('POST', PATH, { json: {}, token })).json<View>()
  const { user } = workspace.connection
  const further = (await ask('POST', `/${workspace.id}/credentials`, {})).json<View>().connection.password ?? ''
  assert.equal((await stack.request('DELETE', `${tokens}/${tokenId}`)).status, 204)
  const refused = (password: string) => assert.rejects(connect(user, password), /is gone\. Reset the password of the workspace/)
  await refused(workspace.connection.password ?? '')
  await refused(further)

  const { password } = (await ask('POST', `/${workspace.id}/password`, {})).json<{ password: string }>()
  await stack.request('POST', '/v2/storage/buckets', { json: { name: 'names' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-names/tables', { json: { name: 't', dataString: 'id\n1\n' } })
  const client = await connect(user, password)
  const { rows } = await client.query('SELECT count(*) AS n FROM "workspace"."in.c-names"."t"') // the database as the connection names it
  await client.end()
  assert.equal(String(rows[0]?.n), '1')
  assert.equal(await canLogIn(user, further), false, 'it would have the rights of the other token')

  const kept = await make()
  const own = (await ask('POST', `/${kept.id}/credentials`, {})).json<View>().connection.password ?? ''
  await ask('POST', `/${kept.id}/password`, {})
  assert.equal(await canLogIn(kept.connection.user, own), true, 'the token of this one is there')
})

test('further credentials open the workspace until they are deleted', async () => {
  const workspace = await make()
  const { user } = workspace.connection
  const answer = await ask('POST', `/${workspace.id}/credentials`, {})
  assert.equal(answer.status, 200, answer.text)
  const { connection } = answer.json<View>()
  const password = connection.password ?? assert.fail('no password')
  const id = connection.credentials?.id
  assert.notEqual(password, workspace.connection.password)
  assert.equal(await canLogIn(user, password), true)
  assert.equal(await canLogIn(user, workspace.connection.password ?? ''), true)
  const shown = (await ask('GET', `/${workspace.id}/credentials/${id}`)).json<View>()
  assert.deepEqual([shown.id, shown.connection.credentials, shown.connection.password], [workspace.id, { id }, undefined])
  assert.equal((await ask('GET', `/${workspace.id}`)).json<View>().connection.credentials, undefined)

  const open = await connect(user, password)
  const ended = endOf(open)
  assert.equal((await ask('DELETE', `/${workspace.id}/credentials/${id}`)).status, 204)
  assert.match((await ended).message, /was deleted or changed|terminated/)
  assert.equal(await canLogIn(user, password), false)
  assert.equal(await canLogIn(user, workspace.connection.password ?? ''), true)
  for (const method of ['GET', 'DELETE']) {
    const gone = await ask(method, `/${workspace.id}/credentials/${id}`)
    assert.deepEqual([gone.status, gone.json<{ code: string }>().code], [404, 'workspace.credentialsNotFound'])
  }
  const other = await make()
  const foreign = (await ask('POST', `/${other.id}/credentials`, {})).json<View>().connection.credentials?.id
  assert.equal((await ask('GET', `/${workspace.id}/credentials/${foreign}`)).status, 404)
  const none = await make({ loginType: 'none' })
  assert.equal(
    (await ask('POST', `/${none.id}/credentials`, {})).json<{ code: string }>().code,
    'workspace.credentialsNotSupported',
  )
})

const text = (value: object | Buffer) =>
  (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))).toString('base64url')

function signed(key: KeyObject, alg: string, claims: object): string {
  const content = `${text({ alg, typ: 'JWT' })}.${text(claims)}`
  const signature = sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  return `${content}.${text(signature)}`
}
const soon = (seconds = 600) => Math.floor(Date.now() / 1000) + seconds

test('the holder of a private key logs in with a token of his own', async () => {
  const pairs = [
    ['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['EdDSA', generateKeyPairSync('ed25519')],
  ] as const
  const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString()
  for (const [alg, { publicKey, privateKey }] of pairs) {
    const { id, connection } = await make({ loginType: 'snowflake-service-keypair', publicKey: pemOf(publicKey) })
    assert.equal(connection.password, undefined)
    const sub = connection.user
    assert.equal(await canLogIn(sub, signed(privateKey, alg, { sub, exp: soon() })), true, alg)
    for (const [what, claims] of Object.entries({
      'another user': { sub: 'workspace_0', exp: soon() },
      'out of time': { sub, exp: soon(-5) },
      'for too long': { sub, exp: soon(7200) },
      'for ever': { sub },
    }))
      assert.equal(await canLogIn(sub, signed(privateKey, alg, claims)), false, what)
    const stranger = generateKeyPairSync('ed25519').privateKey
    assert.equal(await canLogIn(sub, signed(stranger, 'EdDSA', { sub, exp: soon() })), false)
    assert.equal(await canLogIn(sub, `${text({ alg: 'none' })}.${text({ sub, exp: soon() })}.`), false)
    assert.equal(await canLogIn(sub, 'x'), false)

    const next = generateKeyPairSync('ed25519')
    assert.equal((await ask('POST', `/${id}/public-key/second`, { publicKey: pemOf(next.publicKey) })).status, 200)
    const bySecond = signed(next.privateKey, 'EdDSA', { sub, exp: soon() })
    assert.equal(await canLogIn(sub, bySecond), true)
    const open = await connect(sub, bySecond)
    const ended = endOf(open)
    const der = pairs[2][1].publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const replaced = await ask('POST', `/${id}/public-key/second`, { publicKey: der })
    assert.equal(replaced.json<View>().id, id, replaced.text)
    assert.match((await ended).message, /was deleted or changed|terminated/)
    assert.equal(await canLogIn(sub, bySecond), false)
  }
})

test('what is not a public key is refused', async () => {
  const privateKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const { id } = await make({ loginType: 'snowflake-person-keypair' })
  for (const publicKey of ['x', 'MIIB', privateKey, short]) {
    const answer = await ask('POST', `/${id}/public-key`, { publicKey })
    assert.deepEqual([answer.status, answer.json<{ code: string }>().code], [400, 'workspace.publicKeyInvalid'])
    assert.equal((await ask('POST', '', { loginType: 'snowflake-person-keypair', publicKey })).status, 400)
  }
  const other = await make({ loginType: 'none' })
  const answer = await ask('POST', `/${other.id}/public-key`, { publicKey: 'x' })
  assert.equal(answer.json<{ code: string }>().code, 'workspace.publicKeyNotSupported')
})

/** A key, and a password for the user that it signs. */
function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    passwordOf: (sub: string) => signed(privateKey, 'EdDSA', { sub, exp: soon() }),
  }
}

test('W3: a public key turns a workspace with a password into one with a key', async () => {
  const { id, connection } = await make()
  const further = (await ask('POST', `/${id}/credentials`, {})).json<View>().connection.password ?? assert.fail('no password')
  const key = newKey()
  const answer = await ask('POST', `/${id}/public-key`, { publicKey: key.publicKey })
  assert.equal(answer.status, 200, answer.text)
  assert.equal((answer.json<View>().connection as { loginType?: string }).loginType, 'snowflake-person-keypair')
  const shown = (await ask('GET', `/${id}`)).json<View>()
  assert.equal((shown.connection as { loginType?: string }).loginType, 'snowflake-person-keypair')
  assert.equal(await canLogIn(connection.user, connection.password ?? ''), false)
  assert.equal(await canLogIn(connection.user, further), false)
  assert.equal(await canLogIn(connection.user, key.passwordOf(connection.user)), true)
  const reset = await ask('POST', `/${id}/password`)
  assert.deepEqual([reset.status, reset.json<{ code: string }>().code], [400, 'workspace.resetPasswordNotSupported'])
})

test('W4: keys rotate over two slots, and a named one is replaced', async () => {
  const [first, second, third, fourth] = [newKey(), newKey(), newKey(), newKey()]
  const { id, connection } = await make({ loginType: 'snowflake-service-keypair', publicKey: first.publicKey })
  const { user } = connection
  const valid = async () => {
    const keys = [first, second, third, fourth]
    return Promise.all(keys.map(({ passwordOf }) => canLogIn(user, passwordOf(user))))
  }
  const open = await connect(user, first.passwordOf(user))
  const set = async (json: object) => assert.equal((await ask('POST', `/${id}/public-key`, json)).status, 200)
  await set({ publicKey: second.publicKey })
  assert.deepEqual(await valid(), [true, true, false, false])
  assert.equal((await open.query('SELECT 1 AS a')).rows.length, 1)
  await open.end()
  await set({ publicKey: third.publicKey })
  assert.deepEqual(await valid(), [false, true, true, false])
  await set({ publicKey: fourth.publicKey, keyName: 'RSA_PUBLIC_KEY_1' })
  assert.deepEqual(await valid(), [false, true, false, true])

  const client = await connect(user, fourth.passwordOf(user))
  const { rows } = await client.query<{ property: string; value: string }>(`DESC USER ${user}`)
  await client.end()
  const described = Object.fromEntries(rows.map(({ property, value }) => [property, value]))
  const fingerprint = ({ publicKey }: { publicKey: string }) =>
    `SHA256:${createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('base64')}`
  assert.deepEqual(
    [described.TYPE, described.PASSWORD, described.RSA_PUBLIC_KEY_FP, described.RSA_PUBLIC_KEY_2_FP],
    ['SERVICE', 'null', fingerprint(fourth), fingerprint(second)],
  )
})
