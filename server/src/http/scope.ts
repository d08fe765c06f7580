// The scope of a request: the caller, and the branch of the URL.

import type { FastifyRequest } from 'fastify'
import type { Scope } from '../model/scope.ts'

export const scopeOf = (req: FastifyRequest): Scope => ({ actor: req.actor, branch: req.branch })
