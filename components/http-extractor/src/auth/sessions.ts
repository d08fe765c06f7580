// Which login a request is signed with: the current one, until it expires or the API refuses it. Requests that come while a login is
// on its way wait for it.

export interface Session<Credentials> {
  readonly credentials: Credentials
  /** How many requests were signed with it. */
  uses: number
}

export interface Sessions<Credentials> {
  next(): Promise<Session<Credentials>>
  /** The API refused a request. True when there is reason to try again: the credentials worked before, or were replaced since. */
  end(session: Session<Credentials>): boolean
}

interface SessionsDeps<Credentials> {
  readonly login: () => Promise<Credentials>
  readonly isExpired: (credentials: Credentials) => boolean
  /** Every request has a login of its own. */
  readonly isEachTime: boolean
}

export function createSessions<Credentials>(deps: SessionsDeps<Credentials>): Sessions<Credentials> {
  let opening: Promise<Session<Credentials>> | undefined
  let latest: Session<Credentials> | undefined

  async function open(): Promise<Session<Credentials>> {
    latest = { credentials: await deps.login(), uses: 0 }
    return latest
  }

  return {
    async next() {
      if (deps.isEachTime) return open()
      for (;;) {
        opening ??= open()
        const waited = opening
        const session = await waited
        // One that expires at once is good for one request.
        if (session.uses++ === 0 || !deps.isExpired(session.credentials)) return session
        if (opening === waited) opening = undefined
      }
    },
    end(session) {
      if (deps.isEachTime) return false
      if (session !== latest) return true
      if (session.uses < 2) return false
      opening = undefined
      latest = undefined
      return true
    },
  }
}
