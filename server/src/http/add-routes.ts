// Adds the routes of a module to the server.

import type { FastifyInstance, FastifyPluginAsync, FastifyPluginCallback } from 'fastify'

type Routes = FastifyPluginAsync | FastifyPluginCallback

/** Fastify's mark for a plugin that changes the server it is given. */
const SHARED = Symbol.for('skip-override')
const NAME = Symbol.for('fastify.display-name')

/**
 * Registered alone, each module would get a server of its own, with its own classes of requests and answers: a start and every request would
 * take a tenth longer. A module that adds hooks for its own routes only needs that, and uses `app.register`.
 */
export function addRoutes(app: FastifyInstance, routes: Routes): void {
  app.register(Object.assign(routes, { [SHARED]: true, [NAME]: 'routes' }))
}
