import { useMemo, useState } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import type { ApiClient } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Button } from '../../components/button.tsx'
import { Chart } from '../../components/chart.tsx'
import { Figure, Foreign, Money } from '../../components/facts.tsx'
import { formatCount, formatDuration, formatShort, formatTime } from '../../components/format.ts'
import { Table } from '../../components/table.tsx'
import { type Column, countColumn } from '../../components/table-columns.tsx'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, routeHash } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { type ChartData, chartsOf, noValueLabel, timesOf } from './chart-series.ts'
import { grandTotal, loadReport, type Report, type Totals, totalsOf } from './report.ts'
import { groupings, queryOf, ranges, readQuery, UsageControls, type UsageQuery } from './usage-query.tsx'

/** The usage view: requests, tokens, cost, errors and latency over time. */
export function Usage({ query }: PageRoute) {
  const { client, everyone, canSwitch } = useUsageSource(query.get('scope') === 'all')
  const shown = readQuery(query, everyone)
  const [now, setNow] = useState(Date.now)
  const refresh = () => setNow(Date.now())
  useShortcut('r', 'Refresh the usage', refresh)
  const report = useResource(
    (signal) => loadReport(client, shown, now, signal),
    [client, shown.range, shown.by, shown.model, shown.key, now],
  )
  return (
    <>
      <ViewHeader title="Usage">
        <Button label="Refresh" icon="retry" shortcut="r" disabled={report.loading} onClick={refresh} />
      </ViewHeader>
      <div class="stack" aria-busy={report.loading}>
        <UsageControls shown={shown} canSwitch={canSwitch} />
        <Loaded resource={report} lines={16}>
          {(value) => <UsageReport report={value} shown={shown} />}
        </Loaded>
      </div>
    </>
  )
}

/** Whose usage is shown: that of the organization of the key, or with the admin key that of all. */
function useUsageSource(all: boolean): {
  readonly client: ApiClient
  readonly everyone: boolean
  readonly canSwitch: boolean
} {
  const { api, admin } = useSession()
  const everyone = admin !== undefined && (all || api === undefined)
  const client = everyone ? admin : api
  if (client === undefined) throw new Error('This view requires an API key or the admin key.')
  return { client, everyone, canSwitch: api !== undefined && admin !== undefined }
}

/** The sums, the charts, and the table of the groups of a report. */
export function UsageReport({ report, shown }: { readonly report: Report; readonly shown: UsageQuery }) {
  const times = useMemo(() => timesOf(report), [report])
  const charts = useMemo(() => chartsOf(report), [report])
  const total = useMemo(() => grandTotal(report.total), [report])
  if (total.requests === 0) return <NoUsage shown={shown} />
  return (
    <>
      <Sums total={total} />
      <p class="quiet">{periodText(report, shown)}</p>
      <div class="charts">
        {charts.map(({ title, unit, kind, series }) => (
          <Chart
            key={title}
            title={title}
            times={times}
            series={series}
            format={formats[unit]}
            {...(kind && { kind })}
          />
        ))}
      </div>
      {report.by !== 'none' && <GroupTable report={report} shown={shown} />}
    </>
  )
}

const usdFormat = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  maximumSignificantDigits: 4,
})

const formats: Readonly<Record<ChartData['unit'], (value: number) => string>> = {
  count: formatShort,
  usd: (usd) => usdFormat.format(usd),
  duration: formatDuration,
}

function Sums({ total }: { readonly total: Totals }) {
  const { requests, failed, cost, unpriced } = total
  return (
    <dl class="figures">
      <Figure label="Requests">{formatCount(requests)}</Figure>
      <Figure label="Failed" note={percentText(failed, requests)}>
        {formatCount(failed)}
      </Figure>
      <Figure label="Input tokens" note={`${formatShort(total.cachedTokens)} cached`}>
        <span title={formatCount(total.inputTokens)}>{formatShort(total.inputTokens)}</span>
      </Figure>
      <Figure label="Output tokens" note={`${formatShort(total.reasoningTokens)} reasoning`}>
        <span title={formatCount(total.outputTokens)}>{formatShort(total.outputTokens)}</span>
      </Figure>
      <Figure label="Cost" note={unpriced > 0 ? `${formatShort(unpriced)} unpriced` : ''}>
        {cost === null ? 'Unknown' : <Money usd={formatUsd(cost)} />}
      </Figure>
    </dl>
  )
}

function percentText(part: number, whole: number): string {
  return new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(part / whole)
}

function periodText({ total: { usage } }: Report, { range }: UsageQuery): string {
  const start = formatTime(usage[0]?.start_time ?? 0)
  const days = ranges[range].width === '1d' ? ' Days are those of UTC.' : ''
  return `All requests since ${start}.${days}`
}

/** The exact sums of each group. A model or a key leads to its own usage. */
function GroupTable({ report, shown }: { readonly report: Report; readonly shown: UsageQuery }) {
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

/** The address that a row leads to. */
const filters: Readonly<Record<string, (value: string | undefined) => Partial<UsageQuery>>> = {
  model: (model) => ({ model, by: 'api_key_id' }),
  api_key_id: (key) => ({ key, by: 'model' }),
}

function valueColumn(header: string): Column<Totals> {
  return {
    id: 'value',
    header,
    render: ({ value }) =>
      value === null ? <span class="quiet">{noValueLabel}</span> : <Foreign text={value} />,
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

function NoUsage({ shown: { range, model, key } }: { readonly shown: UsageQuery }) {
  const { api } = useSession()
  const advice = adviceFor(model !== undefined || key !== undefined, range === '30d')
  return (
    <Empty title={`No requests in the last ${ranges[range].past}`} text={advice}>
      {api === undefined ? (
        <a href={routeHash('keys')}>Create an API key to send requests with</a>
      ) : (
        <a href={routeHash('playground')}>Send a request in the Playground</a>
      )}
    </Empty>
  )
}

function adviceFor(filtered: boolean, longest: boolean): string {
  if (filtered) return longest ? 'Remove the filter.' : 'Remove the filter or choose a longer range.'
  return longest ? '' : 'Choose a longer range.'
}
