import { useMemo, useState } from 'preact/hooks'
import { formatUsd } from '../../../lib/usd.ts'
import type { ApiClient } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Button, DownloadButton } from '../../components/button.tsx'
import { bucketTime, Chart } from '../../components/chart.tsx'
import { Figure, Money } from '../../components/facts.tsx'
import {
  formatCount,
  formatDuration,
  formatPercent,
  formatShort,
  numberLanguage,
} from '../../components/format.ts'
import { Empty, Loaded, ViewHeader } from '../../components/view.tsx'
import { type PageRoute, routeHash } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { useShortcut } from '../../shortcuts.tsx'
import { type ChartData, chartsOf, timesOf } from './chart-series.ts'
import { csvName, csvOf } from './csv.ts'
import { GroupTable } from './group-table.tsx'
import { periodText } from './period.ts'
import { grandTotal, loadReport, type Report, type Totals } from './report.ts'
import { queryOf, readQuery, UsageControls, type UsageQuery } from './usage-query.tsx'

/** The usage view: requests, tokens, cost, errors and latency over time. */
export function Usage({ query }: PageRoute) {
  const { client, everyone, canSwitch } = useUsageSource(query.get('scope') === 'all')
  const shown = readQuery(query, everyone)
  const [now, setNow] = useState(Date.now)
  const refresh = () => setNow(Date.now())
  // The period and the groupings are new objects each time that the address is read.
  const address = JSON.stringify(queryOf(shown))
  useShortcut('r', 'Refresh the usage', refresh)
  const report = useResource((signal) => loadReport(client, shown, now, signal), [client, address, now])
  return (
    <>
      <ViewHeader title="Usage">
        <CsvButton report={report.loading ? undefined : report.value} />
        <Button label="Refresh" icon="retry" shortcut="r" disabled={report.loading} onClick={refresh} />
      </ViewHeader>
      <div class="stack" aria-busy={report.loading}>
        <UsageControls shown={shown} canSwitch={canSwitch} now={now / 1000} />
        <Loaded resource={report} lines={16}>
          {(value) => <UsageReport report={value} shown={shown} />}
        </Loaded>
      </div>
    </>
  )
}

/** Disabled while there are no figures. */
function CsvButton({ report }: { readonly report: Report | undefined }) {
  if (report === undefined || grandTotal(report.total).requests === 0)
    return <Button label="Download CSV" icon="download" disabled />
  const file = () => ({ name: csvName(report), text: csvOf(report), type: 'text/csv;charset=utf-8' })
  return <DownloadButton label="Download CSV" file={file} />
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
  const chart = ({ unit, ...content }: ChartData, large: boolean) => (
    <Chart
      key={content.title}
      {...content}
      times={times}
      step={report.step}
      format={formats[unit]}
      whole={unit !== 'usd'}
      large={large}
    />
  )
  return (
    <>
      <Sums total={total} />
      <p class="quiet">{reportText(report, shown)}</p>
      <div class="charts large">{charts.slice(0, mainCharts).map((one) => chart(one, true))}</div>
      <div class="charts">{charts.slice(mainCharts).map((one) => chart(one, false))}</div>
      {report.by.length > 0 && <GroupTable report={report} shown={shown} />}
    </>
  )
}

/** The charts of the cost and of the requests are large. */
const mainCharts = 2

const usdFormat = new Intl.NumberFormat(numberLanguage, {
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

/** The cost and the requests are large, the rest is below. */
function Sums({ total }: { readonly total: Totals }) {
  const { requests, failed, cost, unpriced } = total
  return (
    <>
      <dl class="figures large">
        <Figure label="Cost" note={unpriced > 0 ? `${formatShort(unpriced)} unpriced` : ''}>
          {cost === null ? 'Unknown' : <Money usd={formatUsd(cost)} />}
        </Figure>
        <Figure label="Requests">{formatCount(requests)}</Figure>
      </dl>
      <dl class="figures">
        <Figure label="Failed" note={formatPercent(failed / requests)}>
          {formatCount(failed)}
        </Figure>
        <Figure label="Input tokens" note={`${formatShort(total.cachedTokens)} cached`}>
          <span title={formatCount(total.inputTokens)}>{formatShort(total.inputTokens)}</span>
        </Figure>
        <Figure label="Output tokens" note={`${formatShort(total.reasoningTokens)} reasoning`}>
          <span title={formatCount(total.outputTokens)}>{formatShort(total.outputTokens)}</span>
        </Figure>
      </dl>
    </>
  )
}

function reportText({ total: { usage }, step }: Report, { period }: UsageQuery): string {
  const days = step >= 86_400 || typeof period !== 'string' ? ' Days are those of UTC.' : ''
  const since = `since ${bucketTime(usage[0]?.start_time, step)}`
  return `All requests ${typeof period === 'string' ? since : periodText(period)}.${days}`
}

function NoUsage({ shown: { period, filters } }: { readonly shown: UsageQuery }) {
  const { api } = useSession()
  const advice = adviceFor(Object.keys(filters).length > 0, period === '30d')
  return (
    <Empty title={`No requests ${periodText(period)}`} text={advice}>
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
