// What the next run of the database extractor would change in the columns of its table, and what the last runs have changed.

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { effectiveConfiguration } from '../../../contract/effective-configuration.ts'
import { parsed } from '../document/json-text.ts'
import {
  type ChangeEvent,
  COLUMN_CHANGES_QUERY,
  type ColumnChanges,
  changesOfEvents,
  DATABASE_EXTRACTOR,
  withTable,
} from '../facts/column-changes.ts'
import { runAction } from '../facts/run-action.ts'
import { moment, plural } from '../format.ts'
import { useLoad } from '../load.tsx'
import { ActButton } from '../parts/act-button.tsx'
import { Problem } from '../parts/problem.tsx'
import { ColumnChangesTable } from './column-changes.tsx'

interface Props {
  readonly componentId: string
  readonly configurationId: string
  readonly root: string
  readonly row: string | undefined
}

interface Preview extends ColumnChanges {
  readonly exists: boolean
}

export const SourceChanges = (props: Props) => (props.componentId === DATABASE_EXTRACTOR ? <Changes {...props} /> : null)

function Changes({ componentId, configurationId, root, row }: Props) {
  const preview = useMutation({
    mutationFn: () =>
      runAction<Preview>(componentId, 'previewChanges', withTable(effectiveConfiguration(root, row).text, configurationId)),
  })
  const isReadable = parsed(root) !== undefined && (row === undefined || parsed(row) !== undefined)
  return (
    <div className="stack-2 inset">
      <div className="flex-row wrap">
        <ActButton
          needs="syncActions.run"
          className="button small"
          disabled={preview.isPending || !isReadable}
          onClick={() => preview.mutate()}
        >
          {preview.isPending ? 'Comparing the columns ...' : 'Compare the columns with the source'}
        </ActButton>
        <LastChange componentId={componentId} configurationId={configurationId} />
      </div>
      {preview.error ? <Problem error={preview.error} /> : null}
      {preview.data ? <Shown answer={preview.data} /> : null}
    </div>
  )
}

function Shown({ answer }: { answer: Preview }) {
  const { exists, stops, changes, table } = answer
  if (!exists) return <p role="status">{table} does not exist yet: the next run creates it with the columns of the source.</p>
  if (changes.length === 0) return <p role="status">{table} has the columns of the source.</p>
  return (
    <section className="stack-2" aria-label="What the next run would change">
      <p role="status">
        {stops
          ? `The next run would stop, because of ${plural(changes.length, 'column')}.`
          : `The next run finds ${plural(changes.length, 'changed column')}.`}
      </p>
      <ColumnChangesTable changes={answer} />
    </section>
  )
}

/** The newest run that met a change. */
function LastChange({ componentId, configurationId }: Pick<Props, 'componentId' | 'configurationId'>) {
  const { data = [] } = useLoad('events.list', {
    query: { component: componentId, configurationId, q: COLUMN_CHANGES_QUERY, limit: 1 },
  })
  const [event] = data as readonly unknown[] as readonly ChangeEvent[] // found by the message of such events
  if (!event || changesOfEvents(data).length === 0) return null
  return (
    <span className="fine mute">
      Columns of the source changed last in{' '}
      <Link to="/jobs/$jobId" params={{ jobId: event.runId.split('.').at(-1) ?? '' }}>
        the run of {moment(event.created)}
      </Link>
      .
    </span>
  )
}
