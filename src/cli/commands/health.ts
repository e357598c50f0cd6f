import { loadSettings } from '../../config/load.ts'
import { parseDuration } from '../../config/units.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { CommandError, UsageError } from '../errors.ts'
import type { Settings } from '../../config/settings.ts'
import { fieldsOf, parseJson, textOf } from '../../lib/json/json.ts'
import { causeOf } from '../../lib/log.ts'
import { errorCode } from '../../lib/platform-failure.ts'
import { directGet } from '../running-gateway.ts'

const usage = `Usage
  weir health [--host HOST] [--port PORT] [--timeout 3s] [--json]

Requests /readyz of the gateway that runs on this machine with the same settings, environment
and flags. Exit code 0: it is ready; 1: it is not, or did not respond in time. It needs no
key and no shell, so it can be the health check of a container.

Flags
  --host HOST    the host of “weir serve”, if it was given as a flag
  --port PORT    the port of “weir serve”, if it was given as a flag
  --timeout 3s   how long to wait for the response; default 3s, at most 1m

Examples
  weir health
  weir health --port 8080 --timeout 500ms

${commonFlagsHelp}`

const ownFlags = { host: 'text', port: 'text', timeout: 'text' } as const

/** `weir health`. */
export const command: Command = {
  usage,
  run: subcommand('health', { flags: ownFlags }, async ({ flags, context, print }) => {
    const timeoutMs = parseTimeout(flags.timeout)
    const { settings } = loadSettings({ flags, ...context })
    if (settings.port === 0)
      throw new UsageError('The port of the settings is 0, which picks a free one. Name it with --port.')
    const url = readinessUrl(settings)
    const failure = await probe(url, timeoutMs)
    if (failure !== null) throw new CommandError(`Weir is not ready at ${url}. ${failure}`)
    print({ ready: true, url }, `Weir is ready at ${url}.`)
  }),
}

const maxTimeoutMs = 60_000

function parseTimeout(text: string = '3s'): number {
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== undefined && timeoutMs <= maxTimeoutMs) return timeoutMs
  throw new UsageError(`--timeout must be a duration of at most 1m, such as 3s, not “${text}”.`)
}

/** Returns the readiness URL of a server with these settings, as a program on the same machine reaches it. */
export function readinessUrl({ host, port, tls }: Pick<Settings, 'host' | 'port' | 'tls'>): string {
  const address = loopbackOf[host] ?? host
  return `${tls ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}:${port}/readyz`
}

/** A server that listens on every interface is asked on the loopback one. */
const loopbackOf: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Requests the URL once; returns null if the response within the timeout is a 200, else why not, in a sentence. */
async function probe(url: string, timeoutMs: number): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    // The certificate names the public host of the server, and the probe sends no secret.
    const { status, text } = await directGet(url, { signal, maxBytes, verifyCertificate: false })
    return status === 200 ? null : `The status is ${status}.${reasonOf(text)}`
  } catch (error) {
    if (signal.aborted) return `There was no response within ${timeoutMs} ms.`
    return `The connection failed (${errorCode(error) ?? causeOf(error)}).`
  }
}

const maxBytes = 4096

/** The message of the error that the gateway sends while it is not ready. */
function reasonOf(body: string): string {
  const message = textOf(fieldsOf(fieldsOf(parseJson(body)).error).message)
  return message === undefined ? '' : ` ${message}`
}
