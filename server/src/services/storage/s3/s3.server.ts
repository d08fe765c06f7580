// The listener of the object store: parse, authenticate, authorize, run one operation, and turn every failure into S3's XML.
// Plain node:http: bodies are the point here, and nothing else of a framework would be used (docs/adr/0006).

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HashThread } from '../../../engines/object-store/checksums/background-hash.ts'
import type { ObjectStore } from '../../../engines/object-store/object-store.ts'
import { createRawListener, type RawListener } from '../../../http/raw-listener.ts'
import type { TlsPair } from '../../../http/tls.ts'
import { assumeRole, isStsCall } from './assume-role.ts'
import { type AuthenticateDeps, authenticate } from './authenticate.ts'
import { authorize } from './authorize.ts'
import { isBlobRequest, serveBlob } from './azure-blob/azure-blob.ts'
import { operationOf } from './operation-of-request.ts'
import { parseCall } from './s3-call.ts'
import { errorDocument, S3Error, toS3Error } from './s3-errors.ts'

export interface S3ServerDeps extends AuthenticateDeps {
  readonly store: ObjectStore
  readonly hashThread: HashThread
  readonly bucket: string
  readonly tls?: TlsPair | undefined
  /** How many requests one address may send; unlimited without it. */
  readonly limits?: AddressLimits | undefined
  /** One line per finished request, and every failure of our own. */
  readonly onRequest?: (line: S3RequestLine) => void
}

export interface AddressLimits {
  /** After how many seconds it is worth trying again; undefined when the request may pass. */
  waitOf(message: IncomingMessage): number | undefined
}

export interface S3RequestLine {
  readonly operation: string
  readonly method: string
  readonly key: string
  readonly status: number
  readonly requestId: string
  readonly durationMs: number
  readonly error?: unknown
}

/** How long the rest of a refused body is taken before the connection is closed. */
const LINGER_MS = 2000

/** A client that waits for permission to send its body gets it only after its signature was checked. */
export const createS3Server = (deps: S3ServerDeps): RawListener =>
  createRawListener((message, response, proceed) => void serve(deps, message, response, proceed), deps.tls)

async function serve(deps: S3ServerDeps, message: IncomingMessage, response: ServerResponse, proceed: () => void): Promise<void> {
  const started = deps.clock.now().getTime()
  const requestId = randomBytes(8).toString('hex').toUpperCase()
  const line = { operation: 'unknown', key: '', error: undefined as unknown }
  response.setHeader('x-amz-request-id', requestId)
  response.setHeader('server', 'millrace')
  allowBrowsers(response)
  try {
    if (message.method === 'OPTIONS') {
      response.writeHead(204, { 'access-control-max-age': '3600' }).end()
      return
    }
    const seconds = deps.limits?.waitOf(message)
    if (seconds !== undefined) {
      response.setHeader('retry-after', String(seconds))
      throw new S3Error('SlowDown', `Too many requests from your address. Try again in ${seconds} s.`)
    }
    if (isBlobRequest(message)) return await serveBlob({ ...deps, message, response, proceed, line, requestId })
    const call = parseCall(message, deps.bucket)
    line.key = call.key
    if (isStsCall(call)) {
      line.operation = 'AssumeRole'
      return await assumeRole(
        { call, auth: authenticate(call, deps, 'sts'), message, hashThread: deps.hashThread, proceed },
        response,
        deps,
      )
    }
    const auth = authenticate(call, deps)
    const operation = operationOf(call)
    line.operation = operation.name
    if (call.bucket !== deps.bucket && operation.name !== 'ListBuckets') {
      authorize(auth.principal, { action: 'administer' })
      throw new S3Error('NoSuchBucket', 'The specified bucket does not exist', { BucketName: call.bucket })
    }
    if (Buffer.byteLength(call.key) > 1024) throw new S3Error('KeyTooLongError', 'Your key is too long')
    authorize(auth.principal, operation.need(call))
    await operation.run({
      call,
      auth,
      message,
      response,
      proceed,
      hashThread: deps.hashThread,
      store: deps.store,
      bucket: deps.bucket,
      region: deps.region,
    })
  } catch (cause) {
    const error = toS3Error(cause)
    if (error.status >= 500) line.error = error.cause ?? error
    fail(message, response, error, requestId)
  } finally {
    const { method = '' } = message
    const durationMs = deps.clock.now().getTime() - started
    deps.onRequest?.({ ...line, method, status: response.statusCode, requestId, durationMs })
  }
}

function fail(message: IncomingMessage, response: ServerResponse, error: S3Error, requestId: string): void {
  if (response.headersSent) {
    // The status is out already; a broken connection is the only honest sign left.
    response.destroy()
    return
  }
  const document = message.method === 'HEAD' ? '' : errorDocument(error, message.url?.split('?')[0] ?? '/', requestId)
  const extra = error.extras.Region ? { 'x-amz-bucket-region': error.extras.Region } : {}
  // Many clients send their whole body before they read the answer, and a connection closed under them would take it away. So what is
  // still coming is dropped for a moment. A client that waits for 100-continue sends nothing now.
  const asked = message.headers.expect !== undefined
  response.writeHead(error.status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(document),
    ...(asked && { connection: 'close' }),
    ...extra,
  })
  response.end(document)
  message.resume()
  setTimeout(() => {
    if (!message.complete) message.destroy()
  }, LINGER_MS).unref()
}

/** Safe for any origin: a request is worth what its signature is worth, and browsers add nothing to it by themselves. */
function allowBrowsers(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  response.setHeader('access-control-allow-methods', 'GET, HEAD, PUT, POST, DELETE')
  response.setHeader('access-control-allow-headers', '*, authorization')
  response.setHeader('access-control-expose-headers', '*, etag')
}
