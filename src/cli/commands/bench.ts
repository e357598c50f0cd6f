import { commonFlagsHelp, parseFlags } from '../args.ts'
import { measureRemote } from '../bench/measure-remote.ts'
import { startBenchGateway } from '../bench/gateway.ts'
import { measure, type StepReporter } from '../bench/measure.ts'
import { benchText } from '../bench/report.ts'
import type { Command } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { barText, jsonText } from '../output.ts'
import { createProgress } from '../progress.ts'

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
export const bench: Command = {
  name: 'bench',
  summary: 'measure the latency and CPU time that the gateway adds',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, { command: 'bench', flags: { against: 'text' } })
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
    context.out(flags.json ? jsonText(result) : benchText(result))
    return 0
  },
}

/** The approximate duration of a measurement, for its progress. */
const localDurationMs = 12_000
const remoteDurationMs = 3500
const barWidth = 20

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
  const reportStep = (step: string) =>
    progress.show(() => `${barText(share(), barWidth).padEnd(barWidth)}  ${step}`)
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
  if (!key)
    throw new UsageError('--against requires an API key in WEIR_API_KEY. For help, run: weir bench --help')
  return measureRemote({ urls, key }, reportStep)
}

function originOf(address: string): string {
  const url = URL.parse(address.trim())
  if (url?.protocol.startsWith('http')) return url.origin
  throw new UsageError(
    `--against must be a URL such as http://127.0.0.1:9347, not “${address}”. For help, run: weir bench --help`,
  )
}
