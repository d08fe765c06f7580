// The kinds of search results, and their ranking.

import type { Scope } from '../../../model/scope.ts'

export const KINDS = ['table', 'column', 'configuration', 'row', 'content', 'file', 'job', 'schedule', 'person'] as const
export type Kind = (typeof KINDS)[number]

export interface Hit {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  readonly tableId?: string
  readonly componentId?: string
  readonly configurationId?: string
  readonly rowId?: string
  readonly email?: string
}

/** At most `limit` things that contain the text, whatever the case. */
export type Source = (scope: Scope, text: string, limit: number) => Promise<readonly Hit[]>

export interface Found {
  readonly items: readonly Hit[]
  /** Kinds of which there is more than was answered. */
  readonly more: readonly Kind[]
}

export const createFullTextSearch =
  (sources: Readonly<Record<Kind, Source>>) =>
  async (scope: Scope, text: string, kinds: readonly Kind[], limit: number): Promise<Found> => {
    const wanted = KINDS.filter((kind) => kinds.length === 0 || kinds.includes(kind))
    const found = await Promise.all(wanted.map((kind) => sources[kind](scope, text, limit + 1)))
    const lower = text.toLowerCase()
    const rank = ({ name }: Hit) => (name.toLowerCase() === lower ? 0 : name.toLowerCase().startsWith(lower) ? 1 : 2)
    return {
      items: found.flatMap((hits) => hits.slice(0, limit)).toSorted((a, b) => rank(a) - rank(b)), // the order of kinds otherwise
      more: wanted.filter((_, i) => found[i]!.length > limit),
    }
  }
