import { useState } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { Button } from '../../components/button.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { FilterChip } from '../../components/filter-chip.tsx'
import { useApi } from '../../session/session.tsx'
import { keepFilter, responseStatuses, type StoredFilter } from './stored-filter.ts'
import type { StoredKind } from './summary.ts'

type FilterProps = {
  readonly filter: StoredFilter
  readonly change: (changed: Partial<StoredFilter>) => void
}

/** The filter of a list: by model, metadata and status. */
export function FilterForm({ kind, filter }: { readonly kind: StoredKind; readonly filter: StoredFilter }) {
  const change = (changed: Partial<StoredFilter>) => keepFilter({ ...filter, ...changed })
  return (
    <>
      <div class="stored-filters">
        <ModelFilter filter={filter} change={change} />
        {kind === 'responses' && <StatusFilter filter={filter} change={change} />}
        <SelectField
          label="Order"
          value={filter.order}
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
  ...responseStatuses.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
]

function StatusFilter({ filter, change }: FilterProps) {
  return (
    <SelectField
      label="Status"
      value={filter.status}
      options={statuses}
      onChange={(status) => change({ status })}
    />
  )
}

/** Any name: a stored object may be of a model that is no longer enabled. */
function ModelFilter({ filter, change }: FilterProps) {
  const api = useApi()
  const models = useResource(
    (signal) => api.get<{ readonly data: readonly { readonly id: string }[] }>('/v1/models', { signal }),
    [api],
  )
  return (
    <Combobox
      label="Model"
      value={filter.model}
      placeholder="Any"
      options={(models.value?.data ?? []).map(({ id }) => ({ value: id }))}
      onChange={(model) => change({ model })}
    />
  )
}

function MetadataFilter({ filter, change }: FilterProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const add = () => {
    if (key === '') return
    change({ metadata: { ...filter.metadata, [key]: value } })
    setKey('')
    setValue('')
  }
  return (
    <form
      class="pair"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <TextField label="Metadata key" value={key} onInput={setKey} />
      <TextField label="Value" value={value} onInput={setValue} />
      <Button label="Filter" type="submit" disabled={key === ''} />
    </form>
  )
}

function ActiveFilters({ filter, change }: FilterProps) {
  const { model, metadata } = filter
  const pairs = Object.entries(metadata)
  if (model === '' && pairs.length === 0) return null
  const without = (key: string) => Object.fromEntries(pairs.filter(([name]) => name !== key))
  return (
    <div class="chips">
      {model !== '' && <FilterChip name="Model" value={model} onClear={() => change({ model: '' })} />}
      {pairs.map(([key, value]) => (
        <FilterChip key={key} name={key} value={value} onClear={() => change({ metadata: without(key) })} />
      ))}
    </div>
  )
}
