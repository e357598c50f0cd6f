import { version } from '../../../package.json'
import type { Runtime } from '../../server/runtime.ts'

export type BannerInput = {
  readonly runtime: Runtime
  readonly url: string
  readonly dataFolder: string
  /** How other commands of this program are typed here, with what they need to use the same settings and data. */
  readonly commands: { readonly models: string; readonly createKey: string }
}

/** What a start prints: the address, what is enabled, and on the very first one the key and a call to paste. */
export function banner({ runtime, url, dataFolder, commands }: BannerInput): string {
  const { models, providers } = runtime.configuration()
  const { enabled } = models.current()
  const providerNames = [...providers.configured.keys(), ...models.engines()].join(', ')
  const lines = [
    `weir ${version} listens on ${url}`,
    '',
    `  data       ${dataFolder}`,
    `  providers  ${providerNames}`,
    `  models     ${enabled.length} enabled; “${commands.models}” lists them`,
  ]
  const { firstKey } = runtime
  if (firstKey === undefined)
    return [...lines, '', `“${commands.createKey}” creates another API key.`].join('\n')
  return [...lines, '', ...firstKeyLines(firstKey.key.reveal(), url, exampleModel(runtime))].join('\n')
}

function firstKeyLines(key: string, url: string, model: string): string[] {
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello from Weir' }] }
  return [
    'This is your API key. It is shown only this once:',
    '',
    `  ${key}`,
    '',
    'Try it:',
    '',
    `  curl -N ${url}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '${JSON.stringify(body)}'`,
    '',
    `An OpenAI SDK takes ${url}/v1 as its base URL and the same key.`,
  ]
}

/** A model that surely answers: the one inside, else the cheapest. */
function exampleModel(runtime: Runtime): string {
  const { enabled } = runtime.configuration().models.current()
  const priceOf = (price: number | undefined) => price ?? Number.POSITIVE_INFINITY
  const cheapest = enabled.toSorted((a, b) => priceOf(a.pricing?.output) - priceOf(b.pricing?.output))
  return (enabled.find(({ slug }) => slug === 'weir/echo') ?? cheapest[0])?.slug ?? 'weir/echo'
}
