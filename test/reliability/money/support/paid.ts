import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pricing } from '../../../../src/config/model-facts.ts'
import { type Scenario, type ScenarioOptions, startScenario } from '../../../support/scenario.ts'
import type { Script } from '../../../support/script.ts'
import { type Books, openBooks } from './books.ts'

/** A scenario whose organization is prepaid, with access to the usage rows and the ledger. */
export type Paid = Scenario & { readonly books: Books; readonly file: string }

/** 1,000 and 10,000 nano-dollars a token. */
export const pricing: Pricing = { input: 1, output: 10 }

/** In nano-dollars: the cost of the default reply, with its 12 and 5 tokens. */
export const usualCost = 12 * 1000 + 5 * 10_000

/** In nano-dollars: the minimal request alone, whose 15 characters and one message are estimated as 8 tokens. */
export const promptCost = 8 * 1000

/** In nano-dollars: the maximum cost of the prompt of the minimal request: its 15 bytes and 72 tokens of a template. */
export const mostPromptCost = 87 * 1000

/** In nano-dollars: the maximum cost of the minimal request, with the 100 tokens that the model can generate. */
export const mostCost = mostPromptCost + 100 * 10_000

/** In nano-dollars: the prompt of a client that disconnects before the provider has reported usage. */
export const leftPromptCost = 22 * 1000

/** In nano-dollars: the same, with the output "eight ch". The time without output is added to it. */
export const leftBegunCost = leftPromptCost + 4 * 10_000

export type PaidOptions = ScenarioOptions & {
  /** The balance of the organization, in USD. */
  readonly balance?: string
}

/** Starts the scenario on a database in a file; `acme/river` has a price and a limit of 100 output tokens. */
export async function startPaid(
  scripts: Script | readonly Script[],
  { balance = '1', ...options }: PaidOptions = {},
): Promise<Paid> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-money-'))
  const file = join(folder, 'weir.db')
  const model = { pricing, max_output_tokens: 100, ...options.model }
  const scenario = await startScenario(scripts, { database: file, ...options, model })
  const books = openBooks(file)
  await books.fund('default', balance)
  return {
    ...scenario,
    books,
    file,
    async [Symbol.asyncDispose]() {
      books[Symbol.dispose]()
      await scenario[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
