import { FilterChip } from '../../components/button.tsx'
import { SelectField } from '../../components/field.tsx'
import { replaceQuery } from '../../route.ts'
import { PeriodFields } from './period-fields.tsx'
import { filterNames, type Filters, filtered, type Grouping, groupings } from './groupings.ts'
import { addressOf, type Period, readPeriod } from './period.ts'

/** The query of the view, as in the address. */
export type UsageQuery = {
  readonly period: Period
  readonly by: readonly Grouping[]
  readonly filters: Filters
  /** The usage of all organizations, with the admin key. */
  readonly everyone: boolean
}

/** The most groupings of a report. */
const maxGroupings = 3

/** Reads the query of the address: a day by model, unless it names another period or other groupings. */
export function readQuery(query: URLSearchParams, everyone: boolean): UsageQuery {
  const names = (query.get('by') ?? 'model').split(',')
  return {
    period: readPeriod(query) ?? '24h',
    by: possible(names.filter(isGrouping), everyone),
    filters: Object.fromEntries(
      filtered.flatMap((name) => {
        const value = query.get(filterNames[name])
        return value ? [[name, value]] : []
      }),
    ),
    everyone,
  }
}

function isGrouping(name: string): name is Grouping {
  return Object.hasOwn(groupings, name)
}

/** The groupings that are possible together, in their order. */
function possible(names: readonly Grouping[], everyone: boolean): readonly Grouping[] {
  const by: Grouping[] = []
  for (const name of names) if (canAdd(name, by, everyone)) by.push(name)
  return by.slice(0, maxGroupings)
}

function canAdd(name: Grouping, by: readonly Grouping[], everyone: boolean): boolean {
  return !by.includes(name) && (name !== 'organization_id' || everyone)
}

/** The query of the address that shows this usage. */
export function queryOf({ period, by, filters, everyone }: UsageQuery) {
  const values = Object.fromEntries(filtered.map((name) => [filterNames[name], filters[name]]))
  return { ...addressOf(period), by: by.join() || 'none', ...values, scope: everyone ? 'all' : undefined }
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
      <PeriodFields period={period} now={now} onSelect={(selected) => change({ period: selected })} />
      <GroupingFields by={by} everyone={everyone} onChange={(names) => change({ by: names })} />
      {canSwitch && (
        <SelectField
          label="Usage of"
          value={everyone ? 'all' : 'own'}
          options={scopes}
          onChange={(scope) => change({ everyone: scope === 'all' })}
        />
      )}
      {filtered.map((name) => {
        const { [name]: value, ...others } = shown.filters
        const clear = () => change({ filters: others })
        return value && <FilterChip key={name} name={groupings[name]} value={value} onClear={clear} />
      })}
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
