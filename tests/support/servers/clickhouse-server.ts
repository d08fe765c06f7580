// ClickHouse for suites that are not part of `npm test`: the server of the machine (Debian has 18.16), and the engine of a current version
// (chdb, from the package index of Python) behind an HTTP interface of ours.

import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { until } from '../until.ts'
import { freePort } from './free-port.ts'

const PASSWORD = 'open-sesame'
export type Kind = 'server' | 'chdb'

/** Users `reader`, who may change nothing, and `writer`. */
export async function startClickhouse(t: TestContext, kind: Kind) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-clickhouse-'))
  const port = await freePort()
  const [program, ...options] = kind === 'server' ? await serverCommand(folder, port) : await chdbCommand(folder, port)
  const server = spawn(program ?? '', options, { stdio: 'ignore' })
  t.after(async () => {
    server.kill('SIGKILL')
    if (server.exitCode === null && server.signalCode === null) await new Promise((resolve) => server.once('exit', resolve))
    await rm(folder, { recursive: true, force: true })
  })
  const run = async (...statements: readonly string[]): Promise<string> => {
    let answer = ''
    for (const statement of statements) {
      const response = await fetch(`http://127.0.0.1:${port}/?database=shop`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`writer:${PASSWORD}`)}` },
        body: statement,
      })
      answer = await response.text()
      if (!response.ok) throw new Error(answer)
    }
    return answer.trimEnd()
  }
  await until('ClickHouse answers', () =>
    fetch(`http://127.0.0.1:${port}/?database=default`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`writer:${PASSWORD}`)}` },
      body: 'create database if not exists shop',
    }).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const db = (user: 'reader' | 'writer') => ({
    ...{ type: 'clickhouse', host: '127.0.0.1', port, user, '#password': PASSWORD, database: 'shop' },
  })
  return { port, run, db, kill: () => server.kill('SIGKILL') }
}

async function serverCommand(folder: string, port: number): Promise<readonly string[]> {
  await mkdir(join(folder, 'data'))
  const user = (profile: string) =>
    `<password>${PASSWORD}</password><networks><ip>::/0</ip></networks><profile>${profile}</profile><quota>default</quota>`
  await writeFile(
    join(folder, 'users.xml'),
    `<yandex><profiles><default/><reading><readonly>1</readonly></reading></profiles>
     <users><writer>${user('default')}</writer><reader>${user('reading')}</reader><default>${user('default')}</default></users>
     <quotas><default/></quotas></yandex>`,
  )
  // A time zone that is not UTC shows times that are not converted.
  await writeFile(
    join(folder, 'config.xml'),
    `<yandex><logger><level>none</level></logger><http_port>${port}</http_port><listen_host>127.0.0.1</listen_host><path>${folder}/data/</path>
     <tmp_path>${folder}/tmp/</tmp_path><users_config>users.xml</users_config><default_profile>default</default_profile>
     <default_database>default</default_database><mark_cache_size>67108864</mark_cache_size><timezone>America/New_York</timezone></yandex>`,
  )
  return ['clickhouse-server', `--config-file=${join(folder, 'config.xml')}`]
}

/** The environment is made once. */
async function chdbCommand(folder: string, port: number): Promise<readonly string[]> {
  const environment = process.env.MILLRACE_CHDB ?? join(tmpdir(), 'millrace-chdb')
  const run = promisify(execFile)
  if (!existsSync(join(environment, 'bin', 'python'))) await run('python3', ['-m', 'venv', environment])
  await run(join(environment, 'bin', 'pip'), ['install', '--quiet', 'chdb-core==26.9.0'])
  return [
    join(environment, 'bin', 'python'),
    ...[fileURLToPath(new URL('./clickhouse_http.py', import.meta.url)), String(port), join(folder, 'data')],
  ]
}
