// Files: what was uploaded and exported, with tags, size and expiry; one is looked into beside the list.

import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { File as StoredFile } from '../../../../client/src/operations.ts'
import { bytes, count, moment, parseTime, plural, until } from '../../format.ts'
import { ShowMore } from '../../listing.tsx'
import { Lines, Loaded } from '../../load.tsx'
import { ActLink } from '../../parts/act-link.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { api } from '../../session.ts'
import { Page } from '../../shell/page.tsx'
import { FileViewer } from './file-viewer.tsx'

const route = getRouteApi('/files')

const SHOWN = 100

function expiryOf({ created, maxAgeDays }: StoredFile): string {
  if (maxAgeDays === null) return 'permanent'
  return `expires ${until(new Date(parseTime(created).getTime() + maxAgeDays * 86_400_000).toISOString())}`
}

export function FilesScreen() {
  const search = route.useSearch()
  const { q = '', tag, file } = search
  const navigate = useNavigate()
  const open = (id: string | undefined) => void navigate({ to: '/files', search: { ...search, file: id } })
  const filter = { ...(q ? { q } : {}), ...(tag ? { tags: [tag] } : {}) }
  const query = useInfiniteQuery({
    queryKey: ['files.list', filter],
    queryFn: ({ pageParam, signal }) => api.call('files.list', { query: { ...filter, limit: SHOWN, offset: pageParam }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < SHOWN ? undefined : pages.length * SHOWN),
  })
  const files = (query.data?.pages ?? []).flat()
  const size = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  return (
    <Page
      title="Files"
      crumbs={[{ name: 'Files' }]}
      say={
        query.data
          ? files.length === 0
            ? 'No files.'
            : `${query.hasNextPage ? `The newest ${count(files.length)} files` : plural(files.length, 'file')}, ${bytes(size)}.`
          : 'Files'
      }
      actions={
        <ActLink needs="tables.createAsync" className="button primary" to="/upload">
          <Icon name="upload" />
          <span>Upload data</span>
        </ActLink>
      }
    >
      <section className="card" aria-label="Files">
        <div className="toolbar">
          <FilterField
            label="Search by name or tag"
            value={q}
            onChange={(text) => void navigate({ to: '/files', search: { q: text, ...(tag ? { tag } : {}) }, replace: true })}
          />
          {tag ? (
            <button type="button" className="chip picked" onClick={() => void navigate({ to: '/files', search: { q } })}>
              {tag} ✕
            </button>
          ) : null}
        </div>
        <Loaded query={query} skeleton={<Lines count={8} />}>
          {() =>
            files.length === 0 ? (
              <p className="inset mute">No matching files. Uploads and exports are listed here until they expire.</p>
            ) : (
              <>
                <FileTable files={files} onOpen={open} />
                <ShowMore query={query} size={SHOWN} />
              </>
            )
          }
        </Loaded>
      </section>
      {file ? <FileViewer id={file} onClose={() => open(undefined)} /> : null}
    </Page>
  )
}

const FileTable = ({ files, onOpen }: { files: readonly StoredFile[]; onOpen: (id: string) => void }) => (
  <ListTable label="Files" columns={['Name', 'Tags', { num: 'Size' }, 'Created', 'Kept', 'Id', { hidden: 'Download' }]}>
    {files.map((file) => (
      <tr key={file.id}>
        <td className="nowrap">
          <button type="button" className="link medium" onClick={() => onOpen(String(file.id))}>
            {file.name}
          </button>{' '}
          {file.isSliced ? <span className="tag-label">sliced</span> : null}
        </td>
        <td>
          <span className="flex-row wrap gap-1">
            {file.tags.map((tag) => (
              <Link key={tag} className="chip" to="/files" search={{ tag }}>
                {tag}
              </Link>
            ))}
          </span>
        </td>
        <td className="numeric">{bytes(file.sizeBytes)}</td>
        <td className="nowrap">{moment(file.created)}</td>
        <td className="mute nowrap">{expiryOf(file)}</td>
        <td className="identifier">{file.id}</td>
        <td>
          {file.isSliced ? null : (
            <a className="button small icon ghost" href={file.url} aria-label={`Download ${file.name}`} title="Download">
              <Icon name="download" />
            </a>
          )}
        </td>
      </tr>
    ))}
  </ListTable>
)
