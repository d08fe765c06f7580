import type { ReactNode } from 'react'

/** A form that the page itself handles. */
export const Form = ({
  className = 'inset form',
  onSubmit,
  children,
}: {
  className?: string
  onSubmit: () => void
  children: ReactNode
}) => (
  <form
    className={className}
    onSubmit={(event) => {
      event.preventDefault()
      event.stopPropagation() // a dialog of a form is another form, and its submission is not the outer one's
      onSubmit()
    }}
  >
    {children}
  </form>
)
