import type { ButtonHTMLAttributes } from 'react'
import type { OperationName } from '../../../client/src/client.ts'
import { useRefusal } from '../rights.ts'

interface ActButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The operation that it calls: disabled, with the reason, for people whose role does not allow it. */
  readonly needs: OperationName
}

/** A button that changes something. */
export function ActButton({ needs, disabled, title, type = 'button', ...rest }: ActButtonProps) {
  const refusal = useRefusal(needs)
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled || refusal !== undefined}
      title={refusal ?? title}
      aria-description={refusal}
    />
  )
}
