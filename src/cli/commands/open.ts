import { loadSettings } from '../../config/load.ts'
import { type Command, commonFlagsHelp, subcommand } from '../command.ts'
import { directGet, isServing, originOf } from '../running-gateway.ts'
import { keyVariable } from '../connect/tool.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'
import { type DatabaseFlags, withDatabase } from '../storage.ts'

const usage = `Usage
  weir open [--admin] [--url URL]

Opens the page of a running gateway in the browser, or prints its address where there is no browser.
If the environment variable ${keyVariable} is set, the page uses its key: it is in the part of the
address behind the #, which is not sent to any server. With --admin, the page also has an admin key,
which shows the part of the operator.

Flags
  --admin        open the page as the operator: with a new admin key that expires in 12 hours, or
                 with the key of WEIR_ADMIN_KEY, if that is set
  --url URL      the address of the gateway; default: that of weir serve, from the settings
  --host HOST    the host and the port of weir serve, if it is started with these flags
  --port PORT

Examples
  weir open
  weir open --admin
  weir open --url https://weir.example.com

${commonFlagsHelp}`

const ownFlags = { admin: 'switch', url: 'text', host: 'text', port: 'text' } as const

/** `weir open`. */
export const command: Command = {
  usage,
  run: subcommand('open', { flags: ownFlags }, async ({ flags, context, print }) => {
    const { settings } = loadSettings({ flags, ...context })
    if (!settings.page && flags.url === undefined)
      throw new CommandError(
        'The page is disabled by the setting “page”. Remove it, and reload the settings (SIGHUP) or restart the gateway.',
      )
    const origin = originOf(settings, flags.url)
    if (!(await isServing(origin)))
      throw new CommandError(`No gateway serves at ${origin}. Start it with “weir serve”, or pass --url.`)
    const admin = flags.admin ? await adminKeyFor(origin, flags, context) : undefined
    const link = linkWithKeys(origin, [context.environment[keyVariable], admin?.key])
    const command = browserCommand(context)
    const opened = command !== undefined && (await startBrowser([...command, link], context))
    const text = opened ? `${origin}/ was opened in the browser.` : link
    print({ url: link, opened, ...(admin && { admin_key: admin.id }) }, text)
    if (admin?.id != null && !flags.json)
      context.err(
        `The page has the new admin key ${admin.id}, which expires in 12 hours. To revoke it earlier, run: weir admin-keys revoke ${admin.id}`,
      )
  }),
}

/** An admin key, and its id if it was created for the browser. */
type BrowserAdminKey = { readonly key: string; readonly id: string | null }

/** Milliseconds. */
const browserKeyLifetimeMs = 12 * 3_600_000

/**
 * Returns the admin key of the environment, or creates a short-lived one, since only hashes of others are kept. Throws if the
 * gateway does not accept it: it has another database, or is of an earlier version.
 */
async function adminKeyFor(
  origin: string,
  flags: DatabaseFlags,
  context: CliContext,
): Promise<BrowserAdminKey> {
  const configured = context.environment.WEIR_ADMIN_KEY
  if (configured) return { key: configured, id: null }
  return withDatabase('write', flags, context, async ({ adminKeys, name }) => {
    const expiresAt = Date.now() + browserKeyLifetimeMs
    const { record, key } = await adminKeys.create({ name: 'weir open', expiresAt })
    if (await rejectsAdminKey(origin, key.reveal())) {
      await adminKeys.revoke(record.id)
      throw new CommandError(
        `The gateway at ${origin} does not use the database ${name}. Pass --config or --data of the gateway, or set WEIR_ADMIN_KEY to one of its admin keys.`,
      )
    }
    return { key: key.reveal(), id: record.id }
  })
}

/** Milliseconds. */
const verifyTimeoutMs = 5000

/** Whether the gateway answers that the key is not valid; a certificate that only the browser trusts does not count. */
async function rejectsAdminKey(origin: string, key: string): Promise<boolean> {
  const options = {
    signal: AbortSignal.timeout(verifyTimeoutMs),
    maxBytes: 1024,
    verifyCertificate: true,
    headers: { authorization: `Bearer ${key}` },
  }
  const reply = await directGet(`${origin}/admin/organizations?limit=1`, options).catch(() => undefined)
  return reply?.status === 401
}

function linkWithKeys(origin: string, keys: readonly (string | undefined)[]): string {
  const parameters = keys.flatMap((key) => (key ? [`key=${encodeURIComponent(key)}`] : []))
  return `${origin}/${parameters.length > 0 ? '#' : ''}${parameters.join('&')}`
}

/** The program that opens an address in the default browser, without the address; undefined if there is none. */
export function browserCommand(
  { environment }: Pick<CliContext, 'environment'>,
  platform: NodeJS.Platform = process.platform,
): readonly string[] | undefined {
  const [program, ...options] = programs[platform] ?? ['xdg-open']
  // Without a display, as over SSH, `xdg-open` would start a browser in the terminal.
  if (program === 'xdg-open' && !environment.DISPLAY && !environment.WAYLAND_DISPLAY) return undefined
  const path = Bun.which(program ?? '', { PATH: environment.PATH ?? '' })
  return path === null ? undefined : [path, ...options]
}

/** `start` of Windows is no program, and its shell would interpret an address. */
const programs: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

const startTimeoutMs = 5000

/** Starts the browser; false if it fails. One that keeps running has been started. */
async function startBrowser(
  command: readonly string[],
  { environment }: Pick<CliContext, 'environment'>,
): Promise<boolean> {
  const child = Bun.spawn([...command], {
    env: environment,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  child.unref()
  const { promise: timeout, resolve } = Promise.withResolvers<number>()
  const timer = setTimeout(() => resolve(0), startTimeoutMs)
  const code = await Promise.race([child.exited, timeout])
  clearTimeout(timer)
  return code === 0
}
