// The form of one step of the builder. Each step writes into the text of the document it belongs to; nothing else in it moves.

import { type ReactNode, Suspense } from 'react'
import { parsed } from '../../../document/json-text.ts'
import { LazyJsonEditor } from '../../../editor/lazy.ts'
import { ViewSwitch } from '../../../editor/view-switch.tsx'
import { Lines } from '../../../load.tsx'
import { Editable } from '../../../parts/editable.tsx'
import { HelpButton } from '../../../parts/guide.tsx'
import { AddressStep } from './address-step.tsx'
import { ChildrenStep } from './children-step.tsx'
import { ColumnsStep } from './columns-step.tsx'
import { LoginStep } from './login-step.tsx'
import { NewStep } from './new-step.tsx'
import { PagesStep } from './pages-step.tsx'
import { RequestStep } from './request-step.tsx'
import type { StepProps } from './step.ts'
import '../builder.css'

const TITLES: Readonly<Record<string, string>> = {
  address: 'Address',
  login: 'Login',
  request: 'Request',
  pages: 'Pages',
  columns: 'Columns',
  new: 'Only what is new',
  children: 'Children',
}

/** Where the guide of the extractor describes a step. */
const SECTIONS: Readonly<Record<string, string>> = {
  login: 'authentication',
  request: 'parameters-and-methods',
  pages: 'pagination',
  columns: 'mappings',
  new: 'state-and-increments',
  children: 'children',
}

export function StepForm(props: StepProps) {
  const { step, isJson, schema } = props
  const title = TITLES[step] ?? 'Address'
  const owner = ['request', 'new', 'children'].includes(step) ? props.current : props.root
  const { key, name, draft } = owner
  const isReadable = parsed(draft.text) !== undefined
  return (
    <section aria-label={title}>
      <div className="pane-head">
        <h2 className="heading">{title}</h2>
        <span className="fine mute">{key === 'root' ? 'shared by all rows' : `row ${name}`}</span>
        <span className="push" />
        <ViewSwitch view={isJson ? 'json' : 'form'} canShowForm={isReadable} onChange={props.onView} />
        <HelpButton page="extractor" section={SECTIONS[step] ?? 'a-first-job'} label={title.toLowerCase()} />
      </div>
      {isJson || !isReadable ? (
        <Suspense fallback={<Lines count={8} />}>
          <LazyJsonEditor key={key} label={`${title} as JSON`} text={draft.text} onChange={draft.edit} schema={schema} isPart />
        </Suspense>
      ) : (
        <form className="step-fields stack-4" onSubmit={(event) => event.preventDefault()}>
          <Editable needs="configurations.update">{stepOf(props)}</Editable>
        </form>
      )}
    </section>
  )
}

function stepOf(props: StepProps): ReactNode {
  switch (props.step) {
    case 'login':
      return <LoginStep {...props} />
    case 'request':
      return <RequestStep {...props} />
    case 'pages':
      return <PagesStep {...props} />
    case 'columns':
      return <ColumnsStep {...props} />
    case 'new':
      return <NewStep {...props} />
    case 'children':
      return <ChildrenStep {...props} />
    default:
      return <AddressStep {...props} />
  }
}
