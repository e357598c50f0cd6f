import { useMemo } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import { formatCount } from '../../components/format.ts'
import { Money } from '../../components/money.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { routeHash } from '../../routing/route.ts'
import { noValueLabel } from './chart-series.ts'
import { groupings } from './grouping.ts'
import type { Report } from './report.ts'
import { type Totals, totalsOf } from './totals.ts'
import { queryOf, type UsageQuery } from './usage-query.ts'

/** The exact sums of each group. A model or a key leads to its own usage. */
export function GroupTable({ report, shown }: { readonly report: Report; readonly shown: UsageQuery }) {
  const { by, groups } = report
  const rows = useMemo(() => totalsOf(groups, by), [report])
  const columns = useMemo(() => [valueColumn(groupings[by]), ...sumColumns], [by])
  const filter = filters[by]
  return (
    <section class="stack" aria-labelledby="groups">
      <h2 id="groups">
        By {groupings[by] === 'API' ? 'API' : groupings[by].toLowerCase().replace('api', 'API')}
      </h2>
      {by === 'tag' && <p class="quiet">A request with several tags counts in each of them.</p>}
      <Table
        label={`Usage by ${groupings[by]}`}
        columns={columns}
        rows={rows}
        rowKey={({ value }) => String(value)}
        initialSort={{ column: 'cost', direction: 'descending' }}
        {...(filter && {
          rowHref: ({ value }: Totals) =>
            routeHash('usage', [], queryOf({ ...shown, ...filter(value ?? undefined) })),
        })}
      />
    </section>
  )
}

/** What a row leads to. */
const filters: Readonly<Record<string, (value: string | undefined) => Partial<UsageQuery>>> = {
  model: (model) => ({ model, by: 'api_key_id' }),
  api_key_id: (key) => ({ key, by: 'model' }),
}

function valueColumn(header: string): Column<Totals> {
  return {
    id: 'value',
    header,
    render: ({ value }) =>
      value === null ? <span class="quiet">{noValueLabel}</span> : <bdi>{visibleText(value)}</bdi>,
    sortValue: ({ value }) => value,
  }
}

const sumColumns: readonly Column<Totals>[] = [
  countColumn('requests', 'Requests', ({ requests }) => requests),
  countColumn('failed', 'Failed', ({ failed }) => failed),
  countColumn('input', 'Input', ({ inputTokens }) => inputTokens),
  countColumn('cached', 'Cached', ({ cachedTokens }) => cachedTokens),
  countColumn('output', 'Output', ({ outputTokens }) => outputTokens),
  countColumn('reasoning', 'Reasoning', ({ reasoningTokens }) => reasoningTokens),
  {
    id: 'cost',
    header: 'Cost',
    align: 'right',
    render: ({ cost }) => (cost === null ? '–' : <Money usd={formatUsd(cost)} />),
    sortValue: ({ cost }) => cost,
  },
]

function countColumn(id: string, header: string, valueOf: (totals: Totals) => number): Column<Totals> {
  return {
    id,
    header,
    align: 'right',
    render: (totals) => formatCount(valueOf(totals)),
    sortValue: valueOf,
  }
}
