// SQL with completion of the tables and columns of the project, which are searched for while a person types. CodeMirror in a shadow root, as the JSON editor is.

import { autocompletion, type CompletionContext, type CompletionResult, closeCompletion } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { PostgreSQL, sql } from '@codemirror/lang-sql'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, Prec } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { colours, look } from './json-editor.tsx'
import { completionAt, type SqlTable, type WantedTables, wantedAt } from './sql-completion.ts'
import { createTypedTexts } from './typed-texts.ts'
import './editor.css'

/** Characters of the text. */
export interface Selection {
  readonly from: number
  readonly to: number
}

/** A text to put where the cursor is; the number distinguishes one from the next. */
export interface Insertion {
  readonly text: string
  readonly number: number
}

/** `isComplete`: no other table matches, so what is typed next needs no search. */
export type TableSearch = (wanted: WantedTables) => Promise<FoundTables>

export interface FoundTables {
  readonly tables: readonly SqlTable[]
  readonly isComplete: boolean
}

export interface SqlEditorProps {
  readonly text: string
  /** Those of a script. */
  readonly tables: readonly SqlTable[]
  /** Finds tables of the project. */
  readonly search: TableSearch
  readonly onChange: (text: string) => void
  /** By the keyboard, with the text and the selection of this moment: a key can be faster than the next rendering. */
  readonly onRun: (text: string, selection: Selection | undefined) => void
  /** What is selected; undefined when nothing is. */
  readonly onSelect?: ((selection: Selection | undefined) => void) | undefined
  /** A mistake at a character of the text; marked until the text is changed. */
  readonly mistake?: { readonly at: number; readonly message: string } | undefined
  readonly insertion?: Insertion | undefined
  /** Shown, and not changed. */
  readonly isReadOnly?: boolean
}

const NONE: FoundTables = { tables: [], isComplete: true }
/** Names with the quotes and dots that belong to them. */
const WORD = /^(?:[\w$]+|"[^"]*(?:"(?:\."?[^"]*)?)?)$/

/** Below the own words of the project, the keywords of PostgreSQL, which DuckDB follows. */
const language = (tables: readonly SqlTable[], search: TableSearch) => [
  sql({ dialect: PostgreSQL, upperCaseKeywords: false }),
  PostgreSQL.language.data.of({
    autocomplete: async (context: CompletionContext): Promise<CompletionResult | null> => {
      const { state, pos, view } = context
      const text = state.doc.toString()
      const wanted = wantedAt(text, pos)
      const isOwn = wanted.ids.length === 0 && wanted.name === undefined
      const ofProject = isOwn ? NONE : await search(wanted).catch(() => NONE)
      if (context.aborted || view?.hasFocus === false) return null // other keys were typed meanwhile
      const found = completionAt(text, pos, [...tables, ...ofProject.tables])
      if (!found) return null
      const typed = text.slice(found.from, pos)
      return {
        from: found.from,
        options: found.options.map((one) => ({ ...one, boost: BOOSTS[one.type] })),
        ...(ofProject.isComplete ? { validFor: (word: string) => word.startsWith(typed) && WORD.test(word) } : {}),
      }
    },
  }),
]
/** The word at the place, or one character. */
function markOf(state: EditorState, { at, message }: { readonly at: number; readonly message: string }): Diagnostic {
  const word = state.wordAt(at)
  const from = word?.from ?? Math.min(at, Math.max(0, state.doc.length - 1))
  return { from, to: word?.to ?? Math.min(state.doc.length, from + 1), severity: 'error', message }
}

function selectionOf({ selection: { main } }: EditorState): Selection | undefined {
  return main.empty ? undefined : { from: main.from, to: main.to }
}

const BOOSTS = { table: 3, column: 3, alias: 2, function: 1, keyword: 0 } as const

export default function SqlEditor(props: SqlEditorProps) {
  const { text, tables, search, onChange, onRun, onSelect, mistake, insertion, isReadOnly = false } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const known = useRef(new Compartment())
  const typed = useRef(createTypedTexts())
  const latest = useRef({ onChange, onRun, onSelect })
  const inserted = useRef(insertion?.number)
  latest.current = { onChange, onRun, onSelect }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; changes come below
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const run = () => {
      closeCompletion(editor)
      latest.current.onRun(editor.state.doc.toString(), selectionOf(editor.state))
      return true
    }
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
          known.current.of(language(tables, search)),
          autocompletion({ icons: false }), // their signs are in few fonts
          syntaxHighlighting(colours),
          look,
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
          keymap.of([...defaultKeymap, ...historyKeymap]), // Tab leaves the editor, for people who use the keyboard only
          EditorView.updateListener.of((update) => {
            if (update.selectionSet || update.docChanged) latest.current.onSelect?.(selectionOf(update.state))
            if (!update.docChanged) return
            const now = update.state.doc.toString()
            typed.current.add(now)
            latest.current.onChange(now)
          }),
        ],
      }),
    })
    view.current = editor
    return () => {
      latest.current.onSelect?.(undefined)
      editor.destroy()
    }
  }, [])
  useEffect(() => view.current?.dispatch({ effects: known.current.reconfigure(language(tables, search)) }), [tables, search])
  useEffect(() => {
    const state = view.current?.state
    if (!state) return
    const marks = mistake && mistake.at <= state.doc.length ? [markOf(state, mistake)] : []
    view.current?.dispatch(setDiagnostics(state, marks))
  }, [mistake])
  useEffect(() => {
    const editor = view.current
    if (!editor || !insertion || inserted.current === insertion.number || editor.state.readOnly) return
    inserted.current = insertion.number
    editor.dispatch(editor.state.replaceSelection(insertion.text))
    editor.focus()
  }, [insertion])
  useEffect(() => {
    const current = view.current?.state.doc.toString()
    const isOwn = typed.current.isOwn(text)
    if (current === undefined || isOwn || current === text) return
    typed.current.clear()
    view.current?.dispatch({ changes: { from: 0, to: current.length, insert: text } })
  }, [text])
  return <div ref={host} className="code-host sql-text" />
}
