// What was loaded, as long as it is of use. Each branch has queries of its own, so nothing of another one is shown.

import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ApiError, InputError } from '../../../client/src/client.ts'

/** Wrong requests stay wrong, and an offline browser fails at once; a stack that restarts comes back. */
const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 8 && navigator.onLine && !(error instanceof InputError) && !(error instanceof ApiError && error.status < 500)

const newQueries = () =>
  new QueryClient({
    defaultOptions: {
      // Offline, a request fails at once: nothing is held back and sent later, when the person has gone on.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        retry: isWorthRetrying,
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000),
        staleTime: 2000,
      },
    },
  })

export function Queries({ children }: { children: ReactNode }) {
  const { branch } = useSearch({ strict: false })
  return <QueriesOfBranch key={branch ?? 'default'}>{children}</QueriesOfBranch>
}

function QueriesOfBranch({ children }: { children: ReactNode }) {
  const [queries] = useState(newQueries)
  return <QueryClientProvider client={queries}>{children}</QueryClientProvider>
}
