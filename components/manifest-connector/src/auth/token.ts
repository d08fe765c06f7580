// What an authenticator is, and the common case: a token in one place of the request.

import type { Deps } from '../component.ts'
import type { Place } from '../http/options.ts'
import type { RequestOption } from '../http/request-option.ts'
import type { RequesterFactory } from '../http/requester.types.ts'
import type { Dict } from '../python/values.ts'

export interface Authenticator {
  /** What goes into one place of the request. */
  options(place: Place): Promise<Dict>
  /** The API refused the token: the next use gets a new one. */
  readonly forget?: () => void
}

/** A token, and where it goes. */
export function tokenAuthenticator(option: RequestOption, token: () => Promise<unknown>): Authenticator {
  return {
    async options(place) {
      const out: Dict = {}
      if (option.place === place) option.inject(out, await token())
      return out
    },
  }
}

export const headerOption = (name: string): RequestOption => ({
  place: 'header',
  inject: (target, value) => {
    target[name] = value
  },
})

export interface AuthDeps extends Deps {
  readonly createRequester: RequesterFactory
  /** Of the requester that uses the authenticator. */
  readonly baseUrl: () => string
}
