import { version } from '../../../package.json'
import { keyVariable } from '../connect/tool.ts'
import type { Configuration } from '../../gateway/configuration.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { FirstKeys } from '../../server/first-keys.ts'
import { defaultSettings } from '../../config/defaults.ts'
import { databaseLocation, locationLabel } from '../../storage/database-location.ts'
import { commandPrefix, locationFlags } from '../invocation.ts'
import type { ServeInput } from './output.ts'

/** The text that a server shows once it has started. */
type Started = {
  readonly facts: BannerFacts
  readonly firstKeys: FirstKeys
  /** The address of the server. */
  readonly url: URL
}

/** Returns the text that `weir serve` prints when it is ready. */
export function startupText(
  { facts, firstKeys, url: address }: Started,
  { loaded, flags, output: { context } }: ServeInput,
): string {
  const url = displayUrl(address)
  const location = locationFlags(loaded, flags, context)
  const prefix = commandPrefix(context)
  const urlFlag = url === defaultUrl ? '' : ` --url ${url}`
  const commands = {
    models: `${prefix} models${location.config}`,
    createKey: `${prefix} keys create${location.data}`,
    createAdminKey: `${prefix} admin-keys create${location.data}`,
    connect: `${prefix} connect${urlFlag}`,
    openAsOperator: `${prefix} open --admin${urlFlag}${location.config}${location.data}`,
  }
  const isFile = loaded.settings.database === undefined
  const data = isFile ? loaded.dataFolder : locationLabel(databaseLocation(loaded))
  const text = banner({ facts, firstKeys, url, data, commands })
  // A line between the banner and the requests.
  return context.terminal === undefined ? text : `${text}\n`
}

/** The address without any settings. */
const defaultUrl = `http://${defaultSettings.host}:${defaultSettings.port}`

function displayUrl({ protocol, port, hostname }: URL): string {
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}

/** The commands that the banner shows. */
type BannerCommands = {
  readonly models: string
  readonly createKey: string
  readonly createAdminKey: string
  readonly connect: string
  readonly openAsOperator: string
}

/** The part of the configuration that the banner shows; plain data, which a worker sends to its supervisor. */
export type BannerFacts = {
  readonly providers: readonly string[]
  readonly enabledModels: number
  /** The model of the example request. */
  readonly exampleModel: string
  /** Whether the address is also that of the page. */
  readonly page: boolean
}

/** The values that the banner shows. */
type BannerInput = {
  readonly facts: BannerFacts
  readonly firstKeys: FirstKeys
  readonly url: string
  /** The data folder, or the host and the name of the PostgreSQL database. */
  readonly data: string
  /** Commands to paste, with the flags for the same settings and data. */
  readonly commands: BannerCommands
}

/** Formats the banner of a start: address, providers, models, and on the first start the keys and a `curl` to paste. */
function banner({ facts, firstKeys, url, data, commands }: BannerInput): string {
  const lines = [
    `weir ${version} listens on ${url}`,
    '',
    `  data       ${data}`,
    `  providers  ${facts.providers.join(', ')}`,
    `  models     ${facts.enabledModels} enabled; list them with “${commands.models}”`,
  ]
  const { apiKey, adminKey, hasAdminKey } = firstKeys
  const operator =
    adminKey || hasAdminKey
      ? []
      : [`Create an admin key, for the operator’s part of the page, with “${commands.createAdminKey}”.`]
  if (apiKey === undefined) {
    const page = facts.page
      ? [`  page       ${url}; open it as the operator with “${commands.openAsOperator}”`]
      : []
    return [...lines, ...page, '', `Create another API key with “${commands.createKey}”.`, ...operator].join(
      '\n',
    )
  }
  const example = { url, page: facts.page, model: facts.exampleModel, connect: commands.connect }
  const hints = operator.length === 0 ? [] : ['', ...operator]
  return [
    ...lines,
    '',
    ...firstKeyLines(apiKey.key.reveal(), adminKey?.key.reveal(), example),
    ...hints,
  ].join('\n')
}

type Example = {
  readonly url: string
  readonly page: boolean
  readonly model: string
  readonly connect: string
}

function firstKeyLines(
  key: string,
  adminKey: string | undefined,
  { url, page, model, connect }: Example,
): string[] {
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello from Weir' }] }
  return [
    'This is your API key. It is shown only once:',
    '',
    `  ${key}`,
    '',
    // No server sees the fragment of an address.
    ...(page ? ['Open the page of the gateway with it:', '', `  ${url}/#key=${key}`, ''] : []),
    ...(adminKey === undefined ? [] : adminKeyLines(adminKey, page ? url : undefined)),
    'Try it:',
    '',
    `  export ${keyVariable}=${key}`,
    `  curl -N ${url}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer $${keyVariable}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '${JSON.stringify(body)}'`,
    '',
    `With an OpenAI SDK, use the base URL ${url}/v1 and the same API key.`,
    `For the settings of other tools, run “${connect}”.`,
  ]
}

function adminKeyLines(key: string, page: string | undefined): string[] {
  return page === undefined
    ? ['This is your admin key, for the admin API. It is also shown only once:', '', `  ${key}`, '']
    : [
        'Open the page as the operator, with the admin key, also shown only once:',
        '',
        `  ${page}/#key=${key}`,
        '',
      ]
}

/** Returns what the banner shows of this configuration. */
export function bannerFacts({ models, providers, settings }: Configuration): BannerFacts {
  const { enabled } = models.current()
  return {
    providers: [...providers.configured.keys(), ...models.engines()],
    enabledModels: enabled.length,
    exampleModel: exampleModel(enabled),
    page: settings.page,
  }
}

/** Picks the built-in model, else the cheapest one. */
function exampleModel(enabled: readonly Model[]): string {
  const sortPrice = (price: number | undefined) => price ?? Number.POSITIVE_INFINITY
  const cheapest = enabled.toSorted((a, b) => sortPrice(a.pricing?.output) - sortPrice(b.pricing?.output))
  return (enabled.find(({ slug }) => slug === 'weir/echo') ?? cheapest[0])?.slug ?? 'weir/echo'
}
