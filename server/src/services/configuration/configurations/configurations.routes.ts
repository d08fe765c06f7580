// HTTP for configurations and their versions (spec storage 2.8.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../http/dry-run.ts'
import { exactMembers } from '../../../http/exact-members.ts'
import { EVERYTHING, fieldsFrom, PAGE_PARAMETERS, pageFrom } from '../../../http/page.ts'
import { optionalFlag } from '../../../http/parameters.ts'
import { sendJson } from '../../../http/send-json.ts'
import { defined } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Configurations } from './configurations.ts'
import type { ConfigurationDryRuns } from './dry-run.ts'
import { readConfigurationInput, readObject } from './input.ts'
import type { Reader } from './reader.ts'
import {
  BODY_LIMIT,
  ChangeBody,
  CONFIG,
  CONFIGS,
  ConfigurationBody,
  ConfigurationView,
  CopyBody,
  callerOf,
  expectedVersionOf,
  IF_MATCH,
  InComponent,
  InConfiguration,
  NewConfigurationBody,
  OfVersion,
  PageQuery,
  StateBody,
  sendKept,
  VersionView,
  versionOf,
  wordsIn,
  wordsOf,
} from './route-shapes.ts'
import type { Versions } from './versions.ts'
import { configurationText, listOf, versionText, wholeVersionText } from './views.ts'

export interface ConfigurationsRoutesDeps {
  readonly configurations: Configurations
  readonly versions: Versions
  readonly dryRuns: ConfigurationDryRuns
  readonly reader: Reader
}

const config = (operation: string, summary: string) =>
  ({
    operation: `configurations.${operation}`,
    summary,
    needs: 'component',
    validationCode: 'storage.components.validation',
    proposable: 'branch',
  }) as const

const DEFAULT_PAGE = 100

