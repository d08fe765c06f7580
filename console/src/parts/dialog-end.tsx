import { Problem } from './problem.tsx'

interface DialogEndProps {
  readonly error: Error | null
  readonly isPending: boolean
  readonly onClose: () => void
  /** What the button does. */
  readonly children: string
}

/** The end of a form in a dialog: what went wrong, and its two buttons. */
export const DialogEnd = ({ error, isPending, onClose, children }: DialogEndProps) => (
  <>
    {error ? <Problem error={error} /> : null}
    <div className="flex-row">
      <button type="button" className="button push" onClick={onClose}>
        Close
      </button>
      <button type="submit" className="button primary" disabled={isPending}>
        {children}
      </button>
    </div>
  </>
)
