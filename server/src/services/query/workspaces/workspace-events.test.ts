import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { assertDefined, type RecordedEvent } from '../../../../../tests/support/event-definitions.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareTestStack({ sql: { memoryMb: 512, diskMb: 64, workspaceMb: 16 } })
const PATH = '/v2/storage/workspaces'

interface Recorded extends RecordedEvent {
  readonly objectId: string
  readonly component: string
  readonly runId: string | null
  readonly idBranch: number
}

test('W5: what happens to a workspace and its passwords leaves events with the run and the branch of the request', async () => {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id\n1\n')
  const headers = { 'x-kbc-runid': '4711' }
  const send = async <T>(method: string, path: string, json?: object): Promise<T> => {
    const answer = await stack.request(method, path, { headers, ...(json && { json }) })
    assert.ok(answer.status < 300, answer.text)
    return (answer.text === '' || answer.status === 204 ? undefined : answer.json()) as T
  }
  const branchId = (await send<{ id: number }>('GET', '/v2/storage/dev-branches/default')).id
  const { id } = await send<{ id: number }>('POST', PATH, {})
  const at = `${PATH}/${id}`
  await send('POST', `${at}/password`)
  const made = await send<{ connection: object; credentials?: { id: number } }>('POST', `${at}/credentials`, {})
  const credentials = made.credentials?.id ?? (made.connection as { credentials: { id: number } }).credentials.id
  await send('GET', `${at}/credentials/${credentials}`)
  await send('DELETE', `${at}/credentials/${credentials}`)
  const input = [{ source: 'in.c-main.orders', destination: 't' }]
  for (const way of ['load', 'load-clone'])
    await client.succeed(await stack.request('POST', `${at}/${way}`, { headers, json: { input } }))
  await send('DELETE', at)

  const recorded = await until('all events are there', async () => {
    const events = (await stack.request('GET', '/v2/storage/events?limit=100')).json<Recorded[]>()
    const own = events.filter(({ event }) => event.startsWith('storage.workspace')).reverse()
    return own.length >= 9 && own
  })
  assertDefined(recorded)
  const expected = [
    ['storage.workspaceCreated', String(id), {}],
    ['storage.workspacePasswordReset', String(id), {}],
    ['storage.workspaceCredentialsCreated', String(id), { credentialsId: credentials }],
    ['storage.workspaceCredentialsDetail', String(id), { credentialsId: credentials }],
    ['storage.workspaceCredentialsRetrieved', String(id), { credentialsId: credentials }],
    ['storage.workspaceCredentialsDeleted', String(id), { credentialsId: credentials }],
    ['storage.workspaceLoaded', String(id), { preserve: false, tables: [{ ...input[0], loadType: 'COPY' }] }],
    ['storage.workspaceTableCloned', 'in.c-main.orders', { ...input[0], workspace: String(id) }],
    ['storage.workspaceDeleted', String(id), {}],
  ]
  const byName = (a: readonly unknown[], b: readonly unknown[]) => String(a[0]).localeCompare(String(b[0]))
  assert.deepEqual(recorded.map(({ event, objectId, params }) => [event, objectId, params]).sort(byName), expected.sort(byName))
  for (const { event, component, runId, idBranch } of recorded)
    assert.deepEqual([component, runId, idBranch], ['storage', '4711', branchId], event)
})
