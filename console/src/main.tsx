import './tokens.css'
import './console.css'
import './screens.css'
import './editor.css'
import './flows.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from '../../client/src/client.ts'
import { router } from './router.tsx'
import { SignIn } from './screens/sign-in.tsx'
import { useToken } from './session.ts'
import { applyTheme } from './theme.ts'

applyTheme()

/** Wrong requests stay wrong; a stack that restarts comes back. */
const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 8 && !(error instanceof ApiError && error.status < 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthRetrying, retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000), staleTime: 2000 },
  },
})

function App() {
  const token = useToken()
  return token === undefined ? <SignIn /> : <RouterProvider router={router} key={token} />
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
