import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import {
  type BenchResult,
  type GatewayLatency,
  measure,
  measureRemote,
  type StepReporter,
} from '../bench/measure.ts'
import { startBenchGateway } from '../bench/gateway.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { type Column, createProgress, progressBar, rightColumn, table } from '../output.ts'
import type { AddedLatency } from '../bench/load.ts'

const usage = `Usage
  weir bench [--against URL[,URL…]]

Measures what the gateway adds to a request: the latency of a response and of the first token, and
the CPU time of a request and of a streamed chunk. It starts a gateway with an empty data folder in
front of a simulated provider, and sends requests both directly and through the gateway. It needs
no API key and no network, changes nothing, and takes about ten seconds.

Flags
  --against URL  measure a running gateway instead. The API key is read from WEIR_API_KEY, and the
                 model weir/echo must be enabled. A few thousand requests are sent, which count
                 toward the rate limits of the key's organization. Latency is compared with
                 GET /livez, and CPU time is not measured. With several addresses, separated by
                 commas, such as those of replicas, each request is sent to the next one.

Examples
  weir bench
  weir bench --json
  WEIR_API_KEY=sk-weir-… weir bench --against http://10.0.0.5:9347
  WEIR_API_KEY=sk-weir-… weir bench --against http://10.0.0.5:9347,http://10.0.0.6:9347

${commonFlagsHelp}`

/** `weir bench`. */
export const command: Command = {
  usage,
  run: subcommand('bench', { flags: { against: 'text' } }, async ({ flags, context, print }) => {
    // A proxy of the environment would be measured too, and could not reach this machine.
    process.env.NO_PROXY = process.env.no_proxy = '*'
    const { reportStep, end } = createStepReporter(
      context,
      flags.json === true,
      flags.against === undefined ? localDurationMs : remoteDurationMs,
    )
    const measurement =
      flags.against === undefined
        ? measureLocal(reportStep)
        : measureAgainst(flags.against, context.environment, reportStep)
    const result = await measurement.finally(end)
    print(result, benchText(result))
  }),
}

/** The approximate duration of a measurement, for its progress. */
const localDurationMs = 12_000
const remoteDurationMs = 3500

/** Reports each step: on a terminal as a progress bar, elsewhere as a line, with `--json` not at all. */
function createStepReporter(
  context: CliContext,
  json: boolean,
  expectedMs: number,
): { readonly reportStep: StepReporter; end(): void } {
  if (json || context.errTerminal === undefined)
    return { reportStep: json ? () => {} : context.err, end() {} }
  const progress = createProgress(context)
  const startedAt = performance.now()
  const share = () => Math.min(0.99, (performance.now() - startedAt) / expectedMs)
  const reportStep = (step: string) => progress.show(() => `${progressBar(share())}  ${step}`)
  return { reportStep, end: progress.end }
}

async function measureLocal(reportStep: StepReporter) {
  reportStep('Starting a gateway …')
  await using gateway = await startBenchGateway()
  return await measure(gateway, reportStep)
}

async function measureAgainst(
  against: string,
  environment: CliContext['environment'],
  reportStep: StepReporter,
) {
  const urls = against.split(',').map(originOf)
  const key = environment.WEIR_API_KEY
  if (!key) throw new UsageError('--against requires an API key in WEIR_API_KEY.', 'bench')
  return measureRemote({ urls, key }, reportStep)
}

function originOf(address: string): string {
  const url = URL.parse(address.trim())
  if (url?.protocol.startsWith('http')) return url.origin
  throw new UsageError(`--against must be a URL such as http://127.0.0.1:9347, not “${address}”.`, 'bench')
}

/** Formats the result as tables for the terminal. */
export function benchText({ milliseconds, processor_microseconds: cost, gateways }: BenchResult): string {
  const { reply, first_token } = milliseconds
  const rows: Row[] = [
    { name: 'response, p50', ...timesAt(reply, 'p50') },
    { name: 'response, p99', ...timesAt(reply, 'p99') },
    { name: 'first token, p50', ...timesAt(first_token, 'p50') },
    { name: 'first token, p99', ...timesAt(first_token, 'p99') },
  ]
  const times = table(rows, columns)
  if (gateways !== undefined) return `${times}\n\n${byGateway(gateways)}`
  if (cost === null) return times
  const { request, chunk } = cost
  return `${times}\n\nCPU time: ${request.toFixed(0)} µs per request, ${chunk.toFixed(1)} µs per streamed chunk.`
}

type Row = {
  readonly name: string
  readonly direct: number
  readonly through: number
  readonly added: number
}

function timesAt({ direct, through, added }: AddedLatency, at: 'p50' | 'p99') {
  return { direct: direct[at], through: through[at], added: added[at] }
}

const columns: readonly Column<Row>[] = [
  { title: 'MILLISECONDS', value: ({ name }) => name },
  rightColumn('DIRECT', ({ direct }) => direct.toFixed(3)),
  rightColumn('THROUGH', ({ through }) => through.toFixed(3)),
  rightColumn('ADDED', ({ added }) => added.toFixed(3)),
]

function byGateway(gateways: readonly GatewayLatency[]): string {
  const sentence = `The requests were sent to ${gateways.length} addresses in turn. In milliseconds, without subtraction:`
  return `${sentence}\n\n${table(gateways, gatewayColumns)}`
}

const gatewayColumns: readonly Column<GatewayLatency>[] = [
  { title: 'ADDRESS', value: ({ gateway }) => gateway },
  rightColumn('REQUESTS', ({ requests }) => String(requests)),
  rightColumn('RESPONSE P50', ({ milliseconds }) => milliseconds.reply.p50.toFixed(3)),
  rightColumn('P99', ({ milliseconds }) => milliseconds.reply.p99.toFixed(3)),
  rightColumn('FIRST TOKEN P50', ({ milliseconds }) => milliseconds.first_token.p50.toFixed(3)),
  rightColumn('P99', ({ milliseconds }) => milliseconds.first_token.p99.toFixed(3)),
]
