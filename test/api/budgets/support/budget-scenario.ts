import type { ModelDetails } from '../../../../src/config/model-details.ts'
import type { KeyInput } from '../../../../src/storage/ports/accounts.ts'
import type { RequestOptions } from '../../../support/app.ts'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  pricing,
  startBillingScenario,
} from '../../../support/billing-scenario.ts'
import type { Script } from '../../../support/script.ts'

/** A key with limits, and the requests that are sent with it. */
export type LimitedKey = {
  readonly id: string
  readonly key: string
  readonly headers: { readonly authorization: string }
  post(path: string, body: object, options?: RequestOptions): Promise<Response>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** What is spent, reserved and held of its budget without periods, in nano-dollars. */
  use(): Promise<readonly [spent: number, reserved: number, held: number]>
}

export type BudgetScenario = BillingScenario & {
  /** Creates a key of the organization `default`. */
  keyWith(properties?: Partial<KeyInput>): Promise<LimitedKey>
}

const route = { provider: 'acme', model: 'river-1' }

/** Models that complete prompts and that embed. */
export const otherModels: readonly ModelDetails[] = [
  {
    slug: 'acme/prompts',
    routes: [route],
    supported_apis: ['completions'],
    pricing,
    max_output_tokens: 100,
  },
  { slug: 'acme/vectors', routes: [route], supported_apis: ['embeddings'], pricing: { input: 1 } },
]

/** A gateway whose organization is prepaid with 1 USD, and keys with limits of their own. */
export async function startBudgets(
  scripts: Script | readonly Script[],
  options: BillingScenarioOptions = {},
): Promise<BudgetScenario> {
  const paid = await startBillingScenario(scripts, {
    ...options,
    models: [...otherModels, ...(options.models ?? [])],
  })
  return { ...paid, keyWith: (properties = {}) => createLimited(paid, properties) }
}

async function createLimited(
  { app, billing }: BillingScenario,
  properties: Partial<KeyInput>,
): Promise<LimitedKey> {
  const input = { organization: 'default', name: 'agent', expiresAt: null, ...properties }
  const { record, key } = await billing.keys.create(input)
  const headers = { authorization: `Bearer ${key.reveal()}` }
  return {
    id: record.id,
    key: key.reveal(),
    headers,
    post: (path, body, options = {}) =>
      app.request(path, { method: 'POST', body, ...options, headers: { ...headers, ...options.headers } }),
    get: (path, more = {}) => app.request(path, { headers: { ...headers, ...more } }),
    async use() {
      const [use] = await billing.budgets.read(record.organizationId, [{ owner: record.limitsId, start: 0 }])
      return [Number(use?.spent), Number(use?.reserved), Number(use?.held)]
    },
  }
}
