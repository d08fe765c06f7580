// An error in its own frame: the server's sentence unchanged, then its code and exception id in small type.

import { useContext } from 'react'
import { createPortal } from 'react-dom'
import { ApiError } from '../../../client/src/client.ts'
import { CodeHelp } from './guide.tsx'
import { Icon } from './icon.tsx'
import { ProblemPlace } from './problem-place.ts'

/** Why no answer came, as far as the browser reports it. */
const unreachable = (): string =>
  navigator.onLine
    ? 'The stack does not answer. It may be restarting.'
    : 'This browser is offline. Nothing was sent: try again when the connection is back.'

export function Problem(props: ProblemProps) {
  const place = useContext(ProblemPlace)
  if (place === undefined) return <Frame {...props} />
  return place ? createPortal(<Frame {...props} />, place) : null
}

interface ProblemProps {
  readonly error: Error
  readonly onRetry?: () => void
}

function Frame({ error, onRetry }: ProblemProps) {
  const isUnreachable = error instanceof TypeError
  return (
    <div className="inset" role="alert">
      <div className="note failed">
        <Icon name="st-err" />
        <div className="grow stack-2">
          <p className="body-text">{isUnreachable ? unreachable() : error.message}</p>
          {error instanceof ApiError ? (
            <p className="fine">
              <CodeHelp code={error.code} />
              {error.exceptionId ? (
                <>
                  , exception <span className="identifier">{error.exceptionId}</span>
                </>
              ) : null}
            </p>
          ) : null}
        </div>
        {onRetry ? (
          <button type="button" className="button small" onClick={onRetry}>
            <Icon name="refresh" size="small" />
            <span>Load again</span>
          </button>
        ) : null}
      </div>
    </div>
  )
}
