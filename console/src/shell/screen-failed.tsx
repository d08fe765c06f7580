import type { ErrorComponentProps } from '@tanstack/react-router'
import { Problem } from '../parts/problem.tsx'

/** A screen that broke; the rest of the console lives on. */
export const ScreenFailed = ({ error, reset }: ErrorComponentProps) => (
  <section className="card" aria-label="This screen failed">
    <Problem error={error as Error} onRetry={reset} />
  </section>
)
