import './tokens.css'
import './console.css'
import './screens.css'
import './editor.css'
import './flows.css'
import './assets.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from '../../client/src/client.ts'
import { router } from './router.tsx'
import { NoProject } from './screens/no-project.tsx'
import { SignIn } from './screens/sign-in.tsx'
import { loadSession, type Session, useSession } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()

/** Wrong requests stay wrong; a stack that restarts comes back. */
const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 8 && !(error instanceof ApiError && error.status < 500)

const newQueries = () =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: isWorthRetrying, retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000), staleTime: 2000 },
    },
  })

/** What was loaded for somebody else, or in another project, is not shown: each has queries of their own. */
function Console() {
  const [queries] = useState(newQueries)
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  )
}

const keyOf = (session: Session): string =>
  session.kind === 'token'
    ? session.token
    : session.kind === 'person'
      ? `${session.account.id} ${session.projectId}`
      : session.kind

function App() {
  const session = useSession()
  if (session.kind === 'unknown') return null
  if (session.kind === 'nobody') return <SignIn />
  if (session.kind === 'person' && session.projectId === undefined) return <NoProject />
  return <Console key={keyOf(session)} />
}

void loadSession()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
