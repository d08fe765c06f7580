// HTTP for sources and sinks (spec platform 7.1). What public clients poll as a task is done when it is answered.

import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { mayChangeEverything } from '../../../model/actor.ts'
import type { RoutesServer } from '../../../model/module.ts'
import { type Column, rowOf } from './columns.ts'
import { keptHeaders } from './receiving.ts'
import type { Sources, StreamPlace } from './sources.ts'
import { readSettings, settingsView } from './stream-settings.ts'
import type { Sink, Source } from './streams.store.ts'

export interface StreamsRoutesDeps {
  readonly sources: Sources
  readonly clock: Clock
  readonly findBranch: (projectId: number, name: string) => Promise<{ readonly id: number } | undefined>
  readonly saveTask: (projectId: number, taskId: string, content: string) => Promise<void>
  readonly findTask: (projectId: number, taskId: string) => Promise<string | undefined>
}

const ID = '^[a-z0-9][a-z0-9-]{0,47}$'
const Id = (what: string) =>
  Type.String({ pattern: ID, description: `Id of the ${what}: lower-case letters, digits and dashes.` })
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'Display name.' })
const Description = Type.String({ maxLength: 4096, description: 'Purpose.' })
const ChangeDescription = Type.Optional(Type.String({ maxLength: 4096, description: 'Reason of the change; ignored.' }))
const InBranch = { branchId: Type.String({ description: 'Id of the branch, or default.' }) }
const OfSource = { ...InBranch, sourceId: Type.String({ description: 'Id of the source.' }) }
const OfSink = { ...OfSource, sinkId: Type.String({ description: 'Id of the sink.' }) }
const Page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of items; 100 by default.' })),
  afterId: Type.Optional(Type.String({ description: 'Only items after this id.' })),
}
const ColumnBody = Type.Object({
  type: Type.Enum(['uuid', 'datetime', 'ip', 'body', 'headers', 'path', 'template'], { description: 'Type of the column.' }),
  name: Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$', description: 'Name of the column.' }),
  primaryKey: Type.Optional(Type.Literal(false, { description: 'Records are appended; a table of a stream has no key.' })),
  path: Type.Optional(Type.String({ maxLength: 500, description: 'Of a path column: the path into the body.' })),
  defaultValue: Type.Optional(Type.String({ maxLength: 10_000, description: 'Value if the path does not exist.' })),
  rawString: Type.Optional(Type.Boolean({ description: 'True: strings without quotes.' })),
  template: Type.Optional(
    Type.Object(
      {
        language: Type.String({ description: 'text' }),
        content: Type.String({ maxLength: 4096, description: 'A text with {{ body.path }}, {{ header.Name }}, {{ ip }}.' }),
      },
      { description: 'Of a template column.' },
    ),
  ),
})
const TableBody = Type.Object(
  {
    type: Type.Optional(Type.Literal('keboola', { description: 'A table of the project.' })),
    tableId: Type.String({ maxLength: 200, description: 'The table; created if it does not exist.' }),
    mapping: Type.Object(
      { columns: Type.Array(ColumnBody, { description: 'The columns, in order.' }) },
      { description: 'Its columns.' },
    ),
  },
  { description: 'The table the records go to.' },
)
const Task = Type.Object({
  taskId: Type.String(),
  type: Type.String(),
  url: Type.String(),
  status: Type.String(),
  isFinished: Type.Boolean(),
  createdAt: Type.String(),
  finishedAt: Type.String(),
  duration: Type.Integer(),
  result: Type.String(),
  outputs: Type.Record(Type.String(), Type.Unknown()),
})
const Loose = Type.Record(Type.String(), Type.Unknown())
const BASE = '/stream/v1/branches/:branchId'

const HIDDEN = '***'

type StreamCalls = ReturnType<typeof createCalls>

