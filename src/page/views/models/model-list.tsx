import { useMemo } from 'preact/hooks'
import { useResource } from '../../api/use-resource.ts'
import { SelectField, TextField } from '../../components/field.tsx'
import { formatCount } from '../../components/format.ts'
import { Empty, Loaded } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { ViewHeader } from '../../components/view-header.tsx'
import { useShortcut } from '../../keyboard/shortcuts.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { replaceQuery, routeHash } from '../../routing/route.ts'
import { useApi } from '../../session/session.tsx'
import { capabilitiesOf, type Model } from './model.ts'
import { modelColumns } from './model-columns.tsx'
import { choicesOf, filterModels, type ModelFilter } from './model-filter.ts'

/** The list of the enabled models, with a filter that is kept in the address. */
export function ModelList({ query }: { readonly query: URLSearchParams }) {
  const api = useApi()
  const models = useResource(
    async (signal) => (await api.get<{ readonly data: readonly Model[] }>('/v1/models', { signal })).data,
    [api],
  )
  const filter: ModelFilter = {
    search: query.get('q') ?? '',
    provider: query.get('provider') ?? '',
    capability: query.get('can') ?? '',
    api: query.get('api') ?? '',
  }
  return (
    <>
      <ViewHeader title="Models" />
      <Loaded resource={models} lines={14}>
        {(all) => <FilteredModels all={all} filter={filter} />}
      </Loaded>
    </>
  )
}

function FilteredModels({ all, filter }: { readonly all: readonly Model[]; readonly filter: ModelFilter }) {
  const { search, provider, capability, api } = filter
  const shown = useMemo(() => filterModels(all, filter), [all, search, provider, capability, api])
  return (
    <div class="stack">
      <Filters all={all} filter={filter} />
      <p class="quiet">
        <span role="status">{countText(shown.length, all.length)}</span> Prices are in USD per million tokens.
      </p>
      <Table
        label="Models"
        columns={modelColumns}
        rows={shown}
        rowKey={({ slug }) => slug}
        rowHref={({ slug }) => routeHash('models', [slug])}
        initialSort={{ column: 'model', direction: 'ascending' }}
        empty={<NoModels search={search} none={all.length === 0} />}
      />
    </div>
  )
}

function countText(shown: number, all: number): string {
  const models = all === 1 ? 'enabled model' : 'enabled models'
  return shown === all
    ? `${formatCount(all)} ${models}.`
    : `${formatCount(shown)} of ${formatCount(all)} ${models}.`
}

function Filters({ all, filter }: { readonly all: readonly Model[]; readonly filter: ModelFilter }) {
  useShortcut('/', 'Search the models', () =>
    document.querySelector<HTMLInputElement>('.filters input')?.focus(),
  )
  const change = (changed: Partial<ModelFilter>) => keepFilter({ ...filter, ...changed })
  return (
    <div class="filters">
      <TextField
        label="Search"
        type="search"
        placeholder="Name, author or provider"
        value={filter.search}
        onInput={(search) => change({ search })}
      />
      <Choice
        label="Provider"
        value={filter.provider}
        choices={choicesOf(all, ({ provider = '' }) => (provider === '' ? [] : [provider]))}
        onChange={(provider) => change({ provider })}
      />
      <Choice
        label="Capability"
        value={filter.capability}
        choices={choicesOf(all, capabilitiesOf)}
        onChange={(capability) => change({ capability })}
      />
      <Choice
        label="API"
        value={filter.api}
        choices={choicesOf(all, ({ supported_apis }) => supported_apis)}
        onChange={(api) => change({ api })}
      />
    </div>
  )
}

/** Keeps the filter in the address. */
function keepFilter({ search, provider, capability, api }: ModelFilter): void {
  replaceQuery({
    q: search || undefined,
    provider: provider || undefined,
    can: capability || undefined,
    api: api || undefined,
  })
}

function Choice(props: {
  readonly label: string
  readonly value: string
  readonly choices: readonly string[]
  readonly onChange: (value: string) => void
}) {
  const { label, value, choices, onChange } = props
  // A value of the address that no model has stays visible.
  const values = value === '' || choices.includes(value) ? choices : [value, ...choices]
  const options = [{ value: '', label: 'Any' }, ...values.map((one) => ({ value: one, label: one }))]
  return <SelectField label={label} value={value} options={options} onChange={onChange} />
}

/** A name that is not listed may be that of a disabled model: its page says why. */
function NoModels({ search, none }: { readonly search: string; readonly none: boolean }) {
  if (none)
    return (
      <Empty title="No models are enabled">
        <p>
          A model is enabled as soon as one of its providers has an API key. <code>weir check</code> says
          which ones are missing.
        </p>
      </Empty>
    )
  return (
    <Empty title="No enabled model matches">
      <p>Only enabled models are listed.</p>
      {search.trim() !== '' && (
        <p>
          <a href={routeHash('models', [search.trim()])}>
            Find out why <bdi>“{visibleText(search.trim())}”</bdi> is not enabled
          </a>
        </p>
      )}
    </Empty>
  )
}
