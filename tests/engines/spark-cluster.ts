// A standalone Spark cluster of two workers with one core each, and a server of Spark Connect, from the pyspark of the suite. Loopback only.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'

export interface SparkCluster {
  readonly url: string
  readonly pagesUrl: string
  /** Names and states of applications that run. */
  applications(): Promise<readonly { readonly name: string; readonly state: string }[]>
  /** All at once, as when the machines lose their power. */
  kill(): Promise<void>
}

/** `home` is the folder of pyspark. */
export async function startCluster(home: string, python: string): Promise<SparkCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-cluster-'))
  const [port, pages] = [await freePort(), await freePort()]
  const url = `spark://127.0.0.1:${port}`
  const pagesUrl = `http://127.0.0.1:${pages}`
  const children: ChildProcess[] = []
  const start = (...args: readonly string[]) => {
    const child = startSpark(home, python, folder, args)
    children.push(child)
    return child
  }
  const master = start(
    'org.apache.spark.deploy.master.Master',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--webui-port',
    String(pages),
  )
  await until('the master listens', () => listens(master, port), 600_000)
  for (const name of ['a', 'b'])
    start(
      'org.apache.spark.deploy.worker.Worker',
      '--host',
      '127.0.0.1',
      '--cores',
      '1',
      '--memory',
      '1g',
      '--webui-port',
      '0',
      '-d',
      join(folder, name),
      url,
    )
  const state = async () =>
    (await (await fetch(`${pagesUrl}/json/`)).json()) as {
      aliveworkers: number
      activeapps: { name: string; state: string }[]
    }
  await until('two workers are there', async () => (await state()).aliveworkers === 2, 600_000)
  return {
    url,
    pagesUrl,
    applications: async () => (await state()).activeapps,
    async kill() {
      await endAll(children)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** `packages`: those of Iceberg and of Spark Connect itself. */
export async function startConnect(
  home: string,
  python: string,
  { packages, ivy }: { readonly packages: readonly string[]; readonly ivy: string },
): Promise<{ readonly url: string; kill(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-connect-'))
  const port = await freePort()
  const conf = [
    `spark.connect.grpc.binding.port=${port}`,
    'spark.connect.grpc.binding.address=127.0.0.1',
    'spark.driver.host=127.0.0.1',
    `spark.jars.ivy=${ivy}`,
    'spark.ui.enabled=false',
    'spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
  ]
  const args = [
    'org.apache.spark.deploy.SparkSubmit',
    ...['--class', 'org.apache.spark.sql.connect.service.SparkConnectServer', '--master', 'local[1]'],
    ...['--packages', packages.join(',')],
    ...conf.flatMap((setting) => ['--conf', setting]),
    'spark-internal',
  ]
  const child = startSpark(home, python, folder, args, '1g')
  await until('the server of Spark Connect listens', () => listens(child, port), 600_000)
  return {
    url: `sc://127.0.0.1:${port}`,
    async kill() {
      await endAll([child])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Masters, workers and servers are daemons: no other setting limits their memory. */
function startSpark(home: string, python: string, folder: string, args: readonly string[], memory = '256m'): ChildProcess {
  return spawn(join(home, 'bin', 'spark-class'), args, {
    cwd: folder,
    detached: true, // the shell before Java ends with it
    stdio: 'ignore',
    env: { ...process.env, SPARK_HOME: home, SPARK_LOCAL_IP: '127.0.0.1', SPARK_DAEMON_MEMORY: memory, PYSPARK_PYTHON: python },
  })
}

async function endAll(children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map(
    (child) =>
      new Promise<void>((resolve) =>
        child.exitCode === null && child.signalCode === null ? child.once('exit', () => resolve()) : resolve(),
      ),
  )
  for (const { pid } of children) {
    try {
      process.kill(-(pid ?? 0), 'SIGKILL')
    } catch {}
  }
  await Promise.all(ended)
}

function listens(child: ChildProcess, port: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error(`Spark ended with ${child.exitCode ?? child.signalCode}`)
  return isOpen(port)
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number } // it listens on a port
      server.close(() => resolve(port))
    })
  })
