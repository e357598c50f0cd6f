import type { Pricing } from '../../src/config/model-details.ts'
import type { DatabaseLocation } from '../../src/storage/database-location.ts'
import { chatRequest, type Scenario, type ScenarioOptions, startScenario } from './scenario.ts'
import type { Script } from './script.ts'
import { newDatabase } from './database-connection.ts'
import { type BillingDatabase, openBillingDatabase, waitUntil } from './billing-database.ts'

/** A scenario whose organization is prepaid, with access to the usage rows and the ledger. */
export type BillingScenario = Scenario & {
  readonly billing: BillingDatabase
  readonly database: DatabaseLocation
}

/** 1,000 and 10,000 nano-dollars a token. */
export const pricing: Pricing = { input: 1, output: 10 }

/** In nano-dollars: the cost of the default reply, with its 12 and 5 tokens. */
export const replyCost = 12 * 1000 + 5 * 10_000

/** In nano-dollars: the minimal request alone, whose 15 characters and one message are estimated as 8 tokens. */
export const promptCost = 8 * 1000

/** In nano-dollars: the maximum cost of the prompt of the minimal request: its 15 bytes and 72 tokens of a template. */
export const maxPromptCost = 87 * 1000

/** In nano-dollars: the maximum cost of the minimal request, with the 100 tokens that the model can generate. */
export const maxCost = maxPromptCost + 100 * 10_000

/** In nano-dollars: the prompt of a client that disconnects before the provider has reported usage. */
export const abortedPromptCost = 22 * 1000

/** In nano-dollars: the same, with the output "eight ch". The time without output is added to it. */
export const abortedPartialCost = abortedPromptCost + 4 * 10_000

export type BillingScenarioOptions = ScenarioOptions & {
  /** The balance of the organization, in USD. */
  readonly balance?: string
}

/** Starts the scenario on a database of its own; `acme/river` has a price and a limit of 100 output tokens. */
export async function startBillingScenario(
  scripts: Script | readonly Script[],
  { balance = '1', ...options }: BillingScenarioOptions = {},
): Promise<BillingScenario> {
  const created = await newDatabase()
  const database = options.database ?? created.location
  const model = { pricing, max_output_tokens: 100, ...options.model }
  const scenario = await startScenario(scripts, { ...options, database, model })
  const billing = await openBillingDatabase(database)
  await billing.fund('default', balance)
  return {
    ...scenario,
    billing,
    database,
    async [Symbol.asyncDispose]() {
      await billing[Symbol.asyncDispose]()
      await scenario[Symbol.asyncDispose]()
      await created.delete()
    },
  }
}

/**
 * Resolves when the gateway can reserve again. PostgreSQL may commit a reservation after its caller was rejected, and the
 * gateway undoes it; this request waits behind it, because reservations are written one after the other.
 */
export async function waitForReservations({ app }: BillingScenario): Promise<void> {
  await waitUntil(async () => (await app.chat(chatRequest)).status === 200, 'a reservation')
}
