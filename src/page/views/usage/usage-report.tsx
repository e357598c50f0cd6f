import { useMemo } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import { Chart } from '../../components/chart.tsx'
import { formatCount, formatDuration, formatShort } from '../../components/format.ts'
import { Figure } from '../../components/figure.tsx'
import { Money } from '../../components/money.tsx'
import { Empty } from '../../components/states.tsx'
import { formatTime } from '../../components/time.tsx'
import { routeHash } from '../../routing/route.ts'
import { useSession } from '../../session/session.tsx'
import { type ChartData, chartsOf, timesOf } from './chart-series.ts'
import { GroupTable } from './group-table.tsx'
import { ranges } from './range.ts'
import type { Report } from './report.ts'
import { grandTotal, type Totals } from './totals.ts'
import type { UsageQuery } from './usage-query.ts'

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

function NoUsage({ shown: { range, model, key } }: { readonly shown: UsageQuery }) {
  const { api } = useSession()
  const advice = adviceFor(model !== undefined || key !== undefined, range === '30d')
  return (
    <Empty title={`No requests in the last ${ranges[range].past}`}>
      {advice !== '' && <p>{advice}</p>}
      {api !== undefined && (
        <p>
          <a href={routeHash('playground')}>Send a request in the Playground</a>
        </p>
      )}
    </Empty>
  )
}

function adviceFor(filtered: boolean, longest: boolean): string {
  if (filtered) return longest ? 'Remove the filter.' : 'Remove the filter or choose a longer range.'
  return longest ? '' : 'Choose a longer range.'
}
