import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { leadsOut } from './outgoing-operations.ts'

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
}

/** Groups of changes that carry nothing out of the project and give others no access. */
const STAYS: Readonly<Record<string, string>> = {
  account: 'of the signed-in person',
  agentConnections: 'decided by a signed-in person',
  agentOauth: 'without a token of the project',
  agentRequests: 'decided by another than the agent',
  ai: 'sends to the model that the operator has set',
  billing: 'changes nothing',
  branchMetadata: 'texts',
  branches: 'changes what was checked when it was written',
  buckets: 'only sharing gives access',
  columns: 'texts',
  configurationMetadata: 'texts',
  dashboards: 'only links give access',
  dataContracts: 'rules',
  dataTests: 'rules',
  editor: 'inside the project',
  encryption: 'returns what it got',
  events: 'inside the project',
  files: 'inside the project',
  flows: 'checks a text',
  git: 'with a credential of its own, which a person allows',
  iceberg: 'inside the project',
  import: 'only fetch-file sends requests',
  mcp: 'checked call by call',
  mergeRequests: 'changes what was checked when it was written',
  mlflow: 'inside the project',
  naming: 'returns names',
  operations: 'of the operator',
  projectUsers: 'of admins of the stack',
  projects: 'of admins of the stack',
  proposals: 'reviewed by a person',
  query: 'inside the project',
  sample: 'the sample shop of the stack',
  savedQueries: 'inside the project',
  scheduler: 'runs what was checked when it was written',
  signIn: 'without a token of the project',
  sql: 'inside the project',
  tableComments: 'texts',
  tableHistory: 'a switch',
  tables: 'inside the project',
  tickets: 'for the operator',
  users: 'of admins of the stack',
  workspaces: 'inside the project',
}

test('every change either is guarded as leading out of the project, or is in a group that says why not', () => {
  const text = readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8')
  const { paths } = JSON.parse(text) as ApiDocument // npm run docs writes it
  const changes = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId = '' }]) =>
      ['post', 'put', 'patch'].includes(method) ? [operationId] : [],
    ),
  )
  const groups = new Set(changes.filter((id) => !leadsOut(id)).map((id) => id.split('.')[0]!))
  assert.deepEqual([...groups].sort(), Object.keys(STAYS).sort())
  const sharing = changes.filter((id) => /share|link|invit|gitCredential/i.test(id) && !leadsOut(id)?.gives)
  assert.deepEqual(sharing.sort(), ['oauth.makeLink', 'signIn.describeLink', 'signIn.link'])
})
