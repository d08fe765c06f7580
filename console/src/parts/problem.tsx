// An error in its own frame: the server's sentence unchanged, then its code and exception id in small type.

import { ApiError } from '../../../client/src/client.ts'
import { CodeHelp } from './guide.tsx'
import { Icon } from './icon.tsx'

export function Problem({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const isOffline = error instanceof TypeError
  return (
    <div className="inset" role="alert">
      <div className="note failed">
        <Icon name="st-err" />
        <div className="grow stack-2">
          <p className="body-text">{isOffline ? 'The stack does not answer. It may be restarting.' : error.message}</p>
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
