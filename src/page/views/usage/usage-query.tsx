import { FilterChip } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { replaceQuery } from '../../route.ts'
import { DayFields, RangeButtons } from './period-fields.tsx'
import { type Period, type RangeName, ranges, readDays } from './period.ts'

/** The query of the view, as in the address. */
export type UsageQuery = {
  readonly period: Period
  readonly by: readonly Grouping[]
  readonly model: string | undefined
  readonly key: string | undefined
  /** The usage of all organizations, with the admin key. */
  readonly everyone: boolean
}

/** A property to group usage by: its name in the API, and for people. */
export const groupings = {
  model: 'Model',
  api_key_id: 'API key',
  provider: 'Provider',
  tag: 'Tag',
  user_id: 'User',
  api: 'API',
  error: 'Error',
  organization_id: 'Organization',
} as const

/** The name of a grouping in the API and in the address. */
export type Grouping = keyof typeof groupings

/** The most groupings of a report. */
const maxGroupings = 3
/** A report has one of these at most. */
const labels: readonly Grouping[] = ['tag', 'user_id', 'error']

/** Reads the query of the address: a day by model, unless it names another period or other groupings. */
export function readQuery(query: URLSearchParams, everyone: boolean): UsageQuery {
  const names = (query.get('by') ?? 'model').split(',')
  return {
    period: readDays(query.get('from'), query.get('to')) ?? nameIn(ranges, query.get('range')) ?? '24h',
    by: possible(
      names.flatMap((name) => nameIn(groupings, name) ?? []),
      everyone,
    ),
    model: query.get('model') || undefined,
    key: query.get('key') || undefined,
    everyone,
  }
}

function nameIn<Table extends object>(table: Table, name: string | null): keyof Table | undefined {
  return name !== null && Object.hasOwn(table, name) ? (name as keyof Table) : undefined
}

/** The groupings that are possible together, in their order. */
function possible(names: readonly Grouping[], everyone: boolean): readonly Grouping[] {
  const by: Grouping[] = []
  for (const name of names) if (canAdd(name, by, everyone)) by.push(name)
  return by.slice(0, maxGroupings)
}

function canAdd(name: Grouping, by: readonly Grouping[], everyone: boolean): boolean {
  if (by.includes(name) || (name === 'organization_id' && !everyone)) return false
  return !labels.includes(name) || !by.some((other) => labels.includes(other))
}

/** The query of the address that shows this usage. */
export function queryOf({ period, by, model, key, everyone }: UsageQuery) {
  const days = typeof period === 'string' ? { range: period } : { from: period.first, to: period.last }
  return { ...days, by: by.join() || 'none', model, key, scope: everyone ? 'all' : undefined }
}

/** The period, the groupings and the filters, which are kept in the address. */
export function UsageControls(props: {
  readonly shown: UsageQuery
  readonly canSwitch: boolean
  /** Unix seconds. */
  readonly now: number
}) {
  const { shown, canSwitch, now } = props
  const { period, by, everyone } = shown
  const change = (changed: Partial<UsageQuery>) => replaceQuery(queryOf({ ...shown, ...changed }))
  return (
    <div class="usage-controls">
      <RangeButtons
        selected={typeof period === 'string' ? period : undefined}
        onSelect={(range: RangeName) => change({ period: range })}
      />
      <DayFields period={period} now={now} onSelect={(days) => change({ period: days })} />
      <GroupingFields by={by} everyone={everyone} onChange={(names) => change({ by: names })} />
      {canSwitch && (
        <SelectField
          label="Usage of"
          value={everyone ? 'all' : 'own'}
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

const fieldLabels = ['Group by', 'Then by', 'And by']

/** A field for each grouping, and one for the next. */
function GroupingFields(props: {
  readonly by: readonly Grouping[]
  readonly everyone: boolean
  readonly onChange: (by: readonly Grouping[]) => void
}) {
  const { by, everyone, onChange } = props
  const count = Math.min(by.length + 1, maxGroupings)
  return fieldLabels.slice(0, count).map((label, index) => {
    const others = by.toSpliced(index, 1)
    const names = (Object.keys(groupings) as Grouping[]).filter((name) => canAdd(name, others, everyone))
    return (
      <SelectField
        key={label}
        label={label}
        value={by[index] ?? 'none'}
        options={[
          { value: 'none', label: 'Nothing' },
          ...names.map((value) => ({ value, label: groupings[value] })),
        ]}
        onChange={(name: Grouping | 'none') =>
          onChange(by.toSpliced(index, 1, ...(name === 'none' ? [] : [name])))
        }
      />
    )
  })
}

const scopes = [
  { value: 'own', label: 'The organization of the key' },
  { value: 'all', label: 'All organizations' },
] as const
