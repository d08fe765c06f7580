// HTTP for the migration of a configuration, at the address where the encryption service has it (spec platform 4.1).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { optionalFlag } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Migrate } from './migration.ts'

const given = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })
const Body = Type.Object({
  sourceStorageApiToken: given('Token of the project that has the configuration.'),
  destinationStack: given('Host of the stack it goes to; this stack.'),
  destinationStorageApiToken: given('Token of the project it goes to.'),
  componentId: given('Component of the configuration.'),
  configId: given('Id of the configuration.'),
  branchId: given('Branch that it is in.'),
})
const Answer = Type.Object({
  message: Type.String(),
  data: Type.Object({
    destinationStack: Type.String(),
    componentId: Type.String(),
    configId: Type.String(),
    branchId: Type.String(),
  }),
  warnings: Type.Array(Type.String()),
})

export function migrationRoutes(migrate: Migrate): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/encryption/migrate-configuration',
      {
        config: {
          operation: 'encryption.migrateConfiguration',
          summary: 'Copy a configuration with its secrets into another project of the stack',
          needs: 'nothing', // both tokens are in the body
        },
        schema: {
          querystring: Type.Object({ 'dry-run': optionalFlag('True: dry run; changes nothing.') }),
          body: Body,
          response: { 200: Answer },
        },
      },
      async (req) => {
        const { destinationStack, componentId, configId, branchId } = req.body
        if (hostOf(destinationStack) !== hostOf(req.baseUrl)) {
          throw new PlatformError('encryption.otherStack', { stack: destinationStack, here: hostOf(req.baseUrl) })
        }
        const dryRun = req.query['dry-run'] ?? false
        const order = {
          sourceToken: req.body.sourceStorageApiToken,
          destinationToken: req.body.destinationStorageApiToken,
          componentId,
          configurationId: configId,
          branch: branchId,
          dryRun,
        }
        await migrate(order, req.origin)
        const done = dryRun ? 'can be migrated to' : 'was migrated to'
        return {
          message: `Configuration with ID "${configId}" ${done} the stack "${destinationStack}".`,
          data: { destinationStack, componentId, configId, branchId },
          warnings: [],
        }
      },
    )
  }
}

/** A stack is named by its host, with or without the protocol. */
function hostOf(stack: string): string {
  const url = /^https?:\/\//.test(stack) ? stack : `http://${stack}`
  return URL.canParse(url) ? new URL(url).host : ''
}