function createCalls({ sources, clock, findBranch, saveTask }: StreamsRoutesDeps) {
  async function placeOf(req: FastifyRequest): Promise<StreamPlace> {
    const { branchId } = req.params as { branchId: string } // every route below has it
    const branch = await findBranch(req.actor.projectId, branchId)
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${branchId.slice(0, 60)}"` })
    return { actor: req.actor, branchId: branch.id }
  }

  async function sourceView(source: Source, { actor, baseUrl }: FastifyRequest) {
    const path = source.type === 'http' ? 'stream' : 'otlp'
    // The whole URL is enough to send records, so only callers that may change the source see it.
    const secret = mayChangeEverything(actor) ? await sources.secretOf(source) : HIDDEN
    const url = `${baseUrl}/${path}/${source.projectId}/${source.sourceId}/${secret}`
    return {
      projectId: source.projectId,
      branchId: source.branchId,
      sourceId: source.sourceId,
      type: source.type,
      name: source.name,
      description: source.description,
      [source.type]: { url },
      created: {
        at: source.createdAt.toISOString(),
        by: { type: 'token', tokenId: String(source.creator.tokenId), tokenDesc: source.creator.description },
      },
      version: { number: source.version, at: source.updatedAt.toISOString() },
      ...(source.isDisabled && { disabled: { at: source.updatedAt.toISOString() } }),
    }
  }

  async function answerTask(req: FastifyRequest, reply: FastifyReply, type: string, source: Source, sink?: Sink) {
    const taskId = `${source.projectId}/${type}/${randomUUID()}`
    const now = clock.now()
    const task = {
      taskId,
      type,
      url: `${req.baseUrl}/stream/v1/tasks/${taskId}`,
      status: 'success',
      isFinished: true,
      createdAt: now.toISOString(),
      finishedAt: now.toISOString(),
      duration: 0,
      result: 'Done.',
      outputs: {
        projectId: source.projectId,
        branchId: source.branchId,
        sourceId: source.sourceId,
        ...(sink && { sinkId: sink.sinkId }),
      },
    }
    await saveTask(source.projectId, taskId, JSON.stringify(task))
    return reply.code(202).send(task)
  }

  return { sources, clock, placeOf, sourceView, answerTask }
}

const paged = <T>(
  items: readonly T[],
  idOf: (item: T) => string,
  { limit = 100, afterId = '' }: { limit?: number; afterId?: string },
) => {
  const shown = items.filter((item) => idOf(item) > afterId).slice(0, limit)
  return { page: { limit, totalCount: items.length, afterId, lastId: shown.length > 0 ? idOf(shown.at(-1)!) : '' }, shown }
}

const read = (operation: string, summary: string) => ({
  operation: `stream.${operation}`,
  summary,
  needs: 'project' as const,
  branch: 'refused' as const,
  validationCode: 'validation.failed' as const,
})
const write = (operation: string, summary: string) => ({ ...read(operation, summary), needs: 'master' as const })

export function streamsRoutes(deps: StreamsRoutesDeps): FastifyPluginAsyncTypebox {
  const { findTask } = deps
  const calls = createCalls(deps)

  return async (app) => {
    addSourceRoutes(app, calls)
    addSwitchRoutes(app, calls)
    addSettingsRoutes(app, calls)
    addTestRoute(app, calls)
    addSinkRoutes(app, calls)

    app.get(
      '/stream/v1/tasks/*',
      {
        config: read('getTask', 'A finished task'),
        schema: { params: Type.Object({ '*': Type.String({ description: 'Id of the task.' }) }), response: { 200: Task } },
      },
      async (req) => {
        const content = await findTask(req.actor.projectId, req.params['*'])
        if (content === undefined) throw new PlatformError('stream.notFound', { what: `Task "${req.params['*'].slice(0, 100)}"` })
        return JSON.parse(content) as never // written by answerTask
      },
    )
  }
}

