// Actions of the component over the configuration on the screen: test the connection, and for connectors choose their streams.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Draft } from '../../document/draft.ts'
import { parsed, valueIn } from '../../document/json-text.ts'
import { DATABASE_EXTRACTOR } from '../../facts/column-changes.ts'
import { type ConnectorStream, MANIFEST_COMPONENT } from '../../facts/connectors.ts'
import { EXTRACTOR } from '../../facts/names.ts'
import { runAction } from '../../facts/run-action.ts'
import type { ConfigurationPlace, LoadedConfiguration } from '../../facts/use-configuration.ts'
import { plural } from '../../format.ts'
import { Lines, Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { CHANGE_CAPTURE, ChooseTables } from './choose-tables.tsx'
import './configuration.css'

interface Place {
  readonly place: ConfigurationPlace
  readonly loaded: LoadedConfiguration
  /** The root, with changes that are not saved yet. */
  readonly text: string
}

interface Props extends Omit<Place, 'text'> {
  readonly draft: Draft
}

export function ComponentActions({ place, loaded, draft }: Props) {
  const { text } = draft
  const { data } = useLoad('syncActions.list', { query: { componentId: place.componentId } })
  const [isChoosing, setChoosing] = useState(false)
  const test = useMutation({ mutationFn: () => runAction(place.componentId, 'testConnection', text) })
  const isReadable = parsed(text) !== undefined
  const hasTables = [DATABASE_EXTRACTOR, CHANGE_CAPTURE].includes(place.componentId)
  const onClose = () => setChoosing(false)
  if (!data?.actions.includes('testConnection') || place.componentId === EXTRACTOR) return null
  return (
    <div className="stack-2 component-actions">
      <div className="flex-row wrap">
        <ActButton
          needs="syncActions.run"
          className="button small"
          disabled={test.isPending || !isReadable}
          onClick={() => test.mutate()}
        >
          {test.isPending ? 'Testing the connection ...' : 'Test the connection'}
        </ActButton>
        {place.componentId === MANIFEST_COMPONENT ? (
          <ActButton needs="syncActions.run" className="button small" disabled={!isReadable} onClick={() => setChoosing(true)}>
            Choose streams
          </ActButton>
        ) : null}
        {hasTables ? (
          <ActButton needs="syncActions.run" className="button small" disabled={!isReadable} onClick={() => setChoosing(true)}>
            Choose tables
          </ActButton>
        ) : null}
        {test.isSuccess ? (
          <span className="status" role="status">
            <Icon name="check" size="small" />
            The connection works.
          </span>
        ) : null}
      </div>
      {test.error ? <Problem error={test.error} /> : null}
      {isChoosing && hasTables ? <ChooseTables place={place} loaded={loaded} draft={draft} onClose={onClose} /> : null}
      {isChoosing && !hasTables ? <ChooseStreams place={place} loaded={loaded} text={text} onClose={onClose} /> : null}
    </div>
  )
}

function ChooseStreams({ place, loaded, text, onClose }: Place & { readonly onClose: () => void }) {
  const queries = useQueryClient()
  const query = useQuery<{ readonly streams: readonly ConnectorStream[] }, Error>({
    queryKey: ['connector streams', text],
    queryFn: () => runAction(place.componentId, 'streams', text),
    retry: false,
  })
  const present = new Set(
    loaded.configuration.rows.map(({ configuration }) => String(valueIn(configuration, ['parameters', 'stream']))),
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<string>()
  const add = useMutation({
    mutationFn: async () => {
      for (const name of chosen)
        await api.call('rows.create', { path: place, body: { name, configuration: { parameters: { stream: name } } } })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['configurations.get'] })
      toast(`${plural(chosen.size, 'stream')} added, each as a row.`)
      onClose()
    },
  })
  const toggle = (name: string) =>
    setChosen((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  return (
    <Dialog title="Choose streams" onClose={onClose}>
      <Form onSubmit={() => chosen.size > 0 && add.mutate()}>
        <p className="soft">Each stream becomes a row of the configuration, and a table. Without rows all streams are read.</p>
        <Loaded query={query}>
          {({ streams }) => (
            <ul className="list streams">
              {streams.map(({ name, primaryKey = [], incremental, problem }) => (
                <li key={name}>
                  <label className="flex-row grow">
                    <input
                      type="checkbox"
                      disabled={problem !== undefined || present.has(name)}
                      checked={chosen.has(name) || present.has(name)}
                      onChange={() => toggle(name)}
                    />
                    <span className="medium">{name}</span>
                    <span className="fine mute">
                      {problem ??
                        `${incremental ? 'incremental' : 'full'}${primaryKey.length > 0 ? `, key ${primaryKey.join(', ')}` : ''}`}
                    </span>
                  </label>
                  {problem === undefined ? (
                    <button
                      type="button"
                      className="button small ghost"
                      onClick={() => setShown(shown === name ? undefined : name)}
                    >
                      Sample <span className="visually-hidden">of {name}</span>
                    </button>
                  ) : null}
                  {shown === name ? <Sample place={place} text={text} stream={name} /> : null}
                </li>
              ))}
            </ul>
          )}
        </Loaded>
        <DialogEnd error={add.error} isPending={add.isPending || chosen.size === 0} onClose={onClose}>
          Add the streams
        </DialogEnd>
      </Form>
    </Dialog>
  )
}

function Sample({ place, text, stream }: { place: ConfigurationPlace; text: string; stream: string }) {
  const query = useQuery<{ readonly records: readonly unknown[] }, Error>({
    queryKey: ['connector sample', stream, text],
    queryFn: () => {
      const document = parsed(text) as { readonly parameters?: object } // the buttons are off while it cannot be read
      const { streams: _, ...parameters } = { streams: undefined, ...document.parameters }
      return runAction(place.componentId, 'preview', JSON.stringify({ ...document, parameters: { ...parameters, stream } }))
    },
    retry: false,
  })
  return (
    <Loaded query={query} skeleton={<Lines count={2} />}>
      {({ records }) =>
        records.length === 0 ? (
          <p className="fine mute">No records.</p>
        ) : (
          <pre className="sample mono">{JSON.stringify(records[0], null, 2)}</pre>
        )
      }
    </Loaded>
  )
}
