// What most screens are: a card that loads a list, shows its error in its own frame, and teaches while there is nothing to list.

import type { ReactNode } from 'react'
import { Lines, Loaded, type Loading } from './load.tsx'

interface ListingProps {
  readonly label: string
  /** The label as a heading, where a screen has several lists. What belongs there is then described in a line. */
  readonly title?: boolean
  readonly query: Loading<unknown>
  /** How many there are. */
  readonly count: number
  /** What belongs here, in a sentence or two. */
  readonly teach: ReactNode
  readonly children: ReactNode
}

export const Listing = ({ label, title = false, query, count, teach, children }: ListingProps) => (
  <section className="card" aria-label={label}>
    {title ? (
      <header>
        <h2>{label}</h2>
      </header>
    ) : null}
    <Loaded query={query} skeleton={<Lines count={title ? 1 : 4} />}>
      {() => (count > 0 ? children : title ? <p className="inset body-text soft">{teach}</p> : <Teach>{teach}</Teach>)}
    </Loaded>
  </section>
)

/** The same for things that each have a card of their own. */
export const Cards = ({ label, query, count, teach, children }: ListingProps) =>
  count === 0 ? (
    <Listing label={label} query={query} count={0} teach={teach}>
      {null}
    </Listing>
  ) : (
    <div className="stack-4">{children}</div>
  )

export const Teach = ({ children }: { children: ReactNode }) => (
  <div className="empty">
    <p className="body-text soft">{children}</p>
  </div>
)

interface Pages {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  fetchNextPage(): Promise<unknown>
}

/** The next page of a list, below the pages that are shown. */
export const ShowMore = ({ query, size }: { query: Pages; size: number }) =>
  query.hasNextPage ? (
    <div className="inset">
      <button type="button" className="button" disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
        Show {size} more
      </button>
    </div>
  ) : null
