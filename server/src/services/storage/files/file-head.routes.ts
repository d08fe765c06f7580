// HTTP for looking into files: bytes from anywhere in them, and how their CSV seems to be written (spec storage 2.6.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type FileHeads, MAX_HEAD_BYTES, type SniffedFile, sniffBytes } from './file-head.ts'

const ById = Type.Object({ id: numberedId('file') })
const HeadQuery = Type.Object({
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes of the decompressed content to skip; 0 by default.' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_HEAD_BYTES, description: 'Maximum number of bytes; 65536 by default.' }),
  ),
  raw: optionalFlag('True: the stored bytes, without decompressing gzip or zstd.'),
  slice: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Only this slice of a sliced file, starting with 0; all slices joined by default.' }),
  ),
})
const Hints = {
  delimiter: optionalText('Character between fields, if known; otherwise detected. A tab is written \\t.'),
  enclosure: optionalText('Character around fields, if known; otherwise detected. Empty: none.'),
  hasHeader: optionalFlag('Whether the first line contains the column names, if known; otherwise detected.'),
}
const BodyHints = Type.Object({
  ...Hints,
  isWhole: optionalFlag('False: the body is the beginning of a larger file. True by default.'),
})

const Sniffed = Type.Object(
  {
    format: Type.String({
      description:
        'csv, json (a list of objects, or JSON lines), parquet, excel (a workbook) or avro. The columns of the last three are detected by the load.',
    }),
    compression: Nullable(Type.String({ description: 'gzip, zstd or null.' })),
    encoding: Type.String({ description: 'utf-8, or the detected encoding; only utf-8 can be loaded.' }),
    hasByteOrderMark: Type.Boolean(),
    delimiter: Type.String(),
    enclosure: Type.String(),
    lineEnd: Type.String({ description: 'lf, crlf or mixed.' }),
    hasHeader: Type.Boolean(),
    columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), nullable: Type.Boolean() })),
    rows: Type.Integer({ description: 'Number of data rows in the part that was read.' }),
    preview: Type.Array(Type.Array(Type.String())),
    problems: Type.Array(
      Type.Object({
        kind: Type.String(),
        line: Type.Integer(),
        column: Type.Integer({ description: 'Position in the line, starting with 1.' }),
        offset: Type.Integer({ description: 'Offset in bytes in the decompressed file.' }),
        message: Type.String(),
        text: Type.String({ description: 'The beginning of the line.' }),
      }),
      { description: 'First lines that a load would refuse, at most 20.' },
    ),
    isLoadable: Type.Boolean({ description: 'True: a load with this dialect accepts the part that was read.' }),
    sampledBytes: Type.Integer(),
    isWhole: Type.Boolean({ description: 'True: the whole file was read, not only its beginning.' }),
  },
  { title: 'SniffedFile' },
)
const Slices = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Suffix after the key of the file; for a plain file its name.' }),
    sizeBytes: Type.Integer(),
  }),
)
const SniffedView = Type.Unsafe<SniffedFile>(Sniffed)

export function fileHeadRoutes({ heads }: { readonly heads: FileHeads }): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/files/:id/head',
      {
        config: {
          operation: 'files.head',
          summary: 'Part of the decompressed content of a file',
          needs: 'ownFile',
          produces: ['application/octet-stream'],
        },
        schema: { params: ById, querystring: HeadQuery, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { offset = 0, limit = 65_536, raw, slice } = req.query
        const { bytes, compression, isCut } = await heads.head(
          req.actor,
          fileId(req.params.id),
          { offset, limit, raw, slice },
          req.branch,
        )
        return reply
          .type('application/octet-stream')
          .headers({
            'content-disposition': 'attachment',
            'x-millrace-truncated': String(isCut),
            'x-millrace-compression': compression ?? 'none',
          })
          .send(bytes)
      },
    )

    app.get(
      '/v2/storage/files/:id/slices',
      {
        config: {
          operation: 'files.slices',
          summary: 'List the objects of a file, in the order of its manifest',
          needs: 'ownFile',
        },
        schema: { params: ById, response: { 200: Slices } },
      },
      async (req) => [...(await heads.list(req.actor, fileId(req.params.id), req.branch))],
    )

    app.get(
      '/v2/storage/files/:id/sniff',
      {
        config: {
          operation: 'files.sniff',
          summary: 'Detect the format of a file, its CSV dialect and its first invalid lines',
          needs: 'ownFile',
        },
        schema: { params: ById, querystring: Type.Object(Hints), response: { 200: SniffedView } },
      },
      async (req) => heads.sniff(req.actor, fileId(req.params.id), req.query, req.branch),
    )

    app.post(
      '/v2/storage/files/sniff',
      {
        config: {
          operation: 'files.sniffBody',
          onlyReads: true,
          summary: 'Detect the format of the file in the request, its CSV dialect and its first invalid lines',
          needs: 'token',
          body: 'bytes',
          consumes: ['text/csv', '*/*'],
        },
        schema: {
          querystring: BodyHints,
          body: Type.Unsafe<Buffer>(Type.Unknown({ description: 'The file or its beginning; gzip and zstd are decompressed.' })),
          response: { 200: SniffedView },
        },
      },
      async (req) => sniffBytes(bytesIn(req.body), { ...req.query, isWhole: req.query.isWhole ?? true }),
    )
  }
}

/** A request without a body has none. */
const bytesIn = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

const fileId = (text: string): number => idFrom(text, () => new PlatformError('storage.files.notFound'))
