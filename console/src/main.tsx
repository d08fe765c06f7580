import './styles/tokens.css'
import './styles/base.css'
import './styles/shared.css'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
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

function App() {
  const session = useSession()
  if (session.kind === 'unknown') return null
  if (session.kind === 'signed-out') return <SignIn />
  if (session.kind === 'person' && session.projectId === undefined) return <NoProject />
  return <RouterProvider key={keyOf(session)} router={router} />
}

void loadSession()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
