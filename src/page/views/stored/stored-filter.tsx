import { useState } from 'preact/hooks'
import { fieldsOf, parseJson } from '../../../lib/json/json.ts'
import type { Query } from '../../api/client.ts'
import { loadList } from '../../api/pages.ts'
import { useResource } from '../../api/resource.ts'
import { Button, FilterChip } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { useApi } from '../../session.tsx'
import type { StoredKind } from './summary.ts'

/** The filter of a list, as in the address: `metadata` has each pair that the metadata must have, as JSON. */
export const noFilter = { model: '', status: '', order: 'desc', metadata: '{}' }

export type StoredFilter = typeof noFilter

/** The address may have been written by hand. */
function readPairs({ metadata }: StoredFilter): Readonly<Record<string, string>> {
  const pairs = Object.entries(fieldsOf(parseJson(metadata)))
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
}

/** The parameters of a list with this filter. */
export function listParameters(filter: StoredFilter): Query {
  const { model, status } = filter
  const pairs = Object.entries(readPairs(filter)).map(([key, value]) => [`metadata[${key}]`, value])
  return {
    model: model || undefined,
    status: status || undefined,
    order: orderOf(filter),
    ...Object.fromEntries(pairs),
  }
}

function orderOf({ order }: StoredFilter): 'asc' | 'desc' {
  return order === 'asc' ? 'asc' : 'desc'
}

type FilterProps = {
  readonly filter: StoredFilter
  readonly change: (changed: Partial<StoredFilter>) => void
}

/** The filter of a list: by model, metadata and status. */
export function FilterForm({ kind, filter, change }: FilterProps & { readonly kind: StoredKind }) {
  return (
    <>
      <div class="stored-filters">
        <ModelFilter filter={filter} change={change} />
        {kind === 'responses' && (
          <SelectField
            label="Status"
            value={filter.status}
            options={statuses}
            onChange={(status) => change({ status })}
          />
        )}
        <SelectField
          label="Order"
          value={orderOf(filter)}
          options={orders}
          onChange={(order) => change({ order })}
        />
        <MetadataFilter filter={filter} change={change} />
      </div>
      <ActiveFilters filter={filter} change={change} />
    </>
  )
}

const orders = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
] as const

const statuses = [
  { value: '', label: 'Any' },
  { value: 'completed', label: 'completed' },
  { value: 'incomplete', label: 'incomplete' },
  { value: 'failed', label: 'failed' },
  { value: 'in_progress', label: 'in progress' },
  { value: 'queued', label: 'queued' },
]

/** Any name: a stored object may be of a model that is no longer enabled. */
function ModelFilter({ filter, change }: FilterProps) {
  const api = useApi()
  const models = useResource((signal) => loadList<{ readonly id: string }>(api, '/v1/models', signal), [api])
  return (
    <Combobox
      label="Model"
      value={filter.model}
      placeholder="Any"
      options={(models.value ?? []).map(({ id }) => ({ value: id }))}
      onChange={(model) => change({ model })}
    />
  )
}

function MetadataFilter({ filter, change }: FilterProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    if (key === '') return
    change({ metadata: JSON.stringify({ ...readPairs(filter), [key]: value }) })
    setKey('')
    setValue('')
  }
  return (
    <form class="pair" onSubmit={add}>
      <TextField label="Metadata key" value={key} onInput={setKey} />
      <TextField label="Value" value={value} onInput={setValue} />
      <Button label="Filter" type="submit" disabled={key === ''} />
    </form>
  )
}

function ActiveFilters({ filter, change }: FilterProps) {
  const { model } = filter
  const pairs = Object.entries(readPairs(filter))
  if (model === '' && pairs.length === 0) return null
  const without = (key: string) => JSON.stringify(Object.fromEntries(pairs.filter(([name]) => name !== key)))
  return (
    <div class="chips">
      {model !== '' && <FilterChip name="Model" value={model} onClear={() => change({ model: '' })} />}
      {pairs.map(([key, value]) => (
        <FilterChip key={key} name={key} value={value} onClear={() => change({ metadata: without(key) })} />
      ))}
    </div>
  )
}
