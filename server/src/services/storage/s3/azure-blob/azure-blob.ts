// The Blob protocol of Azure over the same objects, below one path of the object store: as much of it as SDKs use to upload and
// download one file with a shared access signature (spec storage 2.6.4). There is one container, named like the bucket.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { AZURE_HOST, AZURE_VERSION, openSharedAccess } from '../../../../engines/object-store/shared-access.ts'
import { UNSIGNED_PAYLOAD } from '../../../../engines/object-store/signature-v4.ts'
import type { AuthenticateDeps, Authenticated, Principal } from '../authenticate.ts'
import { authorize } from '../authorize.ts'
import type { S3Context } from '../operation.ts'
import { parseCall, type S3Call } from '../s3-call.ts'
import { BlobError, blobErrorDocument, blobErrorHeaders, toBlobError } from './blob-errors.ts'
import { blobOperationOf } from './blob-operations.ts'

export interface BlobRequest
  extends Pick<AuthenticateDeps, 'sessions' | 'clock'>,
    Pick<S3Context, 'message' | 'response' | 'proceed' | 'hashThread' | 'store' | 'bucket' | 'region'> {
  /** The fields of the log line of the request. */
  readonly line: { operation: string; key: string; error: unknown }
  readonly requestId: string
}

const PREFIX = `/${AZURE_HOST}/`

export const isBlobRequest = ({ url = '' }: IncomingMessage): boolean => url.startsWith(PREFIX)

export async function serveBlob(request: BlobRequest): Promise<void> {
  const { message, response, line, bucket } = request
  response.setHeader('x-ms-request-id', request.requestId)
  response.setHeader('x-ms-version', AZURE_VERSION)
  try {
    const call = blobCall(message, bucket)
    line.key = call.key
    const principal = principalOf(request, call)
    if (call.bucket !== bucket) throw new BlobError(404, 'ContainerNotFound', 'The specified container does not exist.')
    if (Buffer.byteLength(call.key) > 1024) throw new BlobError(400, 'InvalidResourceName', 'The name of the blob is too long.')
    const operation = blobOperationOf(call)
    line.operation = operation.name
    authorize(principal, operation.need(call))
    await operation.run({ ...request, call, auth: { ...NOTHING_SIGNED, principal } })
  } catch (cause) {
    const error = toBlobError(cause)
    if (error.status >= 500) line.error = error.cause ?? error
    refuse(message, response, error)
  }
}

/** Container and blob in the places of bucket and key; `x-ms-range` is another name of `range`. */
function blobCall(message: IncomingMessage, bucket: string): S3Call {
  const { headers } = message
  const range = headers['x-ms-range'] ?? headers.range
  const call = parseCall({ ...pickRequest(message), headers: { ...headers, ...(range && { range: String(range) }) } }, bucket)
  const [container = '', ...name] = call.path.slice(PREFIX.length).split('/')
  return { ...call, bucket: container, key: name.join('/') }
}

const pickRequest = ({ method, url }: IncomingMessage): Pick<IncomingMessage, 'method' | 'url'> => ({ method, url })

function principalOf({ sessions, clock }: BlobRequest, { query }: S3Call): Principal {
  const failed = (reason: string) =>
    new BlobError(403, 'AuthenticationFailed', `Server failed to authenticate the request. ${reason}`)
  if (!query.has('sig')) throw failed('It has no shared access signature; take the connection string of the file as it is.')
  const session = openSharedAccess(sessions, query)
  if (!session) throw failed('The shared access signature was not created by this stack, or was modified.')
  if (session.expiresMs <= clock.now().getTime()) throw failed('Signature not valid in the specified time frame: it has expired.')
  return { kind: 'session', scope: session.scope }
}

/** The signature is in the address and covers no body; Content-MD5 does, where it is sent. */
const NOTHING_SIGNED: Omit<Authenticated, 'principal'> = {
  payloadHash: UNSIGNED_PAYLOAD,
  seed: { signature: '', key: new Uint8Array(), amzDate: '', scope: { date: '', region: '', service: '' } },
}

/** How long the rest of a refused body is taken before the connection is closed. */
const LINGER_MS = 2000

function refuse(message: IncomingMessage, response: ServerResponse, error: BlobError): void {
  if (response.headersSent) {
    response.destroy() // the status is out already
    return
  }
  const document = message.method === 'HEAD' ? '' : blobErrorDocument(error)
  response.writeHead(error.status, {
    ...blobErrorHeaders(error),
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(document),
  })
  response.end(document)
  message.resume()
  setTimeout(() => {
    if (!message.complete) message.destroy()
  }, LINGER_MS).unref()
}
