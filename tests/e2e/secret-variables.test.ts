// Variables whose name begins with `#` are secrets wherever they are written: rows of values, the body of a job, tasks of a flow.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Job, type ShellStack, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

/** Prints the length of the secret that arrived, and the secret itself, which the log must hide. */
const SHOW = `node -e '
  const { parameters } = JSON.parse(require("fs").readFileSync(process.env.KBC_DATADIR + "/config.json", "utf8"))
  console.log("length " + parameters["#password"].length)
  console.log("it is " + parameters["#password"])
  console.log("plain " + parameters.plain)'`

async function configured(stack: ShellStack, value: string, parameters: object = { '#password': '{{ #password }}' }) {
  await stack.add('test.show', SHOW)
  const variables = await stack.configure('keboola.variables', { variables: [{ name: '#password', type: 'string' }] }, [
    { rowId: 'defaults', name: 'v', configuration: { values: [{ name: '#password', value }] } },
  ])
  const config = await stack.configure('test.show', { variables_id: variables, variables_values_id: 'defaults', parameters })
  return { variables, config }
}

async function saidBy(stack: ShellStack, job: Job): Promise<string[]> {
  assert.equal(job.status, 'success', JSON.stringify(job))
  const events = (await stack.request('GET', `/queue/jobs/${job.id}/events`)).json<{ message: string }[]>()
  return events.map(({ message }) => message)
}

/** Files below the data folder, the database among them, in which a text stands. */
const filesWith = (stack: ShellStack, text: string): string[] =>
  readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))

const run = async (stack: ShellStack, component: string, json: object) =>
  stack.wait((await stack.request('POST', `/queue/${component}/run`, { json })).json<Job>())

test('a value of a row that is named with # is kept as a cipher and reaches # members in clear', async () => {
  const stack = await startProject()
  const secret = 'canary-of-a-row'
  const { variables, config } = await configured(stack, secret)
  const row = await stack.request('GET', `/v2/storage/components/keboola.variables/configs/${variables}/rows/defaults`)
  assert.match(row.text, /KBC::ProjectWideSecure::/)
  const job = await run(stack, 'test.show', { config })
  const said = await saidBy(stack, job)
  assert.ok(said.includes(`length ${secret.length}`) && said.includes('it is [hidden]'), said.join('\n'))
  const resolved = await stack.request('POST', '/sync-actions/configuration/resolve', {
    json: { componentId: 'test.show', configId: config },
  })
  for (const text of [row.text, JSON.stringify(job), resolved.text]) assert.ok(!text.includes(secret), text)
  assert.deepEqual(filesWith(stack, secret), [])
})

test('saving the same value again makes no version, and another one does', async () => {
  const stack = await startProject()
  const { variables } = await configured(stack, 'canary-saved-again')
  const path = `/v2/storage/components/keboola.variables/configs/${variables}/rows/defaults`
  const save = async (value: string) =>
    (await stack.request('PUT', path, { json: { configuration: { values: [{ name: '#password', value }] } } })).json<{
      version: number
    }>().version
  assert.deepEqual([await save('canary-saved-again'), await save('another')], [1, 2])
})

test('values that come with a job are kept as ciphers too, and a member without # never gets the clear value', async () => {
  const stack = await startProject()
  const secret = 'canary-of-a-job'
  const { config } = await configured(stack, 'unused', { '#password': '{{ #password }}', plain: '{{ #password }}' })
  const variableValuesData = { values: [{ name: '#password', value: secret }] }
  const job = await run(stack, 'test.show', { config, variableValuesData })
  const said = await saidBy(stack, job)
  assert.ok(said.includes(`length ${secret.length}`), said.join('\n'))
  assert.match(said.find((line) => line.startsWith('plain')) ?? '', /^plain KBC::ProjectWideSecure::/)
  const again = (await stack.request('POST', `/queue/jobs/${job.id}/rerun`)).json<Job>()
  assert.ok((await saidBy(stack, await stack.wait(again))).includes(`length ${secret.length}`))
  const resolved = await stack.request('POST', '/sync-actions/configuration/resolve', {
    json: { componentId: 'test.show', configId: config, variableValuesData },
  })
  for (const text of [JSON.stringify(job), JSON.stringify(again), resolved.text]) assert.ok(!text.includes(secret), text)
  assert.deepEqual(filesWith(stack, secret), [])
})

test('tasks of a flow set and bring secrets that nobody can read', async () => {
  const stack = await startProject()
  const { config } = await configured(stack, 'unused')
  const job = (more: object) => ({ type: 'job', componentId: 'test.show', configId: config, mode: 'run', ...more })
  const flow = await stack.configure('keboola.flow', {
    phases: [
      { id: 'brings', name: 'brings', next: [{ id: 'n', goto: 'sets' }] },
      { id: 'sets', name: 'sets' },
    ],
    tasks: [
      {
        id: 'brought',
        name: 'brought',
        phase: 'brings',
        task: job({ variableValuesData: { values: [{ name: '#password', value: 'canary-brought' }] } }),
      },
      { id: 'set', name: 'set', phase: 'sets', task: { type: 'variable', name: '#password', value: 'canary-set-by-a-task' } },
      { id: 'used', name: 'used', phase: 'sets', task: job({}) },
    ],
  })
  const end = await run(stack, 'keboola.flow', { config: flow })
  assert.equal(end.status, 'success', JSON.stringify(end))
  const { tasks } = end.result as unknown as { tasks: { id: string; jobId: string | null }[] }
  const detail = async (id: string) => {
    const { jobId } = tasks.find((task) => task.id === id)!
    return (await stack.request('GET', `/queue/jobs/${jobId}`)).json<Job>()
  }
  assert.ok((await saidBy(stack, await detail('brought'))).includes(`length ${'canary-brought'.length}`))
  assert.ok((await saidBy(stack, await detail('used'))).includes(`length ${'canary-set-by-a-task'.length}`))
  const shown = await stack.request('GET', `/v2/storage/components/keboola.flow/configs/${flow}`)
  for (const secret of ['canary-brought', 'canary-set-by-a-task']) {
    assert.ok(!`${shown.text}${JSON.stringify(end)}${JSON.stringify(await detail('used'))}`.includes(secret))
    assert.deepEqual(filesWith(stack, secret), [])
  }
})
