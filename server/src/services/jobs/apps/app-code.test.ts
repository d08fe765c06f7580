// Which file of a repository is run, and the error for a repository that cannot be used.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { egressPolicyFrom } from '../../../../../contract/egress-rules.ts'
import { startGitServer } from '../../../../../tests/support/servers/git-server.ts'
import { fetchRepository } from '../../../engines/git/fetch-repository.ts'
import { fetchOnce, lookAtRepository } from '../../../engines/git/git-checkout.ts'
import { createAppCode } from './app-code.ts'
import { type AppCode, type Runtime, readAppSettings } from './app-settings.ts'
import type { AppRow } from './apps.store.ts'

const { write, look } = createAppCode({
  fetchOnce: (order, signal) => fetchOnce(order, signal, fetchRepository),
  lookAtRepository,
  egress: egressPolicyFrom(['127.0.0.1']),
  hosted: {
    has: async () => false,
    look: () => assert.fail('nothing is hosted'),
    write: () => assert.fail('nothing is hosted'),
    placeAt: () => undefined,
    open: async () => undefined,
  },
})
const APP = {} as AppRow // which is looked at for hosted repositories only

const codeOf = (git: object): AppCode => readAppSettings(JSON.stringify({ parameters: { dataApp: { git } } }), undefined).code!

function written(t: TestContext, code: AppCode, type: Runtime) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-app-code-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return write(APP, code, type, folder, AbortSignal.timeout(20_000))
}

test('the file to run is the one that is named, or has one of the usual names', async (t) => {
  const server = await startGitServer(t)
  const from = (given: object = {}) => codeOf({ repository: server.url, ...given })
  const fileOf = async (code: AppCode, type: Runtime) => {
    const { file, runtime } = await written(t, code, type)
    return [basename(file), runtime]
  }
  await server.commit({ 'deep/tool.py': '', 'README.md': '' })
  await assert.rejects(written(t, from(), 'python-js'), /none of the files app\.mjs, .*app\.py.*: name the file to run/)
  await assert.rejects(written(t, from({ entrypoint: 'deep' }), 'node'), /no file "deep"/)
  await assert.rejects(written(t, from({ entrypoint: 'x.py' }), 'python'), /no file "x\.py"/)
  assert.deepEqual(await fileOf(from({ entrypoint: 'deep/tool.py' }), 'streamlit'), ['tool.py', 'streamlit'])
  await server.commit({ 'main.py': '' })
  assert.deepEqual(await fileOf(from(), 'python-js'), ['main.py', 'python'])
  assert.deepEqual(await fileOf(from(), 'streamlit'), ['main.py', 'streamlit'])
  await assert.rejects(written(t, from(), 'node'), /none of the files/)
  await server.commit({ 'index.js': '', 'requirements.txt': 'x', 'package.json': '{"main": "../up.mjs", "dependencies": {}}' })
  const found = await written(t, from(), 'python-js')
  assert.deepEqual([basename(found.file), found.runtime], ['index.js', 'node'])
  assert.deepEqual(
    found.warnings.map((text) => /of (\S+)/.exec(text)?.[1]),
    ['package.json', 'requirements.txt'],
  )
  await server.commit({ 'package.json': '{"main": "start.mjs"}', 'start.mjs': 'here' })
  const named = await written(t, from(), 'node')
  assert.equal(readFileSync(named.file, 'utf8'), 'here')
  await server.commit({ 'main.ipynb': '{}' })
  assert.deepEqual(await fileOf(from(), 'jupyter'), ['main.ipynb', 'jupyter'])
  await server.commit({ 'package.json': '{' })
  await assert.rejects(written(t, from(), 'node'), /package\.json of the repository is not valid JSON/)
})

test('a script is written with the settings of Streamlit beside it', async (t) => {
  const parameters = { type: 'streamlit', script: ['1', '2'], dataApp: { streamlit: { 'config.toml': '[theme]' } } }
  const { code } = readAppSettings(JSON.stringify({ parameters }), undefined)
  const { folder, file, runtime } = await written(t, code!, 'streamlit')
  assert.deepEqual([runtime, readFileSync(file, 'utf8')], ['streamlit', '1\n2'])
  assert.equal(readFileSync(join(folder, '.streamlit/config.toml'), 'utf8'), '[theme]')
  const wrong = { ...parameters, dataApp: { streamlit: { 'config.toml': 3 } } }
  assert.throws(() => readAppSettings(JSON.stringify({ parameters: wrong }), undefined), /config\.toml is not a text/)
})

test('a repository that cannot be used is refused with a sentence, which has no secret', async (t) => {
  const server = await startGitServer(t)
  const commit = await server.commit({ 'app.mjs': '1' })
  server.credentials = { username: 'ada', password: 'canary' }
  const own = { repository: server.url, username: 'ada', '#password': 'canary' }
  for (const [given, pattern] of [
    [
      { repository: server.url },
      /requires credentials \(HTTP 401\)\. Set them in parameters\.dataApp\.git \(username, #password\)/,
    ],
    [{ ...own, '#password': 'canary of mine' }, /refuses the credentials of parameters\.dataApp\.git/],
    [{ ...own, branch: 'none' }, /has no branch or tag "none"/],
    [{ ...own, repository: `${server.origin}/nothing.git` }, /There is no git repository at this address/],
    [{ repository: 'http://169.254.169.254/a.git' }, /is not allowed/],
  ] as const) {
    const problem = (error: Error) => pattern.test(error.message) && !/canary/.test(error.message)
    await assert.rejects(look(APP, codeOf(given)), problem)
    await assert.rejects(written(t, codeOf(given), 'node'), problem)
  }
  await look(APP, codeOf(own))
  assert.equal((await written(t, codeOf(own), 'node')).commit, commit)
})
