import type { ReactNode, Ref } from 'react'
import './parts.css'

interface ScrollProps {
  readonly label: string
  readonly className?: string
  readonly frame?: Ref<HTMLElement>
  /** Something inside takes the focus, and scrolls with it. */
  readonly hasFocus?: boolean
  readonly children: ReactNode
}

/** A wide table scrolls inside its own frame, which the keyboard reaches; the page never scrolls sideways. */
export const Scroll = ({ label, className = '', frame, hasFocus = false, children }: ScrollProps) => (
  <section className={`scroll ${className}`} aria-label={label} ref={frame} tabIndex={hasFocus ? -1 : 0}>
    {children}
  </section>
)
