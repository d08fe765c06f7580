import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { OperationName } from '../../../client/src/client.ts'
import { useRefusal } from '../rights.ts'

interface ActLinkProps extends LinkProps {
  /** The operation that the screen behind it is for. */
  readonly needs: OperationName
  readonly className: string
  readonly children: ReactNode
}

/** A link that looks like a button: disabled, with the reason, for callers who could do nothing on the screen behind it. */
export function ActLink({ needs, className, children, ...link }: ActLinkProps) {
  const refusal = useRefusal(needs)
  if (refusal === undefined)
    return (
      <Link {...link} className={className}>
        {children}
      </Link>
    )
  return (
    <button type="button" className={className} disabled title={refusal} aria-description={refusal}>
      {children}
    </button>
  )
}
