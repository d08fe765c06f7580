// Members of a body as JSON text, exactly as they were sent, whichever of the three encodings carried them.

import type { FastifyRequest } from 'fastify'
import { kindOf, membersOf } from '../kit/text/json-text.ts'

/** The text of one member; undefined when it is absent or null. */
export type ExactMember = (name: string) => string | undefined

/**
 * In a JSON body a member is its own slice of the text; a string is taken as the text it holds, because clients also send
 * `"configuration": "{…}"`. In a form the field is the text; bracket syntax (`state[a]=1`) is written as JSON.
 */
export function exactMembers(request: FastifyRequest): ExactMember {
  if (isJson(request)) {
    const members = membersOf(request.rawBody.charCodeAt(0) === 0xfeff ? request.rawBody.slice(1) : request.rawBody)
    return (name) => {
      const slice = members.get(name)
      if (slice === undefined || slice === 'null') return undefined
      return kindOf(slice) === 'string' ? (JSON.parse(slice) as string) : slice // a string literal parses to a string
    }
  }
  const { body } = request
  return (name) => {
    const value: unknown =
      typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
    return value === undefined || value === null || typeof value === 'string' ? (value ?? undefined) : JSON.stringify(value)
  }
}

const isJson = (request: FastifyRequest): boolean => /^[^;]*\bjson\b/i.test(request.headers['content-type'] ?? '')
