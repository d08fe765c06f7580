// What a real answer of the API suggests, with the reasons.

import { useMutation } from '@tanstack/react-query'
import { setAt } from '../../../document/json-text.ts'
import { Icon } from '../../../parts/icon.tsx'
import { Problem } from '../../../parts/problem.tsx'
import { extractorAction } from '../builder-live.tsx'
import type { StepProps } from './step.ts'

export interface Suggested {
  readonly dataField: Guess
  readonly pagination: Guess
  readonly primaryKey: Guess
  readonly incremental: Guess
  readonly mapping: Readonly<Record<string, unknown>> | null
}

interface Guess {
  readonly value: unknown
  readonly reason: string
}

export const useSuggestions = (effective: string, index: number) =>
  useMutation<Suggested, Error, void>({
    mutationFn: async () => (await extractorAction('suggest', setAt(effective, ['parameters', 'job'], index))) as Suggested,
  })

interface FromAnswerProps extends Pick<StepProps, 'effective' | 'index'> {
  readonly reasons: (found: Suggested) => readonly string[]
  /** What taking the suggestion does; undefined when there is nothing to take. */
  readonly use: (found: Suggested) => (() => void) | undefined
}

/** Sends one request to the API and shows what its answer suggests, with the reasons. */
export function FromAnswer({ effective, index, reasons, use }: FromAnswerProps) {
  const suggest = useSuggestions(effective, index)
  const found = suggest.data
  const apply = found && use(found)
  return (
    <>
      <button type="button" className="button small" disabled={suggest.isPending} onClick={() => suggest.mutate()}>
        <Icon name="wand" size="small" />
        <span>Suggest from a real answer</span>
      </button>
      {suggest.error ? <Problem error={suggest.error} /> : null}
      {found ? (
        <div className="note running">
          <Icon name="wand" />
          <div className="grow stack-2">
            {reasons(found).map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
          </div>
          {apply ? (
            <button type="button" className="button small" onClick={apply}>
              Use it
            </button>
          ) : null}
        </div>
      ) : null}
    </>
  )
}
