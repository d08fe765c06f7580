// Two views of one document: as a form, and as the JSON it is.

export const ViewSwitch = ({
  view,
  canShowForm,
  onChange,
}: {
  view: string
  canShowForm: boolean
  onChange: (view: string) => void
}) => (
  <fieldset className="segments" aria-label="View">
    <button type="button" aria-pressed={view === 'form'} disabled={!canShowForm} onClick={() => onChange('form')}>
      Form
    </button>
    <button type="button" aria-pressed={view === 'json'} onClick={() => onChange('json')}>
      JSON
    </button>
  </fieldset>
)
