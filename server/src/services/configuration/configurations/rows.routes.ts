// HTTP for configuration rows (spec storage 2.8.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../http/dry-run.ts'
import { exactMembers } from '../../../http/exact-members.ts'
import { optionalText } from '../../../http/parameters.ts'
import { sendJson } from '../../../http/send-json.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { ConfigurationDryRuns } from './dry-run.ts'
import { effectiveText } from './effective.ts'
import { readObject, readRowInput } from './input.ts'
import type { Reader } from './reader.ts'
import {
  BODY_LIMIT,
  ChangeBody,
  ChangeDescription,
  callerOf,
  expectedVersionOf,
  IF_MATCH,
  InConfiguration,
  InRow,
  OfRowVersion,
  PageQuery,
  ROW,
  ROWS,
  RowBody,
  RowVersionView,
  RowView,
  StateBody,
  versionOf,
  wordsIn,
  wordsOf,
} from './route-shapes.ts'
import type { Rows } from './rows.ts'
import type { Versions } from './versions.ts'
import { listOf, rowText, rowVersionText } from './views.ts'

export interface RowsRoutesDeps {
  readonly rows: Rows
  readonly versions: Versions
  readonly reader: Reader
  readonly dryRuns: Pick<ConfigurationDryRuns, 'removeRow' | 'rollBackRow'>
}

const config = (operation: string, summary: string) =>
  ({
    operation: `rows.${operation}`,
    summary,
    needs: 'component',
    validationCode: 'storage.componentsRows.validation',
    proposable: 'branch',
  }) as const

const RowCopyBody = Type.Object(
  {
    targetConfigId: optionalText('Configuration that gets the copy; the same one by default.'),
    changeDescription: ChangeDescription,
  },
  { additionalProperties: false },
)

