import { Button, FilterChip } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { replaceQuery } from '../../route.ts'

/** The query of the view, as in the address. */
export type UsageQuery = {
  readonly range: RangeName
  readonly by: Grouping
  readonly model: string | undefined
  readonly key: string | undefined
  /** The usage of all organizations, with the admin key. */
  readonly everyone: boolean
}

/** A period that ends now, and the buckets that it is shown in. */
type Range = {
  readonly label: string
  /** After “in the last”. */
  readonly past: string
  readonly seconds: number
  readonly width: '1m' | '1h' | '1d'
  /** The buckets of a page. Those that the period only touches are shown too. */
  readonly limit: number
}

/** The periods by their name in the address. */
export const ranges = {
  '1h': { label: '1 hour', past: 'hour', seconds: 3600, width: '1m', limit: 61 },
  '24h': { label: '24 hours', past: '24 hours', seconds: 86_400, width: '1h', limit: 25 },
  '7d': { label: '7 days', past: '7 days', seconds: 7 * 86_400, width: '1h', limit: 168 },
  '30d': { label: '30 days', past: '30 days', seconds: 30 * 86_400, width: '1d', limit: 31 },
} as const satisfies Readonly<Record<string, Range>>

/** The name of a range in the address. */
export type RangeName = keyof typeof ranges

/** A property to group usage by: its name in the API, and for people. */
export const groupings = {
  none: 'Nothing',
  model: 'Model',
  api_key_id: 'API key',
  provider: 'Provider',
  tag: 'Tag',
  user_id: 'User',
  api: 'API',
  organization_id: 'Organization',
} as const

/** The name of a grouping in the API and in the address. */
export type Grouping = keyof typeof groupings

/** Reads the query of the address: a day by model, unless it names another range or grouping. */
export function readQuery(query: URLSearchParams, everyone: boolean): UsageQuery {
  const by = nameIn(groupings, query.get('by')) ?? 'model'
  return {
    range: nameIn(ranges, query.get('range')) ?? '24h',
    by: by === 'organization_id' && !everyone ? 'none' : by,
    model: query.get('model') || undefined,
    key: query.get('key') || undefined,
    everyone,
  }
}

function nameIn<Table extends object>(table: Table, name: string | null): keyof Table | undefined {
  return name !== null && Object.hasOwn(table, name) ? (name as keyof Table) : undefined
}

/** The query of the address that shows this usage. */
export function queryOf({ range, by, model, key, everyone }: UsageQuery) {
  return { range, by, model, key, scope: everyone ? 'all' : undefined }
}

/** The range, the grouping and the filters, which are kept in the address. */
export function UsageControls(props: { readonly shown: UsageQuery; readonly canSwitch: boolean }) {
  const { shown, canSwitch } = props
  const change = (changed: Partial<UsageQuery>) => replaceQuery(queryOf({ ...shown, ...changed }))
  return (
    <div class="usage-controls">
      <RangeButtons selected={shown.range} onSelect={(range) => change({ range })} />
      <SelectField
        label="Group by"
        value={shown.by}
        options={groupingOptions(shown.everyone)}
        onChange={(by) => change({ by })}
      />
      {canSwitch && (
        <SelectField
          label="Usage of"
          value={shown.everyone ? 'all' : 'own'}
          options={scopes}
          onChange={(scope) => change({ everyone: scope === 'all' })}
        />
      )}
      {shown.model !== undefined && (
        <FilterChip name="Model" value={shown.model} onClear={() => change({ model: undefined })} />
      )}
      {shown.key !== undefined && (
        <FilterChip name="API key" value={shown.key} onClear={() => change({ key: undefined })} />
      )}
    </div>
  )
}

/** The choice of a range. */
export function RangeButtons(props: {
  readonly selected: RangeName
  readonly onSelect: (range: RangeName) => void
}) {
  return (
    <div class="segmented" role="group" aria-label="Range">
      {(Object.keys(ranges) as RangeName[]).map((name) => (
        <Button
          key={name}
          label={ranges[name].label}
          pressed={name === props.selected}
          onClick={() => props.onSelect(name)}
        />
      ))}
    </div>
  )
}

function groupingOptions(everyone: boolean) {
  return Object.entries(groupings)
    .filter(([name]) => everyone || name !== 'organization_id')
    .map(([name, label]) => ({ value: name as Grouping, label }))
}

const scopes = [
  { value: 'own', label: 'The organization of the key' },
  { value: 'all', label: 'All organizations' },
] as const
