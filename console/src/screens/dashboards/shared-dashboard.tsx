// A dashboard behind a link: its results, without a session and without anything else of the console.

import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, type ErrorBody } from '../../../../client/src/client.ts'
import type { SharedDashboard } from '../../../../client/src/operations.ts'
import type { ResultRows } from '../../chart/chart-data.ts'
import { FilterFields, TileContent } from '../../chart/tile.tsx'
import { moment, zone } from '../../format.ts'
import { Lines, Loaded } from '../../load.tsx'
import { Logo } from '../../parts/icon.tsx'
import './dashboards.css'

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`/shared/dashboard${path}`, { headers: { 'X-Dashboard-Link': location.hash.slice(1) } })
  const answer: unknown = await response.json().catch(() => undefined)
  if (!response.ok) throw new ApiError(response.status, answer as ErrorBody)
  return answer as T // as the document promises
}

const queries = new QueryClient({ defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } } })
/** New loads are seen without a reload. */
const AGAIN_MS = 60_000

export default function SharedScreen() {
  return (
    <QueryClientProvider client={queries}>
      <main className="shared-page stack-4" id="main">
        <Content />
      </main>
    </QueryClientProvider>
  )
}

function Content() {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const query = useQuery({ queryKey: ['shared'], queryFn: () => ask<SharedDashboard>('') })
  return (
    <>
      <header className="flex-row">
        <Logo />
        <h1 className="heading">{query.data?.name ?? (query.error ? 'This link does not work.' : 'Dashboard')}</h1>
        {query.data ? (
          <span className="fine mute push">
            works until {moment(query.data.expires)}, {zone}
          </span>
        ) : null}
      </header>
      <Loaded query={query} skeleton={<Lines count={6} />}>
        {({ description, tiles, filters }) => (
          <>
            {description ? <p className="body-text">{description}</p> : null}
            <FilterFields filters={filters} values={values} onChange={setValues} />
            <div className="tiles">
              {tiles.map((tile) => (
                <Tile key={tile.id} tile={tile} values={values} />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

interface TileProps {
  readonly tile: SharedDashboard['tiles'][number]
  readonly values: Readonly<Record<string, string>>
}

function Tile({ tile, values }: TileProps) {
  const result = useQuery({
    queryKey: ['shared', tile.id, values],
    queryFn: () => ask<ResultRows>(`/tiles/${tile.id}/result?filters=${encodeURIComponent(JSON.stringify(values))}`),
    refetchInterval: AGAIN_MS,
  })
  return (
    <section className="card tile" data-width={tile.width} aria-label={tile.title || 'Tile'}>
      <header>
        <h2>{tile.title}</h2>
      </header>
      <TileContent tile={tile} query={result} />
    </section>
  )
}
