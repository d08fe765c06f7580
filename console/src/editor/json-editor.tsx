// JSON with completion and marks from a schema. CodeMirror, loaded when it is first needed. It lives in a shadow root: its styles are
// adopted sheets there, which the content security policy allows.

import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, foldGutter, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, linter, lintGutter } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { getLocation } from 'jsonc-parser'
import { useEffect, useRef } from 'react'
import { isSameDocument } from '../document/changes.ts'
import { isEncrypted, leavesOf, type Path, parsed, sliceAt } from '../document/json-text.ts'
import { choicesOf, labelOf, marksOf, memberSchema, problemsOf, resolve, type Schema } from '../document/schema.ts'
import { createTypedTexts } from './typed-texts.ts'
import './editor.css'

export interface JsonEditorProps {
  readonly label: string
  readonly text: string
  readonly onChange?: (text: string) => void
  readonly schema?: Schema | undefined
  /** A row, which need not have what the root has. */
  readonly isPart?: boolean
}

export default function JsonEditor({ label, text, onChange, schema, isPart = false }: JsonEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const typed = useRef(createTypedTexts((one, other) => one === other || isSameDocument(one, other)))
  const latest = useRef({ onChange, schema, isPart })
  latest.current = { onChange, schema, isPart }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; changes of the text come below
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          ...BASE,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          new Compartment().of(EditorState.readOnly.of(onChange === undefined)),
          autocompletion({ icons: false, override: [(context) => complete(context, latest.current.schema)] }),
          linter((current) => diagnose(current, latest.current.schema, latest.current.isPart), { delay: 300 }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return
            const now = update.state.doc.toString()
            typed.current.add(now)
            latest.current.onChange?.(now)
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [label])
  useEffect(() => {
    const editor = view.current
    const current = editor?.state.doc.toString()
    const isOwn = typed.current.isOwn(text)
    // Another view changed the document. Differences of white space alone come from typing here.
    if (editor && current !== undefined && !isOwn && current !== text && !isSameDocument(current, text)) {
      typed.current.clear()
      editor.dispatch({ changes: { from: 0, to: current.length, insert: text } })
    }
  }, [text])
  return <div ref={host} className="code-host" />
}

class Dots extends WidgetType {
  toDOM(): HTMLElement {
    const span = document.createElement('span')
    span.className = 'cm-secret'
    span.textContent = '••••••'
    span.title = 'Encrypted. Type a new value to replace it.'
    return span
  }
}

/** Ciphers are six dots; what is typed over them is encrypted when it is saved. */
const masked = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = mask(view)
    }
    update(update: ViewUpdate) {
      if (update.docChanged) this.decorations = mask(update.view)
    }
  },
  {
    decorations: (plugin) => plugin.decorations,
    provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.decorations ?? Decoration.none),
  },
)

function mask(view: EditorView): DecorationSet {
  const marks = new RangeSetBuilder<Decoration>()
  for (const { path, value, offset, length } of leavesOf(view.state.doc.toString()))
    if (isEncrypted(path.at(-1), value)) marks.add(offset + 1, offset + length - 1, Decoration.replace({ widget: new Dots() }))
  return marks.finish()
}

function diagnose(view: EditorView, schema: Schema | undefined, isPart: boolean): readonly Diagnostic[] {
  const broken = jsonParseLinter()(view)
  if (broken.length > 0 || !schema) return broken
  const text = view.state.doc.toString()
  return problemsOf(parsed(text), schema, { root: schema }, isPart).map(({ path, message, isError }) => {
    const [from, to] = rangeOf(text, path)
    return { from, to, message, severity: isError ? 'error' : 'warning' }
  })
}

function rangeOf(text: string, path: Path): readonly [number, number] {
  const slice = sliceAt(text, path)
  if (slice === undefined || path.length === 0) return [0, Math.min(1, text.length)]
  const location = leavesOf(text).find((leaf) => path.every((key, index) => leaf.path[index] === key))
  const from = location?.path.length === path.length ? location.offset : text.indexOf(slice)
  return [from, Math.min(from + slice.length, text.indexOf('\n', from) === -1 ? from + slice.length : text.indexOf('\n', from))]
}

/** Names of members and values of the place where the cursor stands. */
function complete(context: CompletionContext, schema: Schema | undefined): CompletionResult | null {
  if (!schema) return null
  const text = context.state.doc.toString()
  const location = getLocation(text, context.pos)
  const set = { root: schema }
  const word = context.matchBefore(/"[^"]*/)
  if (!word && !context.explicit) return null
  const parent = location.isAtPropertyKey ? location.path.slice(0, -1) : location.path
  const place = schemaAt(schema, parent, parsed(text))
  if (!place) return null
  const quoted = (name: string) => JSON.stringify(name)
  const from = word?.from ?? context.pos
  const end = text[context.pos] === '"' ? context.pos + 1 : context.pos
  const range = { from, to: end, ...(word ? { validFor: /^"[^"]*"?$/ } : {}) } // the list stays while the name is typed
  if (location.isAtPropertyKey) {
    const members = [place, ...choicesOf(place, set)].flatMap((one) => Object.entries(one.properties ?? {}))
    return {
      ...range,
      options: [...new Map(members)].map(([name, member]) => ({
        label: quoted(name),
        apply: `${quoted(name)}: `,
        detail: labelOf(name, member),
        ...(resolve(member, set).description ? { info: resolve(member, set).description! } : {}),
      })),
    }
  }
  const values = [
    ...(place.enum ?? []),
    ...choicesOf(place, set)
      .flatMap(marksOf)
      .map(([, mark]) => mark),
    ...(place.type === 'boolean' ? [true, false] : []),
  ]
  return values.length === 0 ? null : { ...range, options: values.map((value) => ({ label: JSON.stringify(value) })) }
}

function schemaAt(schema: Schema, path: Path, document: unknown): Schema | undefined {
  const set = { root: schema }
  let current: Schema | undefined = resolve(schema, set)
  let value = document
  for (const key of path) {
    if (!current) return undefined
    current = memberSchema(current, key, value, set)
    value = (value as Record<string | number, unknown> | undefined)?.[key]
  }
  return current && resolve(current, set)
}

export const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
])

export const look = EditorView.theme({
  '&': { fontSize: '12.5px', color: 'var(--ink)', backgroundColor: 'transparent', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', fontVariantLigatures: 'none' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '10px 0 96px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-line)',
  },
  '.cm-secret': { padding: '0 6px', borderRadius: '3px', color: 'var(--code-secret)', background: 'var(--warn-soft)' },
  '.cm-tooltip': {
    background: 'var(--surface-raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--r-sm)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--surface-selected)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
  '.cm-foldPlaceholder': { background: 'var(--surface-sunken)', border: 'none', color: 'var(--ink-3)' },
})

const BASE = [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  history(),
  indentOnInput(),
  bracketMatching(),
  highlightSelectionMatches(),
  EditorView.lineWrapping,
  EditorState.tabSize.of(2),
  json(),
  syntaxHighlighting(colours),
  look,
  masked,
  keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]), // Tab leaves the editor, for people who use the keyboard only
]
