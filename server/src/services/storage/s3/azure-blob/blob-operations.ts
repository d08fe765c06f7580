// Operations on blobs and their container.

import type { Bytes, ObjectAttributes, ObjectInfo } from '../../../../engines/object-store/object-store.ts'
import { defined } from '../../../../kit/defined.ts'
import { visibleIn } from '../authorize.ts'
import { numberParameter, type Operation, sendEmpty, sendXml } from '../operation.ts'
import { beginRead } from '../operations/begin-read.ts'
import { sendBody } from '../operations/get-object.ts'
import { walk } from '../operations/list-objects.ts'
import { writeConditions } from '../operations/put-object.ts'
import { openPayload, readPayload } from '../payload.ts'
import { headerOf, type S3Call } from '../s3-call.ts'
import { element, parseXml, type Xml, xmlDocument } from '../xml.ts'
import { BlobError } from './blob-errors.ts'
import { commitBlocks, putBlock } from './blocks.ts'

const META = 'x-ms-meta-'
const MAX_METADATA_BYTES = 2048
const MAX_LIST_BYTES = 8 * 1024 ** 2
const MAX_BLOCKS = 50_000

export function blobOperationOf(call: S3Call): Operation {
  const { method, query, key } = call
  const comp = query.get('comp') ?? ''
  const operation =
    key === '' || query.get('restype') === 'container'
      ? CONTAINER_OPERATIONS.get(`${method} ${comp}`)
      : BLOB_OPERATIONS.get(`${method} ${comp}`)
  if (operation) return operation
  const asked = comp === '' ? method : `${method} with comp=${comp.slice(0, 40)}`
  throw new BlobError(405, 'UnsupportedHttpVerb', `${asked} is not supported here. Known: ${KNOWN}.`)
}

const KNOWN = 'Put Blob, Put Block, Put Block List, Get Blob, Get Blob Properties, Delete Blob, List Blobs'

const writes = ({ key }: S3Call) => ({ action: 'write', key }) as const

const putBlob: Operation = {
  name: 'PutBlob',
  need: writes,
  async run(context) {
    const { call, store, response } = context
    demandLength(call)
    const type = headerOf(call, 'x-ms-blob-type')
    if (type !== 'BlockBlob')
      throw new BlobError(
        400,
        'InvalidHeaderValue',
        'Only x-ms-blob-type: BlockBlob can be stored; append and page blobs cannot.',
      )
    if (headerOf(call, 'x-ms-copy-source') !== undefined)
      throw new BlobError(501, 'NotImplemented', 'Copies from another address are not supported: upload the bytes.')
    const attributes = attributesOf(call, headerOf(call, 'content-type'))
    const { body, etag } = openPayload(context)
    sendStored(response, await named(store.put(call.key, body, { attributes, etag, ...writeConditions(call) }), call))
  },
}

const putBlockOperation: Operation = {
  name: 'PutBlock',
  need: writes,
  async run(context) {
    const { call, store, response } = context
    demandLength(call)
    const blockId = call.query.get('blockid') ?? ''
    if (!/^[A-Za-z0-9+/]{1,128}={0,2}$/.test(blockId) || Buffer.from(blockId, 'base64').length > 64)
      throw new BlobError(400, 'InvalidQueryParameterValue', 'blockid must be Base64 of 1 to 64 bytes.')
    await putBlock(store.multipart, call.key, blockId, openPayload(context))
    sendEmpty(response, 201, STORED)
  },
}

const putBlockList: Operation = {
  name: 'PutBlockList',
  need: writes,
  async run(context) {
    const { call, store, response } = context
    const blockIds = readBlockList(await readPayload(context, MAX_LIST_BYTES))
    const attributes = attributesOf(call)
    const conditions = writeConditions(call)
    if (blockIds.length === 0) {
      sendStored(response, await named(store.put(call.key, noBytes(), { attributes, ...conditions }), call))
      return
    }
    await named(commitBlocks(store.multipart, call.key, blockIds, conditions), call)
    // An upload in parts has the attributes it was started with; the attributes in the block list replace them.
    const info = await store.copy(call.key, call.key, attributes)
    if (!info) throw new BlobError(404, 'BlobNotFound', 'The blob was deleted while it was stored.')
    sendStored(response, info)
  },
}

