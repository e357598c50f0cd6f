import { useMemo } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import { Money } from '../../components/facts.tsx'
import { Table } from '../../components/table.tsx'
import { type Column, countColumn } from '../../components/table-columns.tsx'
import { routeHash } from '../../route.ts'
import { valueText } from './chart-series.ts'
import { type Report, type Totals, totalsOf } from './report.ts'
import { filtered, filterNames, type Grouping, groupings } from './groupings.ts'
import { queryOf, type UsageQuery } from './usage-query.tsx'

/** The exact sums of each group, which leads to its own usage. */
export function GroupTable({ report, shown }: { readonly report: Report; readonly shown: UsageQuery }) {
  const { by, groups } = report
  const rows = useMemo(() => totalsOf(groups, by), [report])
  const columns = useMemo(() => [...by.map(valueColumn), ...sumColumns], [by])
  const hasPlace = filtered.some((name) => by.includes(name))
  return (
    <section class="stack" aria-labelledby="groups">
      <h2 id="groups">By {namesOf(by)}</h2>
      {by.includes('tag') && <p class="quiet">A request with several tags counts in each of them.</p>}
      <Table
        key={by.join()}
        label={`Usage by ${namesOf(by)}`}
        columns={columns}
        rows={rows}
        rowKey={({ values }) => JSON.stringify(values)}
        initialSort={{ column: by.includes('error') ? 'failed' : 'cost', direction: 'descending' }}
        {...(hasPlace && { rowHref: ({ values }: Totals) => placeOf(values, shown) })}
      />
    </section>
  )
}

function namesOf(by: readonly Grouping[]): string {
  const names = by.map((name) => groupings[name].replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()))
  return new Intl.ListFormat('en').format(names)
}

/** The usage of the values of a row, by the other groupings. */
function placeOf(values: Totals['values'], shown: UsageQuery): string {
  const { by } = shown
  const selected = filtered.flatMap((name) => {
    const value = values[by.indexOf(name)]
    return value ? [[name, value]] : []
  })
  const filters = { ...shown.filters, ...Object.fromEntries(selected) }
  const others = by.filter((name) => !(name in filterNames))
  const next = drillOrder.find((name) => !by.includes(name) && !(name in filters)) ?? 'api'
  return routeHash('usage', [], queryOf({ ...shown, filters, by: others.length > 0 ? others : [next] }))
}

/** What a value is divided into next. */
const drillOrder: readonly Grouping[] = ['api_key_id', 'model', 'user_id', 'session_id', 'provider']

function valueColumn(name: Grouping, index: number): Column<Totals> {
  const valueOf = ({ names }: Totals) => names[index] ?? null
  return {
    id: name,
    header: groupings[name],
    render: (row) => (
      <bdi class={valueOf(row) === null ? 'quiet' : undefined} title={row.values[index] ?? undefined}>
        {valueText(name, valueOf(row))}
      </bdi>
    ),
    sortValue: valueOf,
  }
}

const sumColumns: readonly Column<Totals>[] = [
  {
    id: 'cost',
    header: 'Cost',
    align: 'right',
    render: ({ cost }) => (cost === null ? '–' : <Money usd={formatUsd(cost)} />),
    sortValue: ({ cost }) => cost,
  },
  countColumn('requests', 'Requests', ({ requests }) => requests),
  countColumn('failed', 'Failed', ({ failed }) => failed),
  countColumn('input', 'Input', ({ inputTokens }) => inputTokens),
  countColumn('cached', 'Cached', ({ cachedTokens }) => cachedTokens),
  countColumn('output', 'Output', ({ outputTokens }) => outputTokens),
  countColumn('reasoning', 'Reasoning', ({ reasoningTokens }) => reasoningTokens),
]
