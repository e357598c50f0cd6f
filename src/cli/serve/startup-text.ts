import { defaultSettings } from '../../config/defaults.ts'
import type { NewKey } from '../../storage/ports/keys.ts'
import { databaseLocation, locationLabel } from '../../storage/database-location.ts'
import { commandPrefix, locationFlags } from '../invocation.ts'
import { banner, type BannerFacts } from './banner.ts'
import type { ServeInput } from './serve-input.ts'

/** What a server that has started shows. */
export type Started = {
  readonly facts: BannerFacts
  readonly firstKey: NewKey | undefined
  /** The address of the server. */
  readonly url: URL
}

/** Returns the text that `weir serve` prints when it is ready. */
export function startupText(
  { facts, firstKey, url: address }: Started,
  { loaded, flags, output: { context } }: ServeInput,
): string {
  const url = displayUrl(address)
  const location = locationFlags(loaded, flags, context)
  const prefix = commandPrefix(context)
  const commands = {
    models: `${prefix} models${location.config}`,
    createKey: `${prefix} keys create${location.data}`,
    connect: `${prefix} connect${url === defaultUrl ? '' : ` --url ${url}`}`,
  }
  const isFile = loaded.settings.database === undefined
  const data = isFile ? loaded.dataFolder : locationLabel(databaseLocation(loaded))
  const text = banner({ facts, firstKey, url, data, commands })
  // A line between the banner and the requests.
  return context.terminal === undefined ? text : `${text}\n`
}

/** The address without any settings. */
const defaultUrl = `http://${defaultSettings.host}:${defaultSettings.port}`

function displayUrl({ protocol, port, hostname }: URL): string {
  const host = hostname === '0.0.0.0' || hostname === '[::]' ? 'localhost' : hostname
  return `${protocol}//${host}:${port}`
}
