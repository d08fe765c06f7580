// The addresses of the index: each describes its service. Below those that clients only look up, everything is 404 (spec platform 6.1).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ServiceId } from '../../../http/addresses.ts'
import { PlatformError } from '../../../kit/errors.ts'

const PURPOSE: Readonly<Record<ServiceId, string>> = {
  'docker-runner': 'The older address of sync actions.',
  import: 'Uploads of files in one request.',
  syrup: 'The older address of the job queue.',
  oauth: 'Authorisations of third-party accounts for components.',
  queue: 'Runs components and keeps their jobs.',
  billing: 'Usage of the project.',
  encryption: 'Turns secrets into ciphers that only this stack can open.',
  sandboxes: 'Workspaces and data apps.',
  mlflow: 'Tracking of models by an MLflow server.',
  spark: 'The Spark cluster that the operator registered.',
  scheduler: 'Runs configurations on a cron expression.',
  'sync-actions': 'Short actions of components that answer at once.',
  notification: 'Messages about jobs to people and programs.',
  templates: 'Ready-made configurations.',
  vault: 'Variables and secrets that configurations of a project share.',
  stream: 'Takes records over HTTP and loads them into tables.',
  'data-science': 'Workspaces and data apps.',
  editor: 'Sessions of an SQL editor.',
  query: 'Runs SQL in a workspace.',
  iceberg: 'A catalogue of Apache Iceberg: other engines read the tables.',
  ai: 'Answers questions from the documentation and suggests components, without a model.',
}

/** Some addresses have a module of their own; the others are 404. */
const PARTLY_BUILT: ReadonlySet<ServiceId> = new Set<ServiceId>(['ai'])

const AnyPath = Type.Object({ '*': Type.String({ description: 'Any address of the service.' }) })
const Description = Type.Object({
  api: Type.String(),
  documentation: Type.String(),
  description: Type.String(),
  isBuilt: Type.Boolean(),
})

/**
 * `built` are the services that have a module of their own: they get the description only. The others are published only because clients
 * stop when the index lacks them; there is nothing below them to be built.
 */
export function unavailableServicesRoutes(ids: readonly ServiceId[], built: ReadonlySet<ServiceId>): FastifyPluginAsyncTypebox {
  return async (app) => {
    for (const id of ids) {
      app.get(
        `/${id}`,
        {
          config: { operation: `${roomOf(id)}.describe`, summary: `Description of the ${id} service`, needs: 'nothing' },
          schema: { response: { 200: Description } },
        },
        async (req) => ({
          api: id,
          documentation: `${req.baseUrl}/docs`,
          description: PURPOSE[id],
          isBuilt: built.has(id) || PARTLY_BUILT.has(id),
        }),
      )
      if (built.has(id)) continue
      app.all(
        `/${id}/*`,
        {
          config: { operation: `${roomOf(id)}.notBuilt`, summary: `Not built: ${PURPOSE[id]}`, needs: 'nothing' },
          schema: { params: AnyPath, response: { 501: Type.Unknown() } },
        },
        async () => {
          throw new PlatformError('serviceNotFound', { service: id, purpose: PURPOSE[id] })
        },
      )
    }
  }
}

/** `sync-actions` is `syncActions` in the names of operations. */
const roomOf = (id: ServiceId): string => id.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
