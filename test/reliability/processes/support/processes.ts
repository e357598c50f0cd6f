import { onTestFinished } from 'bun:test'
import type { SettingsFile } from '../../../../src/config/settings.ts'
import { type App, type AppOptions, firstKey, startApp } from '../../../support/app.ts'
import { pricing } from '../../../support/billing-scenario.ts'
import { chatRequest, providerKey } from '../../../support/scenario.ts'
import type { Script } from '../../../support/script.ts'
import { createUpstream, type Upstream } from '../../../support/upstream.ts'
import { type Serving, startServing } from '../../load/program.ts'
import type { SharedDatabase } from './shared-database.ts'

/** Gateways with the same settings on one database, before one scripted provider. */
export type SharedGateways = {
  readonly upstream: Upstream
  /** Starts one in this process, with these changes of the settings. */
  start(changes?: SettingsFile): Promise<App>
  /** Starts one in a process of its own, which ends with the test. */
  spawn(): Promise<Serving>
}

/** Options of gateways, in milliseconds. */
export type Timing = Pick<AppOptions, 'heartbeatInterval' | 'evictAfter' | 'databaseTimeoutMs'>

/** Less than the values of `weir serve`; an eviction waits for a process that a busy machine delays. */
export const shortTiming = { heartbeatInterval: 200, evictAfter: 4000 }

/** The values of `weir serve` itself. */
export const realTiming = {}

/** They serve `acme/river`, which has a price, and plays this script; `changes` are those of the settings. */
export async function prepareGateways(
  database: SharedDatabase,
  script: Script,
  changes: SettingsFile = {},
  timing: Timing = shortTiming,
): Promise<SharedGateways> {
  const upstream = await createUpstream(script)
  const settings = { ...settingsFor(upstream), ...changes }
  const { users: started } = database
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  return {
    upstream,
    async start(own = {}) {
      const app = await startApp({
        database: database.location,
        ...timing,
        settings: { ...settings, ...own },
      })
      const stop = async () => {
        if (started.delete(app)) await app.stop()
      }
      started.add(app)
      return { ...app, stop, [Symbol.asyncDispose]: stop }
    },
    async spawn() {
      const program = 'test/reliability/processes/support/serve-shared.ts'
      const options = JSON.stringify({ ...timing, settings })
      const serving = await startServing([program, database.address, options])
      started.add(serving)
      return serving
    },
  }
}

/** Sends a request to any of them with the first key. */
export function sendChat(gateway: { readonly url: string }, fields: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${firstKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...chatRequest, ...fields }),
    keepalive: false,
  })
}

function settingsFor(upstream: Upstream): SettingsFile {
  const routes = [{ provider: 'acme', model: 'river-1' }]
  return {
    retries: { attempts: 0 },
    providers: { acme: { kind: 'openai-compatible', api_key: providerKey, base_url: upstream.url } },
    models: [{ slug: 'acme/river', pricing, max_output_tokens: 100, routes }],
  }
}
