// Connectors of the catalogue: those that we ship, and on request those of the public index. Adding one creates a configuration.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  type CatalogueEntry,
  type Connector,
  MANIFEST_COMPONENT,
  ofConnector,
  PUBLIC_CATALOGUE,
  useConnectorCatalogue,
} from '../../facts/connectors.ts'
import { plural } from '../../format.ts'
import { Lines, Loaded } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { DialogEnd } from '../../parts/dialog-end.tsx'
import { Dialog } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Label, PageLink } from '../../parts/guide.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useRefusal } from '../../rights.ts'
import { api } from '../../session.ts'
import { refreshEntries } from './configuration-list.tsx'
import './components.css'

export function Connectors({ filter }: { filter: string }) {
  const [index, setIndex] = useState<string>()
  const [chosen, setChosen] = useState<CatalogueEntry>()
  const isRefused = useRefusal('syncActions.run') !== undefined
  if (isRefused) return null
  return (
    <>
      <div className="toolbar connectors-head">
        <h2 className="heading">Connectors</h2>
        <span className="fine mute">APIs that are read by a manifest</span>
        {index === undefined ? (
          <button type="button" className="button small push" onClick={() => setIndex(PUBLIC_CATALOGUE)}>
            Look in the public index
          </button>
        ) : null}
      </div>
      <Found filter={filter} index={undefined} onChoose={setChosen} />
      {index === undefined ? null : <Found filter={filter} index={index} onChoose={setChosen} />}
      {chosen ? <AddConnector entry={chosen} onClose={() => setChosen(undefined)} /> : null}
    </>
  )
}

function Found({
  filter,
  index,
  onChoose,
}: {
  filter: string
  index: string | undefined
  onChoose: (entry: CatalogueEntry) => void
}) {
  const query = useConnectorCatalogue(index)
  return (
    <Loaded query={query} skeleton={<Lines count={3} />}>
      {(found) => {
        const listed = index === undefined ? found.connectors : (found.public?.connectors ?? [])
        const words = filter.toLowerCase().split(/\s+/)
        const textOf = ({ name, title, description, categories }: CatalogueEntry) =>
          [name, title, description, ...categories].join(' ').toLowerCase()
        const shown = listed.filter((entry) => words.every((word) => textOf(entry).includes(word)))
        if (shown.length === 0)
          return <p className="inset mute">No {index === undefined ? '' : 'public '}connector has this in its name.</p>
        return (
          <>
            {index === undefined ? null : (
              <p className="inset fine mute">
                {plural(listed.length, 'connector')} of the public index. {found.public?.withoutManifest} others of it are
                programs, which Millrace does not run.
              </p>
            )}
            <ul className="catalogue" aria-label={index === undefined ? 'Connectors' : 'Connectors of the public index'}>
              {shown.map((entry) => (
                <li key={entry.name}>
                  <h3 className="heading">{entry.title}</h3>
                  <p className="fine mute">
                    {[...entry.categories, entry.licence, entry.version].filter((each) => each !== '').join(' · ')}
                  </p>
                  <p className="soft">{entry.description}</p>
                  <div className="flex-row wrap">
                    <span className="flex-row push">
                      {entry.documentationUrl ? (
                        <PageLink url={entry.documentationUrl}>
                          About <span className="visually-hidden">{entry.title}</span>
                        </PageLink>
                      ) : null}
                      <ActButton needs="configurations.create" className="button small" onClick={() => onChoose(entry)}>
                        <Icon name="plus" size="small" />
                        <span>
                          Add <span className="visually-hidden">{entry.title}</span>
                        </span>
                      </ActButton>
                    </span>
                  </div>
                </li>
              ))}
            </ul>
          </>
        )
      }}
    </Loaded>
  )
}

function AddConnector({ entry, onClose }: { entry: CatalogueEntry; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState(entry.title)
  const [isAccepted, setAccepted] = useState(!entry.isRestricted)
  const asked = { name: entry.name, ...(entry.catalogue !== '' && { catalogue: entry.catalogue }) }
  const query = useQuery<Connector, Error>({
    queryKey: ['connector', asked],
    queryFn: () => ofConnector<Connector>('connector', asked),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const create = useMutation({
    mutationFn: ({ form, manifest, version, licence, source, catalogue }: Connector) => {
      const defaults = Object.entries(form.properties ?? {}).flatMap(([key, { default: value }]) =>
        value === undefined ? [] : [[key, value] as const],
      )
      const connector = { name: entry.name, version, licence, source, catalogue }
      const parameters = { config: Object.fromEntries(defaults), connector, manifest }
      return api.call('configurations.create', {
        path: { componentId: MANIFEST_COMPONENT },
        body: { name, configuration: { parameters }, changeDescription: `Create from the connector ${entry.name}` },
      })
    },
    onSuccess: async (made) => {
      await refreshEntries(queries)
      onClose()
      void navigate({
        to: '/components/$componentId/$configurationId',
        params: { componentId: MANIFEST_COMPONENT, configurationId: made.id },
      })
    },
  })
  return (
    <Dialog title={`Add ${entry.title}`} onClose={onClose}>
      <Form onSubmit={() => query.data && isAccepted && create.mutate(query.data)}>
        <div className="field">
          <Label htmlFor="connector-name">Name</Label>
          <input className="input" id="connector-name" required value={name} onChange={(event) => setName(event.target.value)} />
        </div>
        <Loaded query={query} skeleton={<Lines count={2} />}>
          {({ streams, licenceNotice, pythonClasses }) => (
            <>
              <p className="soft">
                {plural(streams.length, 'stream')}: {streams.slice(0, 12).join(', ')}
                {streams.length > 12 ? ' and more' : ''}.
              </p>
              {pythonClasses.length > 0 ? (
                <p className="soft">Streams that use Python code of the connector are not supported.</p>
              ) : null}
              <p className="soft">{licenceNotice}</p>
              {!entry.isRestricted ? null : (
                <label className="flex-row">
                  <input type="checkbox" checked={isAccepted} onChange={(event) => setAccepted(event.target.checked)} />
                  <span>I accept this licence</span>
                </label>
              )}
            </>
          )}
        </Loaded>
        <DialogEnd error={create.error} isPending={create.isPending || !query.data || !isAccepted} onClose={onClose}>
          Create the configuration
        </DialogEnd>
      </Form>
    </Dialog>
  )
}
