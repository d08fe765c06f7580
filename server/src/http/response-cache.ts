// Answers that depend on nothing but the database, the address and the token are kept while the database stays as it is: clients poll far
// more often than anything changes. Exact, not "fresh enough": the version is read before the response is computed, so an answer that a commit
// overtook is never found again.

import type { FastifyRequest } from 'fastify'

const MAX_BYTES = 32 << 20
const MAX_ANSWER_BYTES = 1 << 20

/** Where the answer to a request will be kept, if it turns out to be worth it. */
export interface Place {
  readonly key: string
  readonly version: number
}

export type ResponseCache = ReturnType<typeof createResponseCache>

/** `databaseVersion` is another number after every commit of any process; undefined where the database does not support it, and nothing is cached. */
export function createResponseCache(databaseVersion: () => number | undefined) {
  const answers = new Map<string, string>()
  let version: number | undefined
  let size = 0

  function start(current: number | undefined): void {
    answers.clear()
    size = 0
    version = current
  }

  return {
    /** The answer, or the place for it. */
    find(request: FastifyRequest): string | Place | undefined {
      const current = databaseVersion()
      if (current !== version) start(current)
      if (current === undefined) return undefined
      const key = keyOf(request)
      return answers.get(key) ?? { key, version: current }
    },

    keep({ key, version: asked }: Place, answer: string): void {
      if (asked !== version || answer.length > MAX_ANSWER_BYTES) return
      if (size + answer.length > MAX_BYTES) start(version)
      if (!answers.has(key)) size += answer.length
      answers.set(key, answer)
    },
  }
}

/** Everything a response depends on: the caller, the branch, the request, and the headers that links are built from. */
const keyOf = ({ actor, branch, url, headers }: FastifyRequest): string =>
  `${actor.tokenId} ${branch.id} ${url} ${headers.host} ${headers['x-forwarded-proto'] ?? ''}`