function addSourceRoutes(app: RoutesServer, { sources, placeOf, sourceView, answerTask }: StreamCalls): void {
  app.post(
    `${BASE}/sources`,
    {
      config: write('createSource', 'Create a source'),
      schema: {
        params: Type.Object(InBranch),
        body: Type.Object({
          sourceId: Type.Optional(Id('source')),
          type: Type.Optional(
            Type.Enum(['http', 'otlp'], {
              description: 'http (default): a record in each request; otlp: telemetry by OTLP/HTTP.',
            }),
          ),
          name: Name,
          description: Type.Optional(Description),
        }),
        response: { 202: Task },
      },
    },
    async (req, reply) => {
      const { type = 'http', ...request } = req.body
      return answerTask(req, reply, 'create.source', await sources.create(await placeOf(req), { ...request, type }))
    },
  )

  app.get(
    `${BASE}/sources`,
    {
      config: read('listSources', 'Sources of a branch'),
      schema: { params: Type.Object(InBranch), querystring: Type.Object(Page), response: { 200: Loose } },
    },
    async (req) => {
      const place = await placeOf(req)
      const { page, shown } = paged(await sources.list(place), ({ sourceId }) => sourceId, req.query)
      const views = await Promise.all(shown.map((source) => sourceView(source, req)))
      return { projectId: place.actor.projectId, branchId: place.branchId, page, sources: views }
    },
  )

  app.get(
    `${BASE}/aggregation/sources`,
    {
      config: read('aggregateSources', 'Sources of a branch with their sinks'),
      schema: { params: Type.Object(InBranch), querystring: Type.Object(Page), response: { 200: Loose } },
    },
    async (req) => {
      const place = await placeOf(req)
      const { page, shown } = paged(await sources.list(place), ({ sourceId }) => sourceId, req.query)
      const views = await Promise.all(
        shown.map(async (source) => ({
          ...(await sourceView(source, req)),
          sinks: (await sources.listSinks(place, source.sourceId)).map((sink) => sinkView(source, sink)),
        })),
      )
      return { projectId: place.actor.projectId, branchId: place.branchId, page, sources: views }
    },
  )

  app.get(
    `${BASE}/sources/:sourceId`,
    {
      config: read('getSource', 'Source detail'),
      schema: { params: Type.Object(OfSource), response: { 200: Loose } },
    },
    async (req) => sourceView(await sources.get(await placeOf(req), req.params.sourceId), req),
  )

  app.patch(
    `${BASE}/sources/:sourceId`,
    {
      config: write('updateSource', 'Change a source'),
      schema: {
        params: Type.Object(OfSource),
        body: Type.Object({
          name: Type.Optional(Name),
          description: Type.Optional(Description),
          changeDescription: ChangeDescription,
        }),
        response: { 202: Task },
      },
    },
    async (req, reply) => {
      const { changeDescription: _, ...changed } = req.body
      return answerTask(req, reply, 'update.source', await sources.change(await placeOf(req), req.params.sourceId, changed))
    },
  )

  app.delete(
    `${BASE}/sources/:sourceId`,
    {
      config: write('deleteSource', 'Delete a source with its sinks; keeps their tables'),
      schema: { params: Type.Object(OfSource), response: { 202: Task } },
    },
    async (req, reply) => answerTask(req, reply, 'delete.source', await sources.remove(await placeOf(req), req.params.sourceId)),
  )
}

function addSwitchRoutes(app: RoutesServer, { sources, placeOf, answerTask }: StreamCalls): void {
  for (const [word, isDisabled] of [
    ['enable', false],
    ['disable', true],
  ] as const) {
    app.put(
      `${BASE}/sources/:sourceId/${word}`,
      {
        config: write(`${word}Source`, `${word === 'enable' ? 'Enable' : 'Disable'} a source`),
        schema: { params: Type.Object(OfSource), response: { 202: Task } },
      },
      async (req, reply) =>
        answerTask(req, reply, `${word}.source`, await sources.change(await placeOf(req), req.params.sourceId, { isDisabled })),
    )

    app.put(
      `${BASE}/sources/:sourceId/sinks/:sinkId/${word}`,
      {
        config: write(`${word}Sink`, `${word === 'enable' ? 'Enable' : 'Disable'} a sink`),
        schema: { params: Type.Object(OfSink), response: { 202: Task } },
      },
      async (req, reply) => {
        const place = await placeOf(req)
        const { sourceId, sinkId } = req.params
        const sink = await sources.changeSink(place, sourceId, sinkId, { isDisabled })
        return answerTask(req, reply, `${word}.sink`, await sources.get(place, sourceId), sink)
      },
    )
  }
}

