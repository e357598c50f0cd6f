import { version } from '../../../package.json'
import { keyVariable } from '../connect/tool.ts'
import type { Configuration } from '../../gateway/configuration.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { FirstKeys } from '../../server/first-keys.ts'
import { defaultSettings } from '../../config/defaults.ts'
import { databaseLocation, locationLabel } from '../../storage/database-location.ts'
import { commandPrefix, locationFlags } from '../invocation.ts'
import type { ServeInput } from './output.ts'

/** The properties of a server that are shown once it has started. */
type Started = {
  readonly facts: BannerFacts
  readonly firstKeys: FirstKeys
  /** The address of the server. */
  readonly url: URL
}

/**
 * Returns the text that `weir serve` prints when it is ready: address, providers, models, and on the first start the keys and
 * a `curl` to paste.
 */
export function startupText(started: Started, { loaded, flags, output: { context } }: ServeInput): string {
  const url = displayUrl(started.url)
  const { config, data } = locationFlags(loaded, flags, context)
  const weir = commandPrefix(context)
  const urlFlag = url === defaultUrl ? '' : ` --url ${url}`
  const isFile = loaded.settings.database === undefined
  // What finds the database.
  const database = isFile ? data : config
  const { facts, firstKeys } = started
  const lines = [
    `weir ${version} listens on ${url}`,
    '',
    `  data       ${isFile ? loaded.dataFolder : locationLabel(databaseLocation(loaded))}`,
    `  providers  ${facts.providers.join(', ')}`,
    `  models     ${facts.enabledModels} enabled; list them with “${weir} models${config}”`,
  ]
  const hasAdminKey = firstKeys.adminKey !== undefined || firstKeys.hasAdminKey
  const operatorHint = hasAdminKey
    ? []
    : [
        `Create an admin key, for the operator’s part of the page, with “${weir} admin-keys create${database}”.`,
      ]
  if (firstKeys.apiKey === undefined) {
    const open = `${weir} open --admin${urlFlag}${config}${isFile ? data : ''}`
    if (facts.page) lines.push(`  page       ${url}; open it as the operator with “${open}”`)
    lines.push('', `Create another API key with “${weir} keys create${database}”.`, ...operatorHint)
  } else {
    const example = { url, page: facts.page, model: facts.exampleModel, connect: `${weir} connect${urlFlag}` }
    lines.push('', ...firstKeyLines(firstKeys.apiKey.key.reveal(), firstKeys.adminKey?.key.reveal(), example))
    if (operatorHint.length > 0) lines.push('', ...operatorHint)
  }
  // A line between the banner and the requests.
  return `${lines.join('\n')}${context.terminal === undefined ? '' : '\n'}`
}

/** The address without any settings. */
const defaultUrl = `http://${defaultSettings.host}:${defaultSettings.port}`

function displayUrl({ protocol, port, hostname }: URL): string {
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}

/** The part of the configuration that the banner shows; plain data, which a worker sends to its supervisor. */
export type BannerFacts = {
  readonly providers: readonly string[]
  readonly enabledModels: number
  /** The model of the example request; absent where none serves chat completions. */
  readonly exampleModel?: string
  /** Whether the address is also that of the page. */
  readonly page: boolean
}

type Example = {
  readonly url: string
  readonly page: boolean
  readonly model: string | undefined
  readonly connect: string
}

function firstKeyLines(
  key: string,
  adminKey: string | undefined,
  { url, page, model, connect }: Example,
): string[] {
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
    ...requestLines(url, model),
    '',
    `With an OpenAI SDK, use the base URL ${url}/v1 and the same API key.`,
    `For the settings of other tools, run “${connect}”.`,
  ]
}

/** A request to the model; without one, the list of models. */
function requestLines(url: string, model: string | undefined): string[] {
  const authorization = `-H "Authorization: Bearer $${keyVariable}"`
  if (model === undefined) return [`  curl ${url}/v1/models ${authorization}`]
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello from Weir' }] }
  return [
    `  curl -N ${url}/v1/chat/completions \\`,
    `    ${authorization} \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '${JSON.stringify(body)}'`,
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

/**
 * Picks the built-in model, else the cheapest one for chat completions: where there are such, of those that do not end and
 * have tools, because a classifier would not answer.
 */
export function exampleModel(enabled: readonly Model[]): string | undefined {
  const forChat = enabled.filter(({ supportedApis }) => supportedApis.includes('chat_completions'))
  const lasting = forChat.filter(({ shutdownDate }) => shutdownDate === undefined)
  const withTools = lasting.filter(({ supportedParameters }) => supportedParameters.has('tools'))
  const [models = []] = [withTools, lasting, forChat].filter(({ length }) => length > 0)
  const price = ({ pricing }: Model) => pricing?.output ?? Number.POSITIVE_INFINITY
  const [cheapest] = models.toSorted((a, b) => price(a) - price(b))
  return (forChat.find(({ slug }) => slug === 'weir/echo') ?? cheapest)?.slug
}
