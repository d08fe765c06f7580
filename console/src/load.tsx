// One way to load data: an operation of the client, kept by its name and parameters.

import { type UseQueryResult, useIsFetching, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { Answer, AnyInput, Input, OperationName, PlainOperation } from '../../client/src/client.ts'
import { Problem } from './parts/problem.tsx'
import { api } from './session.ts'

export interface LoadOptions<T = unknown> {
  readonly enabled?: boolean
  /** After how many milliseconds to poll, for what has no live change. */
  readonly again?: (data: T) => number | false
  /** Shows what there is of the same object until another page or order of it has come. */
  readonly isKept?: boolean
}

/** Nothing is requested while the input is undefined, for example because an id is not known yet. */
export function useLoad<O extends PlainOperation>(operation: O): UseQueryResult<Answer<O>, Error>
export function useLoad<O extends OperationName>(
  operation: O,
  input: Input<O> | undefined,
  options?: LoadOptions<Answer<O>>,
): UseQueryResult<Answer<O>, Error>
export function useLoad<O extends OperationName>(operation: O, ...rest: readonly [AnyInput?, LoadOptions<Answer<O>>?]) {
  const [input, { enabled = true, again, isKept = false } = {}] = rest.length === 0 ? [{}] : rest
  return useQuery<Answer<O>, Error>({
    queryKey: [operation, input],
    queryFn: ({ signal }) => api.call(operation, { ...(input as Input<O>), signal }), // as the signatures above promise
    enabled: enabled && input !== undefined,
    ...(isKept ? { placeholderData: (before, query) => (isOfSame(query?.queryKey[1], input) ? before : undefined) } : {}),
    refetchInterval: ({ state }) => (again && state.data !== undefined ? again(state.data) : false),
  })
}

/** A screen that is made of many answers waits for the first of each, not for one that is slow or fails. */
const LONGEST_WAIT_MS = 1000
/** An answer may lead to the next question: the tiles of a dashboard. */
const NEXT_MS = 30

/** Whether answers are still missing for the first time. */
export function useFirstLoads(): boolean {
  const missing = useIsFetching({ predicate: ({ state }) => state.data === undefined })
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), missing === 0 ? NEXT_MS : LONGEST_WAIT_MS)
    return () => clearTimeout(timer)
  }, [missing])
  return !isOver
}

/** Parts with answers of their own, shown when the first of all are there: none moves those below it. */
export function Together({ children }: { children: ReactNode }) {
  const isLoading = useFirstLoads()
  return (
    <>
      {isLoading ? <Lines count={8} /> : null}
      <div className={isLoading ? undefined : 'contents'} hidden={isLoading}>
        {children}
      </div>
    </>
  )
}

const isOfSame = (before: unknown, now: AnyInput | undefined): boolean =>
  JSON.stringify((before as AnyInput | undefined)?.path) === JSON.stringify(now?.path)

/** The same for `useQueries`. */
export const loadOptions = <O extends OperationName>(operation: O, input: Input<O>, enabled: boolean) => ({
  queryKey: [operation, input],
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<Answer<O>> => api.call(operation, { ...input, signal }),
  enabled,
})

/** A query, or what was made from one. */
export interface Loading<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** What was loaded, its error in its own frame, or a skeleton in the shape of what comes. */
export function Loaded<T>({
  query,
  skeleton = <Lines />,
  children,
}: {
  query: Loading<T>
  skeleton?: ReactNode
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return skeleton
}

const WIDTHS = ['72%', '58%', '80%', '44%', '66%', '52%', '76%', '60%']

export const Lines = ({ count = 4 }: { count?: number }) => (
  <div className="inset stack-3" role="status" aria-label="Loading">
    {WIDTHS.slice(0, count).map((width) => (
      <span key={width} className="skeleton" style={{ width }} />
    ))}
  </div>
)
