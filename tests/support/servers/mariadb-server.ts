// A MariaDB of the machine in a folder of its own, for suites that are not part of `npm test`: it needs mariadbd and mariadb-install-db.

import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import mysql from 'mysql2/promise'
import { until } from '../until.ts'
import { freePort } from './free-port.ts'

export const PASSWORD = 'open-sesame'

/** Answers its port; user `reader`. */
export async function startMariadb(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-mariadb-'))
  const data = join(folder, 'data')
  await promisify(execFile)('mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ])
  const port = await freePort()
  const socket = join(folder, 's')
  const log = ['--log-bin=log', '--binlog-format=ROW', '--server-id=1'] // for change capture
  const options = [
    ...log,
    `--datadir=${data}`,
    `--port=${port}`,
    `--socket=${socket}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
  ]
  const server = spawn('mariadbd', ['--no-defaults', ...options, ...(process.getuid?.() === 0 ? ['--user=root'] : [])], {
    stdio: 'ignore',
  })
  t.after(async () => {
    server.kill()
    if (server.exitCode === null) await new Promise((resolve) => server.once('exit', resolve))
    await rm(folder, { recursive: true, force: true })
  })
  const root = await until('MariaDB answers', () =>
    mysql.createConnection({ socketPath: socket, user: 'root', multipleStatements: true }).catch(() => false as const),
  )
  t.after(() => root.end())
  await root.query(
    `create database shop character set utf8mb4; create user reader identified by '${PASSWORD}'; grant select on shop.* to reader; grant replication slave, binlog monitor on *.* to reader`,
  )
  await root.query('use shop')
  return { port, run: (text: string) => root.query(text) }
}
