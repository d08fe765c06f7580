// What every route of this module has in common: it is for stack admins.

import type { FastifyRequest } from 'fastify'
import { PlatformError } from '../../kit/errors.ts'

export const config = (operation: string, summary: string) =>
  ({ operation: `operations.${operation}`, summary, needs: 'person', validationCode: 'validation.failed' }) as const

export async function needStackAdmin({ person }: FastifyRequest): Promise<void> {
  if (!person.isStackAdmin) throw new PlatformError('accessDenied')
}
