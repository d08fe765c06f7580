// A workbook before it is loaded: which sheet, and what it holds.

import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { bytes, plural } from '../../format.ts'
import { Lines, Loaded } from '../../load.tsx'
import { Problem } from '../../parts/problem.tsx'
import { csvOf, type FileKind, readWorkbook, type Sheet } from '../../upload/excel.ts'

/** A browser reads it whole. */
const MAX_BYTES = 100_000_000

interface WorkbookProps {
  readonly file: File
  readonly kind: Exclude<FileKind, undefined>
  readonly onSheet: (csv: File) => void
  readonly onReset: () => void
}

const REFUSED: Readonly<Record<string, string>> = {
  'old-excel': 'This is a workbook of Excel 2003 or older. Save it as .xlsx or as CSV, and choose that file.',
  large: `Workbooks of more than ${bytes(MAX_BYTES)} are not read by the browser. Save the sheet as CSV, and choose that file.`,
}

export function Workbook({ file, kind, onSheet, onReset }: WorkbookProps) {
  const refused = kind === 'zip' ? (file.size > MAX_BYTES ? REFUSED.large : undefined) : REFUSED[kind]
  const query = useQuery({
    queryKey: ['workbook', file.name, file.size, file.lastModified],
    queryFn: async () => ({ sheets: (await readWorkbook(file)).filter(({ rows }) => rows.length > 0) }),
    enabled: refused === undefined,
    retry: false,
  })
  const only = query.data?.sheets.length === 1 ? query.data.sheets[0] : undefined
  const choose = ({ name, rows }: Sheet, isOnly: boolean) => {
    const own = file.name.replace(/\.\w+$/, '')
    onSheet(
      new File([csvOf(rows)], `${isOnly ? own : `${own} ${name}`}.csv`, { type: 'text/csv', lastModified: file.lastModified }),
    )
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is a new one each time
  useEffect(() => {
    if (only) choose(only, true)
  }, [only])
  return (
    <section className="card" aria-labelledby="sheets">
      <header>
        <h2 id="sheets">Sheets of {file.name}</h2>
        <button type="button" className="button small push" onClick={onReset}>
          Another file
        </button>
      </header>
      {refused !== undefined ? (
        <Problem error={new Error(refused)} />
      ) : query.error ? (
        <Problem
          error={new Error(`${file.name} is no workbook that can be read: ${query.error.message}. Save it as CSV instead.`)}
        />
      ) : (
        <Loaded query={query} skeleton={<Lines count={3} />}>
          {({ sheets }) =>
            sheets.length === 0 ? (
              <p className="inset mute">The workbook has no rows.</p>
            ) : (
              <ul className="list">
                {sheets.map((sheet) => (
                  <li key={sheet.name}>
                    <span className="medium">{sheet.name}</span>
                    <span className="fine mute">{plural(sheet.rows.length, 'row')}</span>
                    <button
                      type="button"
                      className="button small push"
                      aria-label={`Look at this sheet: ${sheet.name}`}
                      onClick={() => choose(sheet, false)}
                    >
                      Look at this sheet
                    </button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </section>
  )
}