function addSettingsRoutes(app: RoutesServer, { sources, placeOf, answerTask }: StreamCalls): void {
  app.post(
    `${BASE}/sources/:sourceId/rotate-secret`,
    {
      config: write('rotateSecret', 'Rotate the secret of a source; the old URL stops working within a second'),
      schema: { params: Type.Object(OfSource), response: { 202: Task } },
    },
    async (req, reply) =>
      answerTask(req, reply, 'update.source.secret', await sources.rotateSecret(await placeOf(req), req.params.sourceId)),
  )

  app.get(
    `${BASE}/sources/:sourceId/settings`,
    {
      config: read('getSettings', 'Batch settings of a source'),
      schema: { params: Type.Object(OfSource), response: { 200: Loose } },
    },
    async (req) => ({ settings: settingsView((await sources.get(await placeOf(req), req.params.sourceId)).limits) }),
  )

  app.patch(
    `${BASE}/sources/:sourceId/settings`,
    {
      config: write('updateSettings', 'Change the batch settings of a source'),
      schema: {
        params: Type.Object(OfSource),
        body: Type.Object({
          settings: Type.Array(
            Type.Object({
              key: Type.String({ description: 'Name of the setting.' }),
              value: Type.Unknown({ description: 'Its value.' }),
            }),
            { maxItems: 20, description: 'Fields to change.' },
          ),
          changeDescription: ChangeDescription,
        }),
        response: { 202: Task },
      },
    },
    async (req, reply) => {
      const place = await placeOf(req)
      const { limits } = await sources.get(place, req.params.sourceId)
      const changed = { limits: readSettings(limits, req.body.settings) }
      return answerTask(req, reply, 'update.source.settings', await sources.change(place, req.params.sourceId, changed))
    },
  )
}

