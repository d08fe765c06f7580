// Whether apps of Python, Streamlit and notebooks work in a browser, through the links of the stack. `npm run test:apps`, not part of `npm test`: it needs
// Python 3 and, the first time, its package index. What is missing is reported, and the tests fail. MILLRACE_APP_PACKAGES names another folder
// for the packages.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openPage, startBrowser } from '../support/browser.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const FOLDER = process.env.MILLRACE_APP_PACKAGES ?? join(tmpdir(), 'millrace-app-packages')
const PACKAGES = ['streamlit==1.67.0', 'nbconvert==7.17.2', 'ipykernel==7.4.0']
const run = promisify(execFile)

const QUERY = `
import json, os, urllib.request
def query(sql):
    headers = {'X-StorageApi-Token': os.environ['KBC_TOKEN'], 'content-type': 'application/json'}
    request = urllib.request.Request(os.environ['MILLRACE_QUERY_URL'], json.dumps({'sql': sql}).encode(), headers)
    return json.load(urllib.request.urlopen(request))['rows']
city = query('select city from "in.c-main"."orders"')[0][0]
`
const STREAMLIT = `${QUERY}
import streamlit as st
st.title('Orders of ' + city)
name = st.text_input('Your name')
if st.button('Greet'):
    st.write('Hello ' + name)
`
const cell = (source: string) => ({
  id: String(source.length),
  cell_type: 'code',
  source,
  metadata: {},
  outputs: [],
  execution_count: null,
})
const NOTEBOOK = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: {},
  cells: [cell(QUERY), cell(`print('Orders of ' + city)`), cell(`raise ValueError('on purpose')`), cell(`print('and on')`)],
}

before(async () => {
  const python = join(FOLDER, 'bin', 'python3')
  try {
    await access(python).catch(() => run('python3', ['-m', 'venv', FOLDER]))
    await run(python, ['-m', 'pip', 'install', '--quiet', ...PACKAGES])
  } catch (cause) {
    throw new Error(`This machine lacks Python 3 with the module venv, or the package index for ${PACKAGES.join(', ')}.`, {
      cause,
    })
  }
})

async function opened(t: TestContext, type: string, script: unknown) {
  const browser = await startBrowser(t)
  const stack = await startTestStack(t, {
    worker: {
      isolation: { mode: 'auto', readable: [], uid: 65_534 },
      path: `${join(FOLDER, 'bin')}:${process.env.PATH}`,
    },
    sql: { memoryMb: 512, diskMb: 64 },
    apps: { startMs: 180_000 },
  })
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n')
  const made = await stack.request('POST', '/data-science/apps', { json: { type, config: { parameters: { script } } } })
  const at = `/data-science/apps/${made.json<{ id: string }>().id}`
  const deployed = await stack.request('PATCH', at, { json: { desiredState: 'running' } })
  assert.equal(deployed.status, 200, deployed.text)
  const { url } = (await stack.request('POST', `${at}/links`)).json<{ url: string }>()
  const { page, nothingWrong } = await openPage(browser)
  await page.goto(url)
  return { page, nothingWrong, log: async () => (await stack.request('GET', `${at}/logs/tail`)).text }
}

test('an app of Streamlit shows a table and answers a person, by its websocket', async (t) => {
  const { page, nothingWrong } = await opened(t, 'streamlit', STREAMLIT)
  await page.getByText('Orders of Praha').waitFor()
  await page.getByLabel('Your name').fill('Ada')
  await page.getByRole('button', { name: 'Greet' }).click()
  await page.getByText('Hello Ada').waitFor()
  nothingWrong()
})

const PLAIN = `${QUERY}
from http.server import BaseHTTPRequestHandler, HTTPServer
class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(('Orders of ' + city).encode())
HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Page).serve_forever()
`

test('an app of plain Python shows a table', async (t) => {
  const { page } = await opened(t, 'python', PLAIN)
  await page.getByText('Orders of Praha').waitFor()
})

test('a notebook is run when its app starts, and shown with what its cells said', async (t) => {
  const { page, log } = await opened(t, 'jupyter', NOTEBOOK)
  for (const text of ['Orders of Praha', 'ValueError: on purpose', 'and on']) await page.getByText(text).first().waitFor()
  assert.match(await log(), /A cell failed: ValueError: on purpose/)
})
