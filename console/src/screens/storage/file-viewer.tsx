// What is in a file: bytes from anywhere in it, unpacked, and the slices of a sliced one. Its link, with the chosen lifetime.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { File as StoredFile } from '../../../../client/src/operations.ts'
import { bytes, count, moment, plural, zone } from '../../format.ts'
import { Loaded, useLoad } from '../../load.tsx'
import { ActButton } from '../../parts/act-button.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Drawer } from '../../parts/drawer.tsx'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Problem } from '../../parts/problem.tsx'
import { api } from '../../session.ts'
import { toast } from '../../shell/toast.tsx'
import { FileLink } from '../../views/file-link.tsx'
import './storage.css'

const PART_BYTES = 16_384

const SHOWN_SLICES = 100

export function FileViewer({ id, onClose }: { id: string; onClose: () => void }) {
  const queries = useQueryClient()
  const query = useLoad('files.get', { path: { id }, query: {} })
  return (
    <Drawer title={query.data?.name ?? 'File'} onClose={onClose}>
      <Loaded query={query}>
        {(file) => (
          <>
            <p className="soft">
              {bytes(file.sizeBytes)}, created {moment(file.created)} {zone} by {file.creatorToken.description}.
            </p>
            <div className="flex-row wrap">
              <ActLink needs="tables.createAsync" className="button primary" to="/upload" search={{ file: String(file.id) }}>
                <Icon name="table" />
                <span>Create a table from it</span>
              </ActLink>
              {file.isSliced ? null : (
                <a className="button" href={file.url}>
                  <Icon name="download" />
                  <span>Download</span>
                </a>
              )}
              <ConfirmButton
                label="Delete"
                name={file.name}
                needs="files.delete"
                className="button ghost"
                effect={
                  <>
                    <p>
                      {bytes(file.sizeBytes)} are deleted for good, and links to the file stop working. Tables that were loaded
                      from it keep their rows.
                    </p>
                    {file.maxAgeDays === null ? <p>The file is permanent: it would not expire by itself.</p> : null}
                  </>
                }
                act={async () => {
                  await api.call('files.delete', { path: { id } })
                  onClose()
                  await queries.invalidateQueries({ queryKey: ['files.list'] })
                  toast(`${file.name} is deleted.`)
                }}
              />
            </div>
            <Tags file={file} />
            <FileLink file={file} />
            <Content file={file} />
          </>
        )}
      </Loaded>
    </Drawer>
  )
}

/** What jobs find files by. */
function Tags({ file }: { file: StoredFile }) {
  const queries = useQueryClient()
  const [tag, setTag] = useState('')
  const path = { id: String(file.id) }
  const change = useMutation({
    mutationFn: async ({ add, remove }: { readonly add?: string; readonly remove?: string }) => {
      if (add !== undefined) await api.call('files.addTag', { path, body: { tag: add } })
      if (remove !== undefined) await api.call('files.removeTag.delete', { path: { ...path, path: remove } })
    },
    onSuccess: async () => {
      setTag('')
      await Promise.all(['files.get', 'files.list'].map((name) => queries.invalidateQueries({ queryKey: [name] })))
    },
  })
  return (
    <section className="stack-2" aria-label="Tags">
      <h3 className="heading">Tags</h3>
      <div className="flex-row wrap gap-1">
        {file.tags.map((one) => (
          <ActButton
            key={one}
            needs="files.removeTag.delete"
            className="chip"
            aria-label={`Remove the tag ${one}`}
            disabled={change.isPending}
            onClick={() => change.mutate({ remove: one })}
          >
            {one} ✕
          </ActButton>
        ))}
        <Form className="flex-row" onSubmit={() => change.mutate({ add: tag.trim() })}>
          <input
            className="input small"
            aria-label="New tag"
            placeholder="new tag"
            value={tag}
            onChange={(event) => setTag(event.target.value)}
          />
          <ActButton type="submit" needs="files.addTag" className="button small" disabled={change.isPending || tag.trim() === ''}>
            Add
          </ActButton>
        </Form>
      </div>
      {change.error ? <Problem error={change.error} /> : null}
    </section>
  )
}

