// Variables a flow starts with: values of a row of its variables configuration, as other configurations name them (spec platform 1.22).

interface FoundConfiguration {
  readonly rows: readonly { readonly id: string; readonly configuration: string }[]
}

const VARIABLES = 'keboola.variables'

export async function flowVariables(
  configuration: string,
  valuesId: string | null,
  find: (componentId: string, configurationId: string) => Promise<FoundConfiguration | undefined>,
): Promise<Readonly<Record<string, unknown>>> {
  const root = JSON.parse(configuration) as Readonly<Record<string, unknown>> // an object: it was read as a plan
  const id = root.variables_id
  const rowId = valuesId ?? root.variables_values_id
  if ((typeof id !== 'string' && typeof id !== 'number') || rowId === undefined || rowId === null) return {}
  const row = (await find(VARIABLES, String(id)))?.rows.find((one) => one.id === String(rowId))
  const { values } = JSON.parse(row?.configuration ?? '{}') as { values?: unknown } // read with care
  if (!Array.isArray(values)) return {}
  return Object.fromEntries(
    values.flatMap((item: { name?: unknown; value?: unknown } | null) =>
      typeof item?.name === 'string' ? [[item.name, item.value ?? null]] : [],
    ),
  )
}
