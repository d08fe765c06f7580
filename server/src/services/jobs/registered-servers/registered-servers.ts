// The registered Spark cluster and MLflow server: where they are, how they are, and the way to them.

import {
  createReverseProxy,
  type ProxiedAnswer,
  type ProxiedRequest,
  type ReverseProxy,
} from '../../../engines/reverse-proxy/reverse-proxy.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { OwnMlflow } from './own-mlflow.ts'
import { pagesOf, readCluster, readVersion, type SparkCluster } from './spark.ts'

export interface ServerAddresses {
  readonly sparkUrl?: string | undefined
  readonly sparkPagesUrl?: string | undefined
  /** `{project}` in it is replaced by the id of the project. */
  readonly mlflowUrl?: string | undefined
  /** Without an address: a Python that runs servers of the stack itself, if it has mlflow. */
  readonly mlflowPython?: string | undefined
}

export interface ServerState {
  readonly url: string
  readonly version: string | null
  /** Why it cannot be read; null when it can. */
  readonly problem: string | null
}

export interface SparkState extends ServerState {
  readonly pagesUrl: string | null
  readonly cluster: SparkCluster | null
}

type Forwarded = Omit<ProxiedRequest, 'publicPath'>

export interface RegisteredServers {
  spark(projectId: number): Promise<SparkState>
  sparkPage(request: Forwarded): Promise<ProxiedAnswer>
  mlflow(projectId: number, baseUrl: string): Promise<ServerState>
  mlflowRequest(projectId: number, request: Forwarded): Promise<ProxiedAnswer>
}

export const SPARK_PAGES = '/spark/pages'
export const MLFLOW = '/mlflow'

/** A state is read for a person who waits. */
const READ_MS = 5_000
const MAX_BYTES = 4 << 20

/** `ownMlflow`: servers that the stack runs where none is registered. */
export function createRegisteredServers(
  { sparkUrl, sparkPagesUrl, mlflowUrl }: ServerAddresses,
  ownMlflow: Pick<OwnMlflow, 'use'>,
): RegisteredServers {
  const pagesUrl = sparkUrl && pagesOf(sparkUrl, sparkPagesUrl)
  const pages = pagesUrl === undefined ? undefined : createReverseProxy(pagesUrl)

  function sparkPages(): ReverseProxy {
    if (sparkUrl === undefined) throw new PlatformError('spark.notRegistered')
    if (!pages) throw new PlatformError('spark.noPages', { address: sparkUrl })
    return pages
  }

  async function mlflowOf(projectId: number): Promise<ReverseProxy> {
    if (mlflowUrl === undefined) return ownMlflow.use(projectId)
    return createReverseProxy(mlflowUrl.replaceAll('{project}', String(projectId)))
  }

  return {
    async spark(projectId) {
      if (sparkUrl === undefined) throw new PlatformError('spark.notRegistered')
      const known = { url: sparkUrl, pagesUrl: pagesUrl ?? null }
      try {
        const [json, page] = await Promise.all([textOf(sparkPages(), '/json/'), textOf(sparkPages(), '/')])
        const cluster = readCluster(json, projectId)
        const problem = cluster ? null : `${pagesUrl} is not the page of a Spark master`
        return { ...known, version: readVersion(page) ?? null, problem, cluster: cluster ?? null }
      } catch (error) {
        return { ...known, version: null, problem: sentenceOf(error), cluster: null }
      }
    },
    sparkPage: (request) => sparkPages().forward({ ...request, publicPath: SPARK_PAGES }),
    async mlflow(projectId, baseUrl) {
      const server = await mlflowOf(projectId)
      // A server that the stack runs has no address but this one.
      const shown = ({ address }: ReverseProxy) => (mlflowUrl === undefined ? `${baseUrl}${MLFLOW}` : address)
      try {
        return { url: shown(server), version: (await textOf(server, '/version')).trim().slice(0, 100), problem: null }
      } catch (error) {
        return { url: shown(server), version: null, problem: sentenceOf(error) }
      }
    },
    mlflowRequest: async (projectId, request) => (await mlflowOf(projectId)).forward({ ...request, publicPath: MLFLOW }),
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof PlatformError) return error.message
  throw error
}

/** The body of a page that answers 200. */
async function textOf(server: ReverseProxy, path: string): Promise<string> {
  const unreachable = (reason: string) => new PlatformError('proxy.unreachable', { address: server.address, reason })
  const { status, body } = await server.forward({
    method: 'GET',
    path,
    headers: {},
    publicPath: '',
    signal: AbortSignal.timeout(READ_MS),
  })
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > MAX_BYTES) throw unreachable(`${path} is longer than ${MAX_BYTES} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof PlatformError ? error : unreachable((error as Error).message) // of the connection
  }
  if (status !== 200) throw unreachable(`${path} answers ${status}`)
  return Buffer.concat(chunks).toString('utf8')
}
