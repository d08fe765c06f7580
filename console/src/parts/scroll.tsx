import type { ReactNode } from 'react'
import './parts.css'

/** A wide table scrolls inside its own frame, which the keyboard reaches; the page never scrolls sideways. */
export const Scroll = ({ label, className = '', children }: { label: string; className?: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
  <section className={`scroll ${className}`} aria-label={label} tabIndex={0}>
    {children}
  </section>
)
