import { measureOther } from '../bench/against.ts'
import { ownGateway } from '../bench/gateway.ts'
import { measure, type Say } from '../bench/measure.ts'
import { benchText } from '../bench/report.ts'
import { barText } from '../bar.ts'
import { type Command, commonFlagsHelp, parseFlags, UsageError, type CliContext } from '../args.ts'
import { jsonText } from '../output.ts'
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
  async run(args, world) {
    const { flags } = parseFlags(args, { command: 'bench', flags: { against: 'text' } })
    const { say, end } = stepsOf(world, flags.json === true, flags.against === undefined ? ownMs : otherMs)
    const measuring =
      flags.against === undefined ? measureOwn(say) : measureThere(flags.against, world.environment, say)
    const figures = await measuring.finally(end)
    world.out(flags.json ? jsonText(figures) : benchText(figures))
    return 0
  },
}

/** Milliseconds that it takes in all, about: for its progress. */
const ownMs = 12_000
const otherMs = 3500
const barWidth = 20

/** Says what is measured: on a terminal as progress in one line, elsewhere a line for each step, to programs nothing. */
function stepsOf(world: CliContext, json: boolean, expectedMs: number): { readonly say: Say; end(): void } {
  if (json || world.errTerminal === undefined) return { say: json ? () => {} : world.err, end() {} }
  const progress = createProgress(world)
  const startedAt = performance.now()
  const share = () => Math.min(0.99, (performance.now() - startedAt) / expectedMs)
  const say = (step: string) => progress.show(() => `${barText(share(), barWidth).padEnd(barWidth)}  ${step}`)
  return { say, end: progress.end }
}

async function measureOwn(say: Say) {
  say('Starting a gateway …')
  await using gateway = await ownGateway()
  return await measure(gateway, say)
}

async function measureThere(against: string, environment: CliContext['environment'], say: Say) {
  const url = URL.parse(against)
  if (!url?.protocol.startsWith('http'))
    throw new UsageError(
      `--against needs an address such as http://127.0.0.1:9347, not “${against}”. See weir bench --help.`,
    )
  const key = environment.WEIR_KEY
  if (!key) throw new UsageError('--against needs a key in WEIR_KEY. See weir bench --help.')
  return measureOther({ url: url.origin, key }, say)
}