export function rowsRoutes({ rows, versions, reader, dryRuns }: RowsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      ROWS,
      {
        config: config('list', 'List rows in the order in which they run'),
        schema: { params: InConfiguration, response: { 200: Type.Array(RowView) } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        return sendJson(
          reply,
          listOf((await reader.listRows(callerOf(req), componentId, configurationId)).map((row) => rowText(row))),
        )
      },
    )

    app.post(
      ROWS,
      {
        config: { ...config('create', 'Add a row; the configuration gets a new version'), headers: IF_MATCH },
        bodyLimit: BODY_LIMIT,
        schema: { params: InConfiguration, body: RowBody, response: { 201: RowView } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        const input = readRowInput(req.body, exactMembers(req))
        return sendJson(
          reply,
          rowText(await rows.create(callerOf(req), componentId, configurationId, input, expectedVersionOf(req))),
          201,
        )
      },
    )

    app.get(
      ROW,
      { config: config('get', 'One row'), schema: { params: InRow, response: { 200: RowView } } },
      async (req, reply) => {
        const { componentId, configurationId, rowId } = req.params
        return sendJson(reply, rowText(await reader.getRow(callerOf(req), componentId, configurationId, rowId)))
      },
    )

    app.put(
      ROW,
      {
        config: { ...config('update', 'Change a row; the configuration gets a new version'), headers: IF_MATCH },
        bodyLimit: BODY_LIMIT,
        schema: { params: InRow, body: RowBody, response: { 200: RowView } },
      },
      async (req, reply) => {
        const { rowId: _fixed, ...input } = readRowInput(req.body, exactMembers(req))
        return sendJson(reply, rowText(await rows.update(callerOf(req), req.params, input, expectedVersionOf(req))))
      },
    )

    app.put(
      `${ROW}/state`,
      {
        config: { ...config('setState', 'Set the state of a row; creates no version'), headers: IF_MATCH },
        bodyLimit: BODY_LIMIT,
        schema: { params: InRow, body: StateBody, response: { 200: RowView } },
      },
      async (req, reply) => {
        const given = exactMembers(req)('state')
        if (given === undefined) throw new PlatformError('validation.invalidStateFormat', { reason: 'This field is missing.' })
        const { text } = readObject(given, 'validation.invalidStateFormat')
        return sendJson(reply, rowText(await rows.setState(callerOf(req), req.params, text, expectedVersionOf(req))))
      },
    )

    app.delete(
      ROW,
      {
        config: { ...config('delete', 'Delete a row; the configuration gets a new version'), headers: IF_MATCH },
        schema: {
          params: InRow,
          querystring: Type.Object({ dryRun: DryRun }),
          body: Type.Optional(ChangeBody),
          response: { 200: DryRunView, 204: Type.Null() },
        },
      },
      async (req, reply) => {
        if (req.query.dryRun)
          return reply.code(200).send(await dryRuns.removeRow(callerOf(req), req.params, expectedVersionOf(req)))
        await rows.remove(callerOf(req), req.params, wordsOf(req.body?.changeDescription), expectedVersionOf(req))
        return reply.code(204).send(null)
      },
    )

    app.get(
      `${ROW}/effective`,
      {
        config: config(
          'effective',
          'Effective configuration of a row: root and row merged, each value with its origin, secrets hidden',
        ),
        schema: {
          params: InRow,
          response: {
            200: Type.Object({
              configuration: Type.Record(Type.String(), Type.Unknown()),
              origins: Type.Record(Type.String(), Type.Union([Type.Literal('root'), Type.Literal('row')])),
            }),
          },
        },
      },
      async (req, reply) => {
        const { componentId, configurationId, rowId } = req.params
        const { root, row } = await reader.getRowWithRoot(callerOf(req), componentId, configurationId, rowId)
        return sendJson(reply, effectiveText(root, row))
      },
    )

    app.get(
      `${ROW}/versions`,
      {
        config: config('versions', 'List versions of a row, newest first'),
        schema: { params: InRow, querystring: PageQuery, response: { 200: Type.Array(RowVersionView) } },
      },
      async (req, reply) => {
        const { componentId, configurationId, rowId } = req.params
        const { limit = 100, offset = 0 } = req.query
        const withConfiguration = wordsIn(req.query.include).includes('configuration')
        const list = await versions.listOfRow(callerOf(req), componentId, configurationId, rowId, { limit, offset })
        return sendJson(reply, listOf(list.map((version) => rowVersionText(version, withConfiguration))))
      },
    )

    app.get(
      `${ROW}/versions/:versionId`,
      {
        config: config('version', 'One version of a row'),
        schema: { params: OfRowVersion, response: { 200: RowVersionView } },
      },
      async (req, reply) => {
        const { componentId, configurationId, rowId, versionId } = req.params
        const found = await versions.getOfRow(callerOf(req), componentId, configurationId, rowId, versionOf(versionId))
        return sendJson(reply, rowVersionText(found, true))
      },
    )

    app.post(
      `${ROW}/versions/:versionId/rollback`,
      {
        config: { ...config('rollBack', 'Roll a row back to a version; its state stays'), headers: IF_MATCH },
        schema: {
          params: OfRowVersion,
          querystring: Type.Object({ dryRun: DryRun }),
          body: Type.Optional(ChangeBody),
          response: { 200: DryRunView, 201: RowView },
        },
      },
      async (req, reply) => {
        const [version, expected] = [versionOf(req.params.versionId), expectedVersionOf(req)]
        if (req.query.dryRun) return reply.code(200).send(await dryRuns.rollBackRow(callerOf(req), req.params, version, expected))
        const words = wordsOf(req.body?.changeDescription)
        return sendJson(reply, rowText(await rows.rollBack(callerOf(req), req.params, version, words, expected)), 201)
      },
    )

    app.post(
      `${ROW}/versions/:versionId/create`,
      {
        config: config('copy', 'Copy a row, also to another configuration of the component'),
        schema: { params: OfRowVersion, body: Type.Optional(RowCopyBody), response: { 201: RowView } },
      },
      async (req, reply) => {
        const target = wordsOf(req.body?.targetConfigId)
        const words = wordsOf(req.body?.changeDescription)
        const options = {
          ...defined({ targetConfigurationId: target, changeDescription: words }),
        }
        return sendJson(reply, rowText(await rows.copy(callerOf(req), req.params, versionOf(req.params.versionId), options)), 201)
      },
    )
  }
}
