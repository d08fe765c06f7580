#!/usr/bin/env node
// Stands for `python -m mlflow server` where no mlflow is: listens at the given address, keeps runs in its store, and has a process of its own, as
// MLflow has its workers.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const { MLFLOW_BACKEND_STORE_URI = '', MLFLOW_HOST, MLFLOW_PORT } = process.env
const store = MLFLOW_BACKEND_STORE_URI.replace('sqlite:///', '')
if (process.argv.slice(2).join(' ') !== '-m mlflow server') throw new Error(`not the words of mlflow: ${process.argv.join(' ')}`)
if (existsSync(join(dirname(store), 'newer'))) {
  process.stderr.write('the store is of a newer version\n')
  process.exit(3)
}
spawn('sh', ['-c', `while :; do sleep 1; done # ${store}`], { detached: true, stdio: 'ignore' })

const server = createServer(async (request, response) => {
  if (request.url === '/health') return void response.end('OK')
  if (request.url === '/version') return void response.end('3.0-stand-in')
  if (request.method === 'POST') await appendFile(store, `${await text(request)}\n`)
  const lines = await readFile(store, 'utf8').catch(() => '')
  const runs = lines.split('\n').filter((line) => line !== '')
  response.setHeader('content-type', 'application/json')
  response.end(`{"store":${JSON.stringify(store)},"runs":[${runs.join()}]}`)
})
server.listen(Number(MLFLOW_PORT), MLFLOW_HOST)
