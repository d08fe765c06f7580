// HTTP for configurations of a development branch against those of the default branch (spec storage 2.8.3, 2.8.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { exactMembers } from '../../../http/exact-members.ts'
import { sendJson } from '../../../http/send-json.ts'
import type { BranchCopies } from './branch-copies.ts'
import { readRebaseInput } from './input.ts'
import type { Reader } from './reader.ts'
import {
  BODY_LIMIT,
  CONFIG,
  ConfigurationBody,
  ConfigurationView,
  callerOf,
  expectedVersionOf,
  IF_MATCH,
  InConfiguration,
  InRow,
  ROW,
  VersionView,
} from './route-shapes.ts'
import { threeSidesText } from './views.ts'

const Side = Type.Union([VersionView, Type.Null()])
const ThreeSidesView = Type.Object({ base: Side, ours: VersionView, theirs: Side })
const RebaseBody = Type.Object({
  ...ConfigurationBody.properties,
  version: Type.Integer({ minimum: 1, description: 'The version of the default branch that the configuration is based on.' }),
  rows: Type.Optional(Type.Unknown({ description: 'Rows after the rebase; those of the branch if omitted.' })),
})

const config = (operation: string, summary: string) =>
  ({
    operation: `branchConfigurations.${operation}`,
    summary,
    needs: 'component',
    branch: 'required',
    validationCode: 'storage.components.validation',
  }) as const

export function branchCopiesRoutes(copies: BranchCopies, reader: Reader): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      `${CONFIG}/reset-to-default`,
      {
        config: { ...config('reset', 'Reset a configuration of a branch to that of the default branch'), headers: IF_MATCH },
        schema: { params: InConfiguration, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        await copies.resetToDefault(callerOf(req), componentId, configurationId, expectedVersionOf(req))
        return reply.code(204).send(null)
      },
    )

    app.get(
      `${CONFIG}/diff`,
      {
        config: config('diff', 'Compare a configuration: at the start of the branch, in the branch, and in the default branch'),
        schema: { params: InConfiguration, response: { 200: ThreeSidesView } },
      },
      async (req, reply) => {
        const sides = await copies.diff(callerOf(req), req.params.componentId, req.params.configurationId)
        return sendJson(reply, threeSidesText(sides))
      },
    )

    app.get(
      `${ROW}/diff`,
      {
        config: config('diffRow', 'Rebase one row'),
        schema: { params: InRow, response: { 200: ThreeSidesView } },
      },
      async (req, reply) => {
        const { componentId, configurationId, rowId } = req.params
        return sendJson(reply, threeSidesText(await copies.diffRow(callerOf(req), componentId, configurationId, rowId)))
      },
    )

    app.post(
      `${CONFIG}/rebase`,
      {
        config: {
          ...config('rebase', 'Rebase: adopt a newer version of the default branch, with the given contents'),
          headers: IF_MATCH,
        },
        bodyLimit: BODY_LIMIT,
        schema: { params: InConfiguration, body: RebaseBody, response: { 200: ConfigurationView } },
      },
      async (req, reply) => {
        const input = readRebaseInput(req.body, exactMembers(req))
        const { componentId, configurationId } = req.params
        const record = await copies.rebase(callerOf(req), componentId, configurationId, input, expectedVersionOf(req))
        return sendJson(reply, await reader.render(record))
      },
    )
  }
}
