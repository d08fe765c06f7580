// The shape of a module: what `services/<name>/<name>.module.ts` returns.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyPluginAsync } from 'fastify'
import type { BackgroundPart } from '../kit/lifecycle.ts'
import type { JobHandler } from './storage-job.ts'

export const ROLES = ['api', 'worker', 'scheduler'] as const
export type Role = (typeof ROLES)[number]

/** Adds routes to the server that it is given. Hooks and error handlers in it would apply to all routes; see `encapsulated`. */
export type Routes = FastifyPluginAsync

/** The server that routes are added to; handlers have the types of their schemas. */
export type RoutesServer = Parameters<FastifyPluginAsyncTypebox>[0]

/** A loop of a module, or what it has to close. */
export interface ModuleBackground extends BackgroundPart {
  /** Runs on nodes with this role only; on all nodes when left out. */
  readonly role?: Role
  /** Acts on its own outside the stack, so it does not start in a restored copy, while the original may still run. */
  readonly isOffInCopies?: boolean
}

/** What a module adds to the platform. Everything else it returns is for other modules to call. */
export interface Module {
  readonly name: string
  /** Served by nodes with the role `api`. */
  readonly routes?: readonly Routes[]
  /** Served by all nodes. */
  readonly routesOfEveryNode?: readonly Routes[]
  /** Storage jobs by operation name. */
  readonly jobHandlers?: Readonly<Record<string, JobHandler>>
  /** The same for short work in the metadata database, which does not queue behind loads. */
  readonly lightJobHandlers?: Readonly<Record<string, JobHandler>>
  /** Started in this order, stopped in reverse. */
  readonly background?: readonly ModuleBackground[]
}

/** Routes with a server of their own: hooks and error handlers apply to them alone. */
export const encapsulated =
  (routes: Routes): Routes =>
  async (app) => {
    app.register(routes)
  }

/** Checks the shape of a module and keeps the type of what it adds for others. */
export const defineModule = <M extends Module>(module: M): M => module
