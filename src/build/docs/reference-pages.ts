import { commonFlagsHelp } from '../../cli/command.ts'
import { commands, findCommand } from '../../cli/run.ts'
import { code, codeList, type Column, fenced, markdownTable, type Page, wrapped } from './page.ts'
import { customaryCodes } from '../../api/responses/render/render-response.ts'
import type { ErrorCodeDetails } from '../../lib/errors/error-code-details.ts'
import { errorCodeGroups } from '../../lib/errors/error-codes.ts'
import {
  type GatewayFigures,
  gatewayMetrics,
  processMetrics,
} from '../../observability/metrics/gateway-metrics.ts'
import { workerMetrics } from '../../cli/serve/workers/collect.ts'
import type { DescribedMetric } from '../../observability/metrics/prometheus.ts'
import { createRequestFamilies } from '../../observability/metrics/request-metrics.ts'
import { chooseModel, type ConnectCandidate, listedCandidate } from '../../cli/connect/models.ts'
import { type ConnectTool, exportLines, type ToolSettings } from '../../cli/connect/tool.ts'
import { connectTools } from '../../cli/connect/tools.ts'
import { catalog } from '../../config/catalog.ts'

/** The reference of commands, from their help texts. */
export const commandLinePage: Page = {
  path: 'docs/command-line.md',
  async regions() {
    return {
      'command-list': markdownTable(commands, [
        { title: 'Command', cell: ({ name }) => `[${code(`weir ${name}`)}](#weir-${name})` },
        { title: 'What it does', cell: ({ summary }) => summary },
      ]),
      'common-flags': fenced('text', commonFlagsHelp),
      commands: (await Promise.all(commands.map(commandSection))).join('\n\n'),
    }
  },
}

/** The help text of a command, without the flags that every command has. */
async function commandSection({ name }: (typeof commands)[number]): Promise<string> {
  const { usage } = await findCommand(name)
  return `### ${code(`weir ${name}`)}\n\n${fenced('text', usage.replace(commonFlagsHelp, ''))}`
}

/** The reference of error codes. */
export const errorsPage: Page = {
  path: 'docs/errors.md',
  regions: () => ({
    ...Object.fromEntries(
      Object.entries(errorCodeGroups).map(([name, group]) => [
        `${name}-codes`,
        markdownTable(Object.entries(group), columns),
      ]),
    ),
    'response-codes': responseCodeTable(),
  }),
}

type CodeRow = readonly [name: string, facts: ErrorCodeDetails]

const columns: readonly Column<CodeRow>[] = [
  { title: 'Status', cell: ([, { status }]) => String(status) },
  { title: 'Code', cell: ([name]) => code(name) },
  { title: 'Type', cell: ([, { type }]) => codeList(type) },
  { title: 'Cause', cell: ([, { cause }]) => cause },
  { title: 'Remedy', cell: ([, { remedy }]) => remedy },
  { title: 'SDKs retry', cell: ([, { retried }]) => (retried ? 'yes' : 'no') },
]

/** The codes that the `error` of a response has instead of those of the gateway. */
function responseCodeTable(): string {
  return markdownTable(
    [...customaryCodes],
    [
      { title: 'Code of the gateway', cell: ([own]) => code(own) },
      { title: 'Code in `response.error`', cell: ([, customary]) => code(customary) },
    ],
  )
}

/** The reference of metrics. */
export const metricsPage: Page = {
  path: 'docs/metrics.md',
  regions: () => ({
    'request-metrics': metricTable(Object.values(createRequestFamilies())),
    'gateway-metrics': metricTable(gatewayMetrics(noFigures)),
    'worker-metrics': metricTable(workerMetrics({ workers: () => 0, restarts: () => 0 })),
    'process-metrics': metricTable(processMetrics),
  }),
}

function metricTable(metrics: readonly DescribedMetric[]): string {
  return markdownTable(metrics, [
    { title: 'Metric', cell: ({ name }) => code(name) },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Labels', cell: ({ labels = [] }) => codeList(labels) },
    { title: 'Meaning', cell: ({ help }) => help },
  ])
}

/** Only the descriptions of the metrics are read here. */
const noFigures: GatewayFigures = {
  inFlight: () => ({ requests: 0, calls: 0, streams: 0 }),
  openCircuits: () => [],
  database: () => ({ waiting: 0, commits: 0, seconds: 0, failed: 0 }),
  droppedLines: () => 0,
  droppedSpans: () => 0,
  memory: () => 0,
  queues: () => [],
  runs: () => ({ queued: 0, running: 0 }),
  processes: () => 1,
}

/** The settings of each tool, as `weir connect` prints them. */
export const clientsPage: Page = {
  path: 'docs/clients.md',
  regions: () => Object.fromEntries(connectTools.map((tool) => [tool.name, settingsMarkdown(tool)])),
}

/** The address of the page's examples: the default of `weir serve`. */
const exampleOrigin = 'http://127.0.0.1:9347'
/** The models of the page's examples. */
const exampleModels = ['openai/gpt-6-luna', 'anthropic/claude-sonnet-5-5', 'anthropic/claude-haiku-5-5']

function settingsMarkdown(tool: ConnectTool): string {
  const choice = chooseModel(tool, exampleModels.flatMap(catalogModel), { now: 0 })
  const settings = tool.settings({ origin: exampleOrigin, ...choice })
  const blocks = [
    fence('sh', shellLines(settings)),
    ...settings.files.flatMap(({ path, format, content }) => [`\`${path}\`:`, fence(format, content)]),
    fence('sh', settings.command),
    settings.notes.map((note) => wrapped(`- ${note}`, '  ')).join('\n'),
  ]
  const text = blocks.filter((block) => block !== '').join('\n\n')
  // The blocks are in the form that the command prints, whatever the formatter prefers.
  return `<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->`
}

function shellLines(settings: ToolSettings): string {
  return [settings.install ?? '', exportLines(settings, undefined)].filter((line) => line !== '').join('\n')
}

function fence(language: string, text = ''): string {
  return text === '' ? '' : fenced(language, text)
}

function catalogModel(slug: string): ConnectCandidate[] {
  const model = catalog.models.find((model) => model.slug === slug)
  if (model === undefined || model.shutdown_date !== undefined)
    throw new Error(`The catalog has no model ${slug}, or it ends: choose another for the page.`)
  return listedCandidate({ ...model, id: slug, output_modalities: ['text'] })
}
