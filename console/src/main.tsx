import './styles/tokens.css'
import './styles/base.css'
import './styles/buttons.css'
import './styles/forms.css'
import './styles/status.css'
import './styles/cards.css'
import './styles/tables.css'
import './styles/code.css'
import './styles/layout.css'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'
import { NoProject } from './screens/access/no-project.tsx'
import { SignIn } from './screens/access/sign-in.tsx'
import { loadSession, type Session, useSession } from './session.ts'
import { followTheme } from './theme.ts'

followTheme()

/** What was loaded for another person, or in another project, is not shown. */
const keyOf = (session: Session): string =>
  session.kind === 'token'
    ? session.token
    : session.kind === 'person'
      ? `${session.account.id} ${session.projectId}`
      : session.kind

/** Needs no session, and is independent of the rest. */
const Shared = lazy(() => import('./screens/dashboards/shared-dashboard.tsx'))
const isShared = location.pathname === '/console/shared'

function App() {
  const session = useSession()
  if (isShared)
    return (
      <Suspense>
        <Shared />
      </Suspense>
    )
  if (session.kind === 'unknown') return null
  if (session.kind === 'signed-out') return <SignIn />
  if (session.kind === 'person' && session.projectId === undefined) return <NoProject />
  return <RouterProvider key={keyOf(session)} router={router} />
}

if (!isShared) void loadSession()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
