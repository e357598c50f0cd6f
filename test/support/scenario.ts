import type { ModelDetails } from '../../src/config/model-details.ts'
import type { ProviderSettings } from '../../src/config/provider-settings.ts'
import type { SettingsFile } from '../../src/config/settings.ts'
import { type App, type AppOptions, startApp } from './app.ts'
import type { Script } from './script.ts'
import { createUpstream, type Upstream } from './upstream.ts'

/** A gateway with scripted providers behind it: `acme`, and `other` where the test passes scripts for it. */
export type Scenario = {
  readonly app: App
  readonly acme: Upstream
  readonly other: Upstream
  [Symbol.asyncDispose](): Promise<void>
}

export type ScenarioOptions = Omit<AppOptions, 'settings'> & {
  /** Changes of the settings. The default is no retries. */
  readonly settings?: SettingsFile
  /** Changes of the model `acme/river`. */
  readonly model?: Partial<ModelDetails>
  /** More models. */
  readonly models?: readonly ModelDetails[]
  /** Changes of both providers. */
  readonly provider?: Partial<ProviderSettings>
  /** Changes of the provider `acme` only. */
  readonly acme?: Partial<ProviderSettings>
  /** The scripts of the provider `other`; the model has a route to it only where there are some. */
  readonly other?: readonly Script[]
}

/** The API key that the gateway sends to its providers. */
export const providerKey = 'sk-provider-0123456789abcdef'

/** A minimal chat completion request. */
export const chatRequest = { model: 'acme/river', messages: [{ role: 'user', content: 'How high is it?' }] }

/** Starts the gateway and its providers; `acme` plays these scripts, one for each request. */
export async function startScenario(
  scripts: Script | readonly Script[],
  options: ScenarioOptions = {},
): Promise<Scenario> {
  const acme = await createUpstream(...[scripts].flat())
  const other = await createUpstream(...(options.other ?? []))
  const app = await startApp({ ...options, settings: settingsFor(acme, other, options) })
  return {
    app,
    acme,
    other,
    async [Symbol.asyncDispose]() {
      await app.stop()
      await acme[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    },
  }
}

function settingsFor(acme: Upstream, other: Upstream, options: ScenarioOptions): SettingsFile {
  const common = { kind: 'openai-compatible', api_key: providerKey, ...options.provider }
  const first = { provider: 'acme', model: 'river-1' }
  const second = { provider: 'other', model: 'river-2' }
  const routes = options.other ? [first, second] : [first]
  return {
    retries: { attempts: 0 },
    ...options.settings,
    providers: {
      acme: { ...common, base_url: acme.url, ...options.acme },
      other: { ...common, base_url: other.url },
      ...options.settings?.providers,
    },
    models: [{ slug: 'acme/river', routes, ...options.model }, ...(options.models ?? [])],
  }
}