function Content({ file }: { file: StoredFile }) {
  const [slice, setSlice] = useState<number>()
  return (
    <>
      {file.isSliced ? <Slices id={String(file.id)} chosen={slice} onChoose={setSlice} /> : null}
      <Head key={slice} file={file} slice={slice} />
    </>
  )
}

function Slices({ id, chosen, onChoose }: { id: string; chosen: number | undefined; onChoose: (slice?: number) => void }) {
  const query = useLoad('files.slices', { path: { id } })
  return (
    <Loaded query={query}>
      {(slices) => (
        <section className="stack-2" aria-label="Slices">
          <div className="flex-row">
            <h3 className="heading">{plural(slices.length, 'slice')}</h3>
            {chosen === undefined ? (
              <span className="mute fine">shown joined below</span>
            ) : (
              <button type="button" className="link fine" onClick={() => onChoose(undefined)}>
                Show them joined
              </button>
            )}
          </div>
          <ListTable label="Slices" columns={['Slice', { num: 'Size' }, { hidden: 'Show' }]}>
            {slices.slice(0, SHOWN_SLICES).map(({ name, sizeBytes }, index) => (
              <tr key={name}>
                <td className="mono">{name}</td>
                <td className="numeric">{bytes(sizeBytes)}</td>
                <td>
                  <button
                    type="button"
                    className="button small ghost"
                    aria-pressed={chosen === index}
                    onClick={() => onChoose(index)}
                  >
                    Show<span className="visually-hidden"> {name}</span>
                  </button>
                </td>
              </tr>
            ))}
          </ListTable>
          {slices.length > SHOWN_SLICES ? (
            <p className="mute fine">
              The first {SHOWN_SLICES} of {count(slices.length)}.
            </p>
          ) : null}
        </section>
      )}
    </Loaded>
  )
}

interface Part {
  readonly text: string
  readonly isBinary: boolean
  readonly isCut: boolean
  readonly compression: string
}

async function readPart(id: number, offset: number, slice: number | undefined, signal: AbortSignal): Promise<Part> {
  const query = { offset, limit: PART_BYTES, ...(slice === undefined ? {} : { slice }) }
  const answer = await api.open('files.head', { path: { id: String(id) }, query, signal })
  const found = new Uint8Array(await answer.arrayBuffer())
  return {
    text: new TextDecoder().decode(found),
    isBinary: found.includes(0),
    isCut: answer.headers.get('x-millrace-truncated') === 'true',
    compression: answer.headers.get('x-millrace-compression') ?? 'none',
  }
}

function Head({ file, slice }: { file: StoredFile; slice: number | undefined }) {
  const [offset, setOffset] = useState(0)
  const query = useQuery<Part, Error>({
    queryKey: ['head of file', file.id, offset, slice],
    queryFn: ({ signal }) => readPart(file.id, offset, slice, signal),
    placeholderData: (before) => before,
  })
  return (
    <section className="stack-2" aria-label="Content">
      <Loaded query={query}>
        {({ text, isBinary, isCut, compression }) => (
          <>
            <div className="flex-row wrap">
              <h3 className="heading">Content</h3>
              <span className="mute fine tabular">
                {text === '' ? 'empty' : `bytes ${count(offset)} to ${count(offset + Math.min(PART_BYTES, text.length))}`}
                {compression === 'none' ? '' : `, unpacked from ${compression}`}
              </span>
              <span className="push flex-row">
                <button
                  type="button"
                  className="button small"
                  disabled={offset === 0}
                  onClick={() => setOffset(Math.max(0, offset - PART_BYTES))}
                >
                  Before
                </button>
                <button type="button" className="button small" disabled={!isCut} onClick={() => setOffset(offset + PART_BYTES)}>
                  Further
                </button>
              </span>
            </div>
            {isBinary ? (
              <p className="mute">These bytes are not text.</p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
              <pre className="code sunken head-of-file" tabIndex={0}>
                {text}
              </pre>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}
