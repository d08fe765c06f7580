// A Trino of one node over the catalogue of a stack, started from an unpacked server (MILLRACE_TRINO) with a Java that it takes
// (MILLRACE_TRINO_JAVA: Trino 476 requires 24 or later). Loopback only.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseExactly } from '../../server/src/kit/text/exact-json.ts'
import { until } from '../support/until.ts'
import { freePort } from './spark-cluster.ts'

export interface Trino extends AsyncDisposable {
  rows(sql: string): Promise<readonly (readonly unknown[])[]>
}

interface Page {
  readonly nextUri?: string
  readonly data?: readonly (readonly unknown[])[]
  readonly error?: { readonly message: string }
}

/** `s3Url`: Trino takes keys from the catalogue, and the address of the object store from its own settings. */
export async function startTrino(
  home: string,
  java: string,
  { stackUrl, s3Url, token }: { readonly stackUrl: string; readonly s3Url: string; readonly token: string },
): Promise<Trino> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-trino-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const files = {
    'node.properties': [
      'node.environment=test',
      'node.internal-address=127.0.0.1',
      'node.bind-ip=127.0.0.1',
      `node.data-dir=${folder}/data`,
    ],
    'config.properties': [
      'coordinator=true',
      'node-scheduler.include-coordinator=true',
      `http-server.http.port=${port}`,
      `discovery.uri=${url}`,
      'query.max-memory=600MB',
      'query.max-memory-per-node=400MB',
    ],
    'log.properties': ['io.trino=WARN'],
    'catalog/millrace.properties': [
      'connector.name=iceberg',
      'iceberg.catalog.type=rest',
      `iceberg.rest-catalog.uri=${stackUrl}/iceberg`,
      'iceberg.rest-catalog.security=OAUTH2',
      `iceberg.rest-catalog.oauth2.token=${token}`,
      'iceberg.rest-catalog.nested-namespace-enabled=true',
      'iceberg.rest-catalog.vended-credentials-enabled=true',
      'fs.native-s3.enabled=true',
      `s3.endpoint=${s3Url}`,
      's3.region=us-east-1',
      's3.path-style-access=true',
    ],
  }
  await mkdir(join(folder, 'etc/catalog'), { recursive: true })
  for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, 'etc', name), `${lines.join('\n')}\n`)
  const options = [
    ...['-Xmx2g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djdk.attach.allowAttachSelf=true', '-Dfile.encoding=UTF-8'],
    ...['--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow'],
    ...[`-Dconfig=${folder}/etc/config.properties`, `-Dlog.levels-file=${folder}/etc/log.properties`],
    ...[`-Dnode.id=test`, `-Dnode.environment=test`, `-Dnode.internal-address=127.0.0.1`, '-Dnode.bind-ip=127.0.0.1'],
    ...[`-Dnode.data-dir=${folder}/data`, `-Dplugin.dir=${home}/plugin`, `-Dcatalog.config-dir=${folder}/etc/catalog`],
  ]
  const child = spawn(java, [...options, '-cp', `${home}/lib/*`, 'io.trino.server.TrinoServer'], { cwd: folder, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const close = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }

  async function rows(sql: string): Promise<readonly (readonly unknown[])[]> {
    const headers = { 'x-trino-user': 'test', 'x-trino-catalog': 'millrace' }
    const pageOf = async (answer: Response) => parseExactly(await answer.text()) as Page // the protocol of Trino
    let page = await pageOf(await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: sql }))
    const found = [...(page.data ?? [])]
    while (page.nextUri) {
      page = await pageOf(await fetch(page.nextUri, { headers }))
      found.push(...(page.data ?? []))
    }
    assert.equal(page.error, undefined, `${sql}: ${page.error?.message}`)
    return found
  }

  try {
    // It answers some seconds before it has a node to run anything on.
    const isReady = () =>
      rows('SELECT count(*) FROM system.runtime.nodes n JOIN (VALUES 1, 2) t(x) ON n.node_id IS NOT NULL').then(
        () => true,
        () => false,
      )
    await until('Trino answers', async () => child.exitCode !== null || isReady(), 600_000)
    assert.equal(child.exitCode, null, 'Trino has ended')
  } catch (error) {
    await close()
    throw error
  }
  return { rows, [Symbol.asyncDispose]: close }
}