const getBlob: Operation = {
  name: 'GetBlob',
  need: ({ key }) => ({ action: 'read', key }),
  async run(context) {
    const { call, store, response } = context
    const begun = await beginRead(context)
    if (!begun) return
    const { range } = begun
    const found = await store.get(call.key, range)
    if (!found) throw new BlobError(404, 'BlobNotFound', 'The specified blob does not exist.')
    const size = found.info.sizeBytes
    const end = range && Math.min(range.end, size - 1)
    response.writeHead(range ? 206 : 200, {
      ...headersOf(found.info),
      'content-length': range && end !== undefined ? Math.max(0, end - range.start + 1) : size,
      ...(range && { 'content-range': `bytes ${range.start}-${end}/${size}` }),
    })
    await sendBody(found.body, response)
  },
}

const headBlob: Operation = {
  name: 'GetBlobProperties',
  need: ({ key }) => ({ action: 'head', key }),
  async run(context) {
    const begun = await beginRead(context)
    if (!begun) return
    context.response.writeHead(200, { ...headersOf(begun.info), 'content-length': begun.info.sizeBytes }).end()
  },
}

/** Who may upload a file may also delete what they uploaded: overwriting it with an empty blob has the same effect. */
const deleteBlob: Operation = {
  name: 'DeleteBlob',
  need: writes,
  async run({ call, store, response }) {
    if (!(await store.head(call.key))) throw new BlobError(404, 'BlobNotFound', 'The specified blob does not exist.')
    await store.delete(call.key)
    sendEmpty(response, 202, { 'x-ms-delete-type-permanent': 'true' })
  },
}

const listBlobs: Operation = {
  name: 'ListBlobs',
  need: ({ query }) => ({ action: 'list', prefix: query.get('prefix') ?? '' }),
  async run({ call, auth, store, response, bucket }) {
    const prefix = call.query.get('prefix') ?? ''
    const delimiter = call.query.get('delimiter') ?? ''
    const marker = call.query.get('marker') ?? ''
    const limit = Math.min(numberParameter(call, 'maxresults', 1000, [1, 5000]), 1000)
    const after = Buffer.from(marker, 'base64url').toString()
    const found = await walk(store, { prefix, delimiter, after, limit }, visibleIn(auth.principal, prefix))
    const next = found.next === undefined ? '' : Buffer.from(found.next).toString('base64url')
    const content = [
      element('Prefix', prefix),
      element('Marker', marker),
      element('MaxResults', limit),
      element('Delimiter', delimiter),
      element('Blobs', [
        ...found.objects.map(blobElement),
        ...found.commonPrefixes.map((name) => element('BlobPrefix', [element('Name', name)])),
      ]),
      element('NextMarker', next),
    ]
    sendXml(response, xmlDocument(element('EnumerationResults', content, ` ContainerName="${bucket}"`)))
  },
}

const seeContainer: Operation = {
  name: 'GetContainerProperties',
  need: () => ({ action: 'see-bucket' }),
  async run({ response }) {
    sendEmpty(response, 200)
  },
}

const BLOB_OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['PUT ', putBlob],
  ['PUT block', putBlockOperation],
  ['PUT blocklist', putBlockList],
  ['GET ', getBlob],
  ['HEAD ', headBlob],
  ['DELETE ', deleteBlob],
])

const CONTAINER_OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['GET list', listBlobs],
  ['GET ', seeContainer],
  ['HEAD ', seeContainer],
])

const STORED = { 'x-ms-request-server-encrypted': 'true' }

function sendStored(response: Parameters<typeof sendEmpty>[0], info: ObjectInfo): void {
  sendEmpty(response, 201, { ...STORED, etag: `"${info.etag}"`, 'last-modified': new Date(info.modifiedMs).toUTCString() })
}