function addTestRoute(app: RoutesServer, { sources, clock, placeOf }: StreamCalls): void {
  app.post(
    `${BASE}/sources/:sourceId/test`,
    {
      config: {
        ...read('testSource', 'Preview the rows that the sinks create from a record'),
        needs: 'canManageBuckets',
        body: 'text',
        consumes: ['application/json', 'application/x-www-form-urlencoded', 'text/plain', '*/*'],
      },
      schema: { params: Type.Object(OfSource), response: { 200: Loose } },
    },
    async (req) => {
      const place = await placeOf(req)
      const source = await sources.get(place, req.params.sourceId)
      const isForm = (req.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded')
      const body = typeof req.body === 'string' ? req.body : ''
      const record = {
        id: randomUUID(),
        at: clock.now().getTime(),
        ip: req.ip,
        headers: keptHeaders(req.headers),
        body,
        isForm,
      }
      const tables = (await sources.listSinks(place, source.sourceId)).map((sink) => {
        const values = rowOf(sink.columns, record)
        return {
          sinkId: sink.sinkId,
          tableId: sink.tableId,
          rows: [{ columns: sink.columns.map(({ name }, i) => ({ name, value: values[i] })) }],
        }
      })
      return { projectId: source.projectId, branchId: source.branchId, sourceId: source.sourceId, tables }
    },
  )
}

function addSinkRoutes(app: RoutesServer, { sources, placeOf, answerTask }: StreamCalls): void {
  app.post(
    `${BASE}/sources/:sourceId/sinks`,
    {
      config: write('createSink', 'Create a sink: load the records of a source into a table'),
      schema: {
        params: Type.Object(OfSource),
        body: Type.Object({
          sinkId: Type.Optional(Id('sink')),
          type: Type.Optional(Type.Literal('table', { description: 'A table.' })),
          name: Name,
          description: Type.Optional(Description),
          table: TableBody,
        }),
        response: { 202: Task },
      },
    },
    async (req, reply) => {
      const place = await placeOf(req)
      const { sinkId, name, description, table } = req.body
      const request = { sinkId, name, description, tableId: table.tableId, columns: columnsOf(table) }
      const sink = await sources.createSink(place, req.params.sourceId, request)
      return answerTask(req, reply, 'create.sink', await sources.get(place, req.params.sourceId), sink)
    },
  )

  app.get(
    `${BASE}/sources/:sourceId/sinks`,
    {
      config: read('listSinks', 'Sinks of a source'),
      schema: { params: Type.Object(OfSource), querystring: Type.Object(Page), response: { 200: Loose } },
    },
    async (req) => {
      const place = await placeOf(req)
      const source = await sources.get(place, req.params.sourceId)
      const { page, shown } = paged(await sources.listSinks(place, source.sourceId), ({ sinkId }) => sinkId, req.query)
      const { projectId, branchId, sourceId } = source
      return { projectId, branchId, sourceId, page, sinks: shown.map((sink) => sinkView(source, sink)) }
    },
  )

  app.get(
    `${BASE}/sources/:sourceId/sinks/:sinkId`,
    {
      config: read('getSink', 'Sink detail with load statistics'),
      schema: { params: Type.Object(OfSink), response: { 200: Loose } },
    },
    async (req) => {
      const place = await placeOf(req)
      const { sourceId, sinkId } = req.params
      return sinkView(await sources.get(place, sourceId), await sources.getSink(place, sourceId, sinkId))
    },
  )

  app.patch(
    `${BASE}/sources/:sourceId/sinks/:sinkId`,
    {
      config: write('updateSink', 'Change a sink'),
      schema: {
        params: Type.Object(OfSink),
        body: Type.Object({
          name: Type.Optional(Name),
          description: Type.Optional(Description),
          table: Type.Optional(TableBody),
          changeDescription: ChangeDescription,
        }),
        response: { 202: Task },
      },
    },
    async (req, reply) => {
      const place = await placeOf(req)
      const { sourceId, sinkId } = req.params
      const { changeDescription: _, table, ...changed } = req.body
      const sink = await sources.changeSink(place, sourceId, sinkId, {
        ...changed,
        ...(table && { tableId: table.tableId, columns: columnsOf(table) }),
      })
      return answerTask(req, reply, 'update.sink', await sources.get(place, sourceId), sink)
    },
  )

  app.delete(
    `${BASE}/sources/:sourceId/sinks/:sinkId`,
    {
      config: write('deleteSink', 'Delete a sink; keeps its table'),
      schema: { params: Type.Object(OfSink), response: { 202: Task } },
    },
    async (req, reply) => {
      const place = await placeOf(req)
      const { sourceId, sinkId } = req.params
      const sink = await sources.removeSink(place, sourceId, sinkId)
      return answerTask(req, reply, 'delete.sink', await sources.get(place, sourceId), sink)
    },
  )
}

const columnsOf = (table: { readonly mapping: { readonly columns: readonly (Column & { primaryKey?: unknown })[] } }): Column[] =>
  table.mapping.columns.map(({ primaryKey: _, ...column }) => column)

const sinkView = (source: Source, sink: Sink) => ({
  projectId: sink.projectId,
  branchId: source.branchId,
  sourceId: source.sourceId,
  sinkId: sink.sinkId,
  type: 'table',
  name: sink.name,
  description: sink.description,
  table: { type: 'keboola', tableId: sink.tableId, mapping: { columns: [...sink.columns] } },
  created: { at: sink.createdAt.toISOString() },
  version: { number: sink.version, at: sink.updatedAt.toISOString() },
  statistics: {
    recordsCount: sink.recordsCount,
    lastLoadedAt: sink.lastLoadedAt?.toISOString() ?? null,
    lastError: sink.lastError ?? null,
  },
  ...(sink.isDisabled && { disabled: { at: sink.updatedAt.toISOString() } }),
})
