import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startApp } from '../support/app.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'
import { anchorsOf, parsePage } from './support/markdown-page.ts'
import { labelsByMetric, parseExpression } from './support/promql.ts'

type Rule = { alert: string; expr: string; annotations: Record<string, string>; labels: { severity: string } }
type Panel = { title: string; targets?: { expr: string }[] }

const read = (path: string) => Bun.file(join(projectFolder, path)).text()
const alertFile = Bun.YAML.parse(await read('deploy/prometheus/alerts.yaml')) as {
  groups: { rules: Rule[] }[]
}
const rules = alertFile.groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(await read('deploy/grafana/dashboard.json')) as { panels: Panel[] }
const troubleshooting = await read('docs/troubleshooting.md')
const monitoring = await read('docs/monitoring.md')

const documented = [...monitoring.matchAll(/^```promql\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
  block.split(/\n\s*\n|^#.*$/m).filter((text) => text.trim() !== ''),
)

const expressions = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, index) => [`panel ${title} ${index}`, expr] as const),
  ),
  ...documented.map((expr, index) => [`docs/monitoring.md ${index}`, expr] as const),
]

/** Added by Prometheus when it reads the metrics. */
const addedMetrics = new Set(['up'])
const addedLabels = new Set(['job', 'instance'])

/** The metrics of a gateway that has served, rejected and failed requests, so that none of them is without a value. */
async function busyGatewayMetrics(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const down = {
    kind: 'openai-compatible',
    base_url: 'http://127.0.0.1:1/v1',
    api_key: 'sk-provider-0123456789',
  }
  const routes = [{ provider: 'down', model: 'river-1' }]
  await using app = await startApp({
    settings: {
      providers: { down, echo: {} },
      models: [{ slug: 'acme/river', routes }],
      retries: { attempts: 0 },
    },
  })
  const messages = [{ role: 'user', content: 'Say several words, please.' }]
  await (await app.chat({ model: 'weir/echo', messages, stream: true })).text()
  await (await app.chat({ model: 'acme/river', messages })).text()
  await (await app.request('/v1/models', { headers: { authorization: 'Bearer wrong' } })).text()
  return labelsByMetric(await (await app.request('/metrics')).text())
}

const metrics = await busyGatewayMetrics()

test('a busy gateway shows metrics of every family', () => {
  expect([...metrics.keys()].filter((name) => name.startsWith('gen_ai_')).length).toBeGreaterThan(10)
  expect([...(metrics.get('weir_breaker_open') ?? [])]).toEqual(['provider', 'model'])
})

describe('an expression of the alerts, the dashboard or the documentation uses metrics and labels that exist', () => {
  test.each(expressions)('%s', (_, expr) => {
    const { uses, groupedBy } = parseExpression(expr)
    expect(uses.length).toBeGreaterThan(0)
    for (const { metric, labels } of uses) {
      if (addedMetrics.has(metric)) continue
      const known = metrics.get(metric)
      expect([metric, known !== undefined]).toEqual([metric, true])
      expect(labels.filter((label) => !known?.has(label) && !addedLabels.has(label))).toEqual([])
    }
    const usedLabels = uses.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])])
    expect(groupedBy.filter((label) => !usedLabels.includes(label) && !addedLabels.has(label))).toEqual([])
  })
})

test('the outcomes, errors, reasons and kinds that expressions select are those of the program', async () => {
  const source = (await sourceFiles('src')).map(({ text }) => text).join('\n')
  const selected = expressions
    .flatMap(([, expr]) => parseExpression(expr).values)
    .filter(([label]) => ['outcome', 'error', 'kind', 'error_type', 'gen_ai_token_type'].includes(label))
  const unknown = selected.filter(([, value]) => !new RegExp(`\\b${value}\\b`).test(source))
  expect(selected.length).toBeGreaterThan(10)
  expect(unknown).toEqual([])
})

test('every metric of the gateway is in the dashboard', () => {
  const used = new Set(
    dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => parseExpression(expr).uses.map(({ metric }) => familyOf(metric))),
    ),
  )
  const missing = new Set([...metrics.keys()].map(familyOf)).difference(used)
  expect([...missing]).toEqual([])
})

test('every alert has a severity, a summary and a section of the troubleshooting page', () => {
  const anchors = anchorsOf(parsePage('docs/troubleshooting.md', troubleshooting))
  expect(rules.length).toBeGreaterThan(15)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, labels, annotations } of rules) {
    const [page, anchor = ''] = annotations['runbook_url']?.split('#') ?? []
    expect([alert, page?.endsWith('/docs/troubleshooting.md'), anchors.has(anchor)]).toEqual([
      alert,
      true,
      true,
    ])
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(annotations['summary']).toEndWith('.')
  }
})

describe('the names of an expression are found', () => {
  test.each([
    ['sum by (a, b) (rate(m_total{c="x|y", d!~"z"}[5m])) > 2e9', [['m_total', 'c', 'd']], ['a', 'b']],
    ['m / on (a) group_left n', [['m'], ['n']], ['a']],
    ['histogram_quantile(0.9, sum by (le) (rate(m_bucket[$__rate_interval])))', [['m_bucket']], ['le']],
    ['time() - m or vector(0)', [['m']], []],
  ])('%s', (expr, expectedUses, expectedGrouping) => {
    const { uses, groupedBy } = parseExpression(expr)
    expect(uses.map(({ metric, labels }) => [metric, ...labels])).toEqual(expectedUses)
    expect(groupedBy).toEqual(expectedGrouping)
  })
})

function familyOf(metric: string): string {
  return metric.replace(/_(bucket|sum|count)$/, '')
}
