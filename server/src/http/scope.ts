// The scope of a request: who asks, and which branch the address names.

import type { FastifyRequest } from 'fastify'
import type { Scope } from '../model/scope.ts'

export const scopeOf = (req: FastifyRequest): Scope => ({ actor: req.actor, branch: req.branch })
