import { useMemo } from 'preact/hooks'
import type { Model } from '../api/objects.ts'
import { loadList } from '../api/pages.ts'
import { useResource } from '../api/resource.ts'
import { Button, CodeBlock } from '../components/button.tsx'
import { Foreign } from '../components/facts.tsx'
import { SearchField, SelectField } from '../components/field.tsx'
import { formatCount } from '../components/format.ts'
import { Table } from '../components/table.tsx'
import { Empty, Loaded, ViewHeader } from '../components/view.tsx'
import { filterIn, type PageRoute, replaceQuery, routeHash } from '../route.ts'
import { useApi } from '../session.tsx'
import { capabilitiesOf, modelColumns } from './model.tsx'
import { ModelDetail } from './model-detail.tsx'

/** The models view: what can be requested, what it costs, and why a model is disabled. */
export function Models({ path, query }: PageRoute) {
  const slug = path.join('/')
  return slug === '' ? <ModelList query={query} /> : <ModelDetail key={slug} slug={slug} />
}

/** The filters of the list, as in the address; an empty text does not filter. */
const noFilter = { q: '', provider: '', can: '', api: '' }

type Filter = typeof noFilter
type Change = (changed: Partial<Filter>) => void

/** The list of the enabled models, with a filter that is kept in the address. */
function ModelList({ query }: { readonly query: URLSearchParams }) {
  const api = useApi()
  const models = useResource((signal) => loadList<Model>(api, '/v1/models', signal), [api])
  const { filter, change } = filterIn(query, noFilter)
  return (
    <>
      <ViewHeader title="Models" />
      <Loaded resource={models} lines={14}>
        {(all) => <FilteredModels all={all} filter={filter} change={change} />}
      </Loaded>
    </>
  )
}

type FilterProps = { readonly all: readonly Model[]; readonly filter: Filter; readonly change: Change }

function FilteredModels(props: FilterProps) {
  const { all, filter } = props
  const shown = useMemo(() => filterModels(all, filter), [all, ...Object.values(filter)])
  return (
    <div class="stack">
      <Filters {...props} />
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
        empty={<NoModels search={filter.q.trim()} none={all.length === 0} />}
      />
    </div>
  )
}

/** The models that have every word of the search in a name, and everything else of the filter. */
function filterModels(models: readonly Model[], filter: Filter): readonly Model[] {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean)
  return models.filter((model) => {
    const { slug, display_name, provider = '', author, owned_by } = model
    const searched = [slug, display_name, provider, author, owned_by].join(' ').toLowerCase()
    return (
      words.every((word) => searched.includes(word)) &&
      (filter.provider === '' || provider === filter.provider) &&
      (filter.can === '' || capabilitiesOf(model).includes(filter.can)) &&
      (filter.api === '' || model.supported_apis.includes(filter.api))
    )
  })
}

function Filters({ all, filter, change }: FilterProps) {
  return (
    <div class="filters">
      <SearchField
        what="models"
        placeholder="Name, author or provider"
        value={filter.q}
        onInput={(q) => change({ q })}
      />
      <Choice
        label="Provider"
        value={filter.provider}
        values={all.flatMap(({ provider = '' }) => (provider === '' ? [] : [provider]))}
        onChange={(provider) => change({ provider })}
      />
      <Choice
        label="Capability"
        value={filter.can}
        values={all.flatMap(capabilitiesOf)}
        onChange={(can) => change({ can })}
      />
      <Choice
        label="API"
        value={filter.api}
        values={all.flatMap(({ supported_apis }) => supported_apis)}
        onChange={(api) => change({ api })}
      />
    </div>
  )
}

function Choice(props: {
  readonly label: string
  readonly value: string
  /** The values of all models, in any order. */
  readonly values: readonly string[]
  readonly onChange: (value: string) => void
}) {
  const { label, value, onChange } = props
  const choices = [...new Set(props.values)].toSorted()
  // A value of the address that no model has stays visible.
  const shown = value === '' || choices.includes(value) ? choices : [value, ...choices]
  const options = [{ value: '', label: 'Any' }, ...shown.map((one) => ({ value: one, label: one }))]
  return <SelectField label={label} value={value} options={options} onChange={onChange} />
}

function countText(shown: number, all: number): string {
  const models = all === 1 ? 'enabled model' : 'enabled models'
  return shown === all
    ? `${formatCount(all)} ${models}.`
    : `${formatCount(shown)} of ${formatCount(all)} ${models}.`
}

/** A name that is not listed may be that of a disabled model: its page says why. */
function NoModels({ search, none }: { readonly search: string; readonly none: boolean }) {
  if (none)
    return (
      <Empty title="No models are enabled">
        <p>A model is enabled as soon as one of its providers has an API key. This says which are missing:</p>
        <CodeBlock code="weir check" label="command" />
      </Empty>
    )
  return (
    <Empty title="No enabled model matches" text="Only enabled models are listed.">
      <Button label="Remove the filters" icon="close" onClick={() => replaceQuery({})} />
      {search !== '' && (
        <p>
          <a href={routeHash('models', [search])}>
            Find out why <Foreign text={`“${search}”`} /> is not enabled
          </a>
        </p>
      )}
    </Empty>
  )
}