export function configurationsRoutes({
  configurations,
  versions,
  dryRuns,
  reader,
}: ConfigurationsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      CONFIGS,
      {
        config: config('list', 'List configurations of a component'),
        schema: {
          params: InComponent,
          querystring: Type.Object({
            isDeleted: optionalFlag('True: only deleted configurations.'),
            ...PAGE_PARAMETERS,
          }),
          response: { 200: Type.Array(ConfigurationView) },
        },
      },
      async (req, reply) => {
        const { isDeleted = false, fields } = req.query
        const page = pageFrom(req.query) ?? (fields === undefined ? undefined : { limit: EVERYTHING, offset: 0 })
        if (!page) return sendKept(req, reply, await reader.list(callerOf(req), req.params.componentId, isDeleted))
        const found = await reader.listPage(callerOf(req), req.params.componentId, isDeleted, page, fieldsFrom(fields))
        reply.header('x-millrace-total', found.total)
        return sendJson(reply, found.text)
      },
    )

    app.post(
      CONFIGS,
      {
        config: config('create', 'Create a configuration'),
        bodyLimit: BODY_LIMIT,
        schema: { params: InComponent, body: NewConfigurationBody, response: { 201: ConfigurationView } },
      },
      async (req, reply) => {
        const input = readConfigurationInput(req.body, exactMembers(req))
        const record = await configurations.create(callerOf(req), req.params.componentId, input)
        const text = configurationText(record, { configuration: true, state: true, rows: undefined, isNew: true })
        return sendJson(reply, text, 201)
      },
    )

    app.get(
      CONFIG,
      {
        config: config('get', 'A configuration with its rows'),
        schema: { params: InConfiguration, response: { 200: ConfigurationView } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        return sendKept(req, reply, await reader.get(callerOf(req), componentId, configurationId))
      },
    )

    app.put(
      CONFIG,
      {
        config: { ...config('update', 'Change a configuration; a difference creates a new version'), headers: IF_MATCH },
        bodyLimit: BODY_LIMIT,
        schema: { params: InConfiguration, body: ConfigurationBody, response: { 200: ConfigurationView } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        const { configurationId: _fixed, ...input } = readConfigurationInput(req.body, exactMembers(req))
        const expected = expectedVersionOf(req)
        const record = await configurations.update(callerOf(req), componentId, configurationId, input, expected)
        return sendJson(reply, await reader.render(record))
      },
    )

    app.put(
      `${CONFIG}/state`,
      {
        config: { ...config('setState', 'Set the state of a configuration; creates no version'), headers: IF_MATCH },
        bodyLimit: BODY_LIMIT,
        schema: { params: InConfiguration, body: StateBody, response: { 200: ConfigurationView } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        const state = stateFrom(exactMembers(req)('state'))
        return sendJson(
          reply,
          await reader.render(
            await configurations.setState(callerOf(req), componentId, configurationId, state, expectedVersionOf(req)),
          ),
        )
      },
    )

    app.delete(
      CONFIG,
      {
        config: {
          ...config('delete', 'Move a configuration to the trash, or delete it from the trash permanently'),
          headers: IF_MATCH,
        },
        schema: {
          params: InConfiguration,
          querystring: Type.Object({ dryRun: DryRun }),
          response: { 200: DryRunView, 204: Type.Null() },
        },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        if (req.query.dryRun)
          return reply.code(200).send(await dryRuns.remove(callerOf(req), componentId, configurationId, expectedVersionOf(req)))
        await configurations.remove(callerOf(req), componentId, configurationId, expectedVersionOf(req))
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${CONFIG}/restore`,
      {
        config: { ...config('restore', 'Restore a configuration from the trash'), headers: IF_MATCH },
        schema: { params: InConfiguration, response: { 200: ConfigurationView } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        return sendJson(
          reply,
          await reader.render(await configurations.restore(callerOf(req), componentId, configurationId, expectedVersionOf(req))),
        )
      },
    )

    app.get(
      `${CONFIG}/versions`,
      {
        config: config('versions', 'List versions, newest first'),
        schema: { params: InConfiguration, querystring: PageQuery, response: { 200: Type.Array(VersionView) } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        const { limit = DEFAULT_PAGE, offset = 0 } = req.query
        const include = wordsIn(req.query.include)
        const list = await versions.list(callerOf(req), componentId, configurationId, { limit, offset })
        return sendJson(reply, listOf(list.map((version) => versionText(version, include))))
      },
    )

    app.get(
      `${CONFIG}/versions/:versionId`,
      {
        config: config('version', 'One version with its rows'),
        schema: { params: OfVersion, response: { 200: VersionView } },
      },
      async (req, reply) => {
        const { componentId, configurationId, versionId } = req.params
        return sendJson(
          reply,
          wholeVersionText(await versions.get(callerOf(req), componentId, configurationId, versionOf(versionId))),
        )
      },
    )

    app.post(
      `${CONFIG}/versions/:versionId/rollback`,
      {
        config: {
          ...config('rollBack', 'Roll a configuration back to a version, with its rows; creates a version; the state stays'),
          headers: IF_MATCH,
        },
        schema: {
          params: OfVersion,
          querystring: Type.Object({ dryRun: DryRun }),
          body: Type.Optional(ChangeBody),
          response: { 200: DryRunView, 201: Type.Object({ version: Type.String() }) },
        },
      },
      async (req, reply) => {
        const { componentId, configurationId, versionId } = req.params
        if (req.query.dryRun) {
          const expected = expectedVersionOf(req)
          const version = versionOf(versionId)
          return reply.code(200).send(await dryRuns.rollBack(callerOf(req), componentId, configurationId, version, expected))
        }
        const record = await versions.rollBack(callerOf(req), componentId, configurationId, versionOf(versionId), {
          changeDescription: wordsOf(req.body?.changeDescription),
          expected: expectedVersionOf(req),
        })
        return reply.code(201).send({ version: String(record.version) })
      },
    )

    app.post(
      `${CONFIG}/versions/:versionId/create`,
      {
        config: config('copy', 'Create a configuration from a version'),
        schema: { params: OfVersion, body: CopyBody, response: { 201: Type.Object({ id: Type.String() }) } },
      },
      async (req, reply) => {
        const { componentId, configurationId, versionId } = req.params
        const { name, description, changeDescription } = readConfigurationInput(req.body, () => undefined)
        const given = {
          name: name ?? '', // never absent: the schema requires it
          ...defined({ description }),
          ...(changeDescription !== undefined && changeDescription !== '' && { changeDescription }),
        }
        const record = await versions.copy(callerOf(req), componentId, configurationId, versionOf(versionId), given)
        return reply.code(201).send({ id: record.configurationId })
      },
    )
  }
}

/** The state endpoint of a configuration reports its mistakes as field errors, the one of a row by a code of its own. */
function stateFrom(given: string | undefined): string {
  const refuse = (reason: string) => new PlatformError('storage.components.validation', { field: 'state', reason })
  if (given === undefined) throw refuse('This field is missing.')
  try {
    return readObject(given, 'validation.invalidStateFormat').text
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'validation.invalidStateFormat')
      throw refuse(String(error.details.reason))
    throw error
  }
}
