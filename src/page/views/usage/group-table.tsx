import { useMemo } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import { Money } from '../../components/facts.tsx'
import { Table } from '../../components/table.tsx'
import { type Column, column, countColumn } from '../../components/table-columns.tsx'
import { Section } from '../../components/view.tsx'
import { routeHash } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { queryOf as queryOfRequests } from '../filtered-period.ts'
import type { FilterName } from '../requests/request.ts'
import { valueText } from './chart-series.ts'
import { type Report, type Totals, totalsOf } from './report.ts'
import { filtered, filterNames, type Grouping, groupings } from './groupings.ts'
import { queryOf, type UsageQuery } from './usage-query.tsx'

/** The exact sums of each group, which leads to its own usage. */
export function GroupTable({ report, shown }: { readonly report: Report; readonly shown: UsageQuery }) {
  const { by, groups } = report
  const rows = useMemo(() => totalsOf(groups, by), [report])
  const { admin } = useSession()
  const canOpen = admin !== undefined && shown.everyone
  const columns = useMemo(
    () => [...by.map(valueColumn), costColumn, ...countColumns(canOpen ? shown : undefined)],
    [by, shown, canOpen],
  )
  const hasPlace = filtered.some((name) => by.includes(name))
  return (
    <Section title={`By ${namesOf(by)}`}>
      {by.includes('tag') && <p class="quiet">A request with several tags counts in each of them.</p>}
      <Table
        key={by.join()}
        label={`Usage by ${namesOf(by)}`}
        columns={columns}
        rows={rows}
        rowKey={({ key }) => key}
        initialSort={{ column: by.includes('error') ? 'failed' : 'cost', direction: 'descending' }}
        {...(hasPlace && { rowHref: ({ values }: Totals) => placeOf(values, shown) })}
      />
    </Section>
  )
}

function namesOf(by: readonly Grouping[]): string {
  const names = by.map((name) => groupings[name].replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()))
  return new Intl.ListFormat('en').format(names)
}

/** The usage of the values of a row, by the other groupings; undefined if one cannot be selected, like no project. */
function placeOf(values: Totals['values'], shown: UsageQuery): string | undefined {
  const { by } = shown
  const selected = filtered
    .filter((name) => by.includes(name))
    .map((name) => [name, values[by.indexOf(name)]])
  if (selected.some(([, value]) => !value)) return undefined
  const filters = { ...shown.filters, ...Object.fromEntries(selected) }
  const others = by.filter((name) => !(name in filterNames))
  const next = drillOrder.find((name) => !by.includes(name) && !(name in filters)) ?? 'api'
  return routeHash('usage', [], queryOf({ ...shown, filters, by: others.length > 0 ? others : [next] }))
}

/** The groupings by which a value is divided, one after the other. */
const drillOrder: readonly Grouping[] = ['api_key_id', 'model', 'user_id', 'session_id', 'provider']

function valueColumn(name: Grouping, index: number): Column<Totals> {
  const valueOf = ({ names }: Totals) => names[index] ?? null
  const render = (row: Totals) => (
    <bdi class={valueOf(row) === null ? 'quiet' : undefined} title={row.values[index] ?? undefined}>
      {valueText(name, valueOf(row))}
    </bdi>
  )
  return column(name, groupings[name], render, { sortValue: valueOf })
}

const costColumn = column<Totals>(
  'cost',
  'Cost',
  ({ cost }) => (cost === null ? '–' : <Money usd={formatUsd(cost)} />),
  { align: 'right', sortValue: ({ cost }) => cost },
)

/** The numbers of requests lead to the requests, if `shown` is the usage of an operator. */
function countColumns(shown: UsageQuery | undefined): readonly Column<Totals>[] {
  return [
    requestColumn('requests', 'Requests', shown, undefined),
    requestColumn('failed', 'Failed', shown, 'failed'),
    ...tokenColumns,
  ]
}

function requestColumn(
  id: 'requests' | 'failed',
  header: string,
  shown: UsageQuery | undefined,
  status: string | undefined,
): Column<Totals> {
  const counts = countColumn<Totals>(id, header, (row) => row[id])
  if (shown === undefined) return counts
  return {
    ...counts,
    render(row) {
      const query = row[id] > 0 ? requestsOf(row.values, shown) : undefined
      const text = counts.render(row)
      return query === undefined ? text : <a href={routeHash('requests', [], { ...query, status })}>{text}</a>
    },
  }
}

/** The query of the requests of a row; undefined if they cannot be listed, like those of a tag. */
function requestsOf(values: Totals['values'], { by, period, filters: shownFilters }: UsageQuery) {
  const selected = Object.entries(shownFilters) as (readonly [Grouping, string | undefined])[]
  const filters: Partial<Record<FilterName, string>> = {}
  for (const [name, value] of [...selected, ...by.map((name, index) => [name, values[index]] as const)]) {
    const filter = requestFilters[name]
    if (filter === undefined || value === null || value === undefined) return undefined
    filters[filter] = value
  }
  return queryOfRequests({ period, filters })
}

const requestFilters: Readonly<Partial<Record<Grouping, FilterName>>> = {
  model: 'model',
  project_id: 'project',
  api_key_id: 'key',
  provider: 'provider',
  user_id: 'user',
  session_id: 'session',
  error: 'error',
  organization_id: 'organization',
}

const tokenColumns: readonly Column<Totals>[] = [
  countColumn('input', 'Input', ({ inputTokens }) => inputTokens),
  countColumn('cached', 'Cached', ({ cachedTokens }) => cachedTokens),
  countColumn('output', 'Output', ({ outputTokens }) => outputTokens),
  countColumn('reasoning', 'Reasoning', ({ reasoningTokens }) => reasoningTokens),
]
