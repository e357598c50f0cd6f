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
  weir bench [--against URL]

Starts a gateway of its own, in an empty folder and in front of a provider that answers at once,
and measures calls directly and through it: what it adds to the time of a reply and to the time to
the first token, and what processor time a request and a streamed chunk take. Needs no key and no
network, changes nothing, and takes about ten seconds. On a terminal it shows how far it is.

Flags
  --against URL  measures the gateway there instead, with the key in WEIR_KEY and its model
                 weir/echo; a few thousand requests, which its limits count. What it adds is told
                 in comparison with GET /livez, and nothing of its processor time.

Examples
  weir bench
  WEIR_KEY=sk-weir-… weir bench --against http://10.0.0.5:9347

${commonFlagsHelp}`

/** `weir bench`. */
export const bench: Command = {
  name: 'bench',
  summary: 'measure what a gateway adds to a call, on this machine',
  usage,
  async run(args, context) {
    const { flags } = parseFlags(args, { command: 'bench', flags: { against: 'text' } })
    const { say: reportStep, end } = createStepReporter(
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

/** Milliseconds that it takes in all, about: for its progress. */
const localDurationMs = 12_000
const remoteDurationMs = 3500
const barWidth = 20

/** Says what is measured: on a terminal as progress in one line, elsewhere a line for each step, to programs nothing. */
function createStepReporter(
  context: CliContext,
  json: boolean,
  expectedMs: number,
): { readonly say: StepReporter; end(): void } {
  if (json || context.errTerminal === undefined) return { say: json ? () => {} : context.err, end() {} }
  const progress = createProgress(context)
  const startedAt = performance.now()
  const share = () => Math.min(0.99, (performance.now() - startedAt) / expectedMs)
  const say = (step: string) => progress.show(() => `${barText(share(), barWidth).padEnd(barWidth)}  ${step}`)
  return { say, end: progress.end }
}

async function measureLocal(say: StepReporter) {
  say('Starting a gateway …')
  await using gateway = await startBenchGateway()
  return await measure(gateway, say)
}

async function measureAgainst(against: string, environment: CliContext['environment'], say: StepReporter) {
  const url = URL.parse(against)
  if (!url?.protocol.startsWith('http'))
    throw new UsageError(
      `--against needs an address such as http://127.0.0.1:9347, not “${against}”. See weir bench --help.`,
    )
  const key = environment.WEIR_KEY
  if (!key) throw new UsageError('--against needs a key in WEIR_KEY. See weir bench --help.')
  return measureRemote({ url: url.origin, key }, say)
}
