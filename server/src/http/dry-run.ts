// `dryRun=1` on routes that write: what would happen, without it happening.

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../kit/errors.ts'
import type { DryRunAnswer } from '../model/dry-run.ts'
import { Nullable, optionalFlag } from './parameters.ts'

export const DryRun = optionalFlag('True: dry run; reports what would happen and changes nothing.')

export const DryRunView = Type.Unsafe<DryRunAnswer>(
  Type.Object(
    {
      isDryRun: Type.Boolean(),
      operationName: Type.String(),
      tableId: Nullable(Type.String()),
      results: Type.Unknown({ description: 'Expected response of the change, or result of its job.' }),
      rows: Nullable(
        Type.Object({ before: Type.Integer(), after: Type.Integer() }, { description: 'Of the tables it works on.' }),
      ),
      tables: Type.Array(Type.String(), { description: 'Tables it works on, and aliases that show them.' }),
      configurations: Type.Array(
        Type.Object({
          componentId: Type.String(),
          configurationId: Type.String(),
          rowId: Nullable(Type.String()),
          name: Type.String(),
        }),
        { description: 'Configurations that refer to the changed objects, at most 100.' },
      ),
      nextRuns: Type.Array(Type.Object({ configurationId: Type.String(), executionTime: Type.String() }), {
        description: 'Runs that would follow or be affected.',
      }),
    },
    { title: 'DryRun' },
  ),
)

export const isDryRun = (request: FastifyRequest): boolean => wantsDryRun(request.query)

/** A route that does not support dry runs would make the change that was meant to be tested. */
export function refuseUnknownDryRun(request: FastifyRequest): void {
  if (request.method === 'GET' || request.method === 'HEAD' || !wantsDryRun(request.query)) return
  const known = (request.routeOptions.schema?.querystring as { properties?: object } | undefined)?.properties // a TypeBox object
  if (!known || !('dryRun' in known)) throw new PlatformError('dryRunNotPossible')
}

function wantsDryRun(query: unknown): boolean {
  const given = typeof query === 'object' && query !== null && 'dryRun' in query ? query.dryRun : undefined
  return given !== undefined && given !== false && !['0', 'false', ''].includes(String(given))
}