/** Azure has a name of its own for a blob that is there although it must not be. */
async function named(stored: Promise<ObjectInfo>, call: S3Call): Promise<ObjectInfo> {
  try {
    return await stored
  } catch (cause) {
    const isTaken = (cause as { code?: unknown }).code === 'storage.preconditionFailed' && headerOf(call, 'if-none-match') === '*'
    throw isTaken ? new BlobError(409, 'BlobAlreadyExists', 'The specified blob already exists.', cause) : cause
  }
}

function demandLength(call: S3Call): void {
  if (headerOf(call, 'content-length') === undefined)
    throw new BlobError(411, 'MissingContentLengthHeader', 'The header Content-Length is missing.')
}

/** Ids in the order of the document, whichever of its three words names them: blocks are kept only until they are committed. */
function readBlockList(text: string): readonly string[] {
  const wrong = (message: string) => new BlobError(400, 'InvalidBlockList', message)
  if (!parseXml(text)) throw new BlobError(400, 'InvalidXmlDocument', 'The list of blocks is not XML.')
  const found = [...text.matchAll(/<(Latest|Uncommitted|Committed)>\s*([^<\s]*)\s*<\/\1>/g)]
  if (found.some(([, word]) => word === 'Committed'))
    throw wrong('Blocks of a blob that is stored already cannot be named again.')
  if (found.length > MAX_BLOCKS) throw wrong(`A blob has at most ${MAX_BLOCKS} blocks.`)
  return found.map(([, , id = '']) => id)
}

/** `bodyType`: of a body that is the blob itself. */
function attributesOf(call: S3Call, bodyType?: string): ObjectAttributes {
  const said = (name: string) => headerOf(call, `x-ms-blob-${name}`)
  const given = {
    contentType: said('content-type') ?? bodyType,
    contentDisposition: said('content-disposition'),
    contentEncoding: said('content-encoding'),
    contentLanguage: said('content-language'),
    cacheControl: said('cache-control'),
  }
  const metadata: Record<string, string> = {}
  for (const name of Object.keys(call.headers))
    if (name.startsWith(META)) metadata[name.slice(META.length)] = headerOf(call, name) ?? ''
  if (JSON.stringify(metadata).length > MAX_METADATA_BYTES)
    throw new BlobError(400, 'MetadataTooLarge', `The metadata exceed ${MAX_METADATA_BYTES} bytes.`)
  return { ...defined(given), encryption: 'AES256', ...(Object.keys(metadata).length > 0 && { metadata }) }
}

const headersOf = ({ attributes, etag, modifiedMs }: ObjectInfo): Record<string, string> =>
  defined({
    'accept-ranges': 'bytes',
    etag: `"${etag}"`,
    'last-modified': new Date(modifiedMs).toUTCString(),
    'x-ms-creation-time': new Date(modifiedMs).toUTCString(), // an object is written once, or replaced
    'content-type': attributes.contentType ?? 'application/octet-stream',
    'content-disposition': attributes.contentDisposition,
    'content-encoding': attributes.contentEncoding,
    'content-language': attributes.contentLanguage,
    'cache-control': attributes.cacheControl,
    'x-ms-blob-type': 'BlockBlob',
    'x-ms-server-encrypted': 'true',
    'x-ms-lease-state': 'available',
    'x-ms-lease-status': 'unlocked',
    ...Object.fromEntries(Object.entries(attributes.metadata ?? {}).map(([name, value]) => [META + name, value])),
  })

const blobElement = ({ key, etag, modifiedMs, sizeBytes, attributes }: ObjectInfo): Xml =>
  element('Blob', [
    element('Name', key),
    element('Properties', [
      element('Creation-Time', new Date(modifiedMs).toUTCString()),
      element('Last-Modified', new Date(modifiedMs).toUTCString()),
      element('Etag', etag),
      element('Content-Length', sizeBytes),
      element('Content-Type', attributes.contentType ?? 'application/octet-stream'),
      element('BlobType', 'BlockBlob'),
    ]),
  ])

async function* noBytes(): Bytes {}
