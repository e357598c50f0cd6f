import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pricing } from '../../../../src/config/model-facts.ts'
import { type Scenario, type ScenarioOptions, startScenario } from '../../../support/scenario.ts'
import type { Script } from '../../../support/script.ts'
import { type Books, openBooks } from './books.ts'

/** A gateway whose first organization pays from a balance, with scripted providers behind it. */
export type Paid = Scenario & { readonly books: Books; readonly file: string }

/** 1,000 and 10,000 nano-dollars a token. */
export const pricing: Pricing = { input: 1, output: 10 }

/** In nano-dollars: what the usual answer of the provider costs, with its 12 and 5 tokens. */
export const usualCost = 12 * 1000 + 5 * 10_000

/** In nano-dollars: the usual question alone, whose 15 characters and one message are estimated as 8 tokens. */
export const promptCost = 8 * 1000

/** In nano-dollars: the most that the usual question alone can cost, whose 15 bytes come with 72 tokens of a template. */
export const mostPromptCost = 87 * 1000

/** In nano-dollars: the most that the usual question can cost, with the 100 tokens that the model can answer. */
export const mostCost = mostPromptCost + 100 * 10_000

/** In nano-dollars: the usual question alone, of a caller who leaves before a provider has counted it. */
export const leftPromptCost = 22 * 1000

/** In nano-dollars: the same, and "eight ch" of an answer. The time in which nothing was seen comes on top. */
export const leftBegunCost = leftPromptCost + 4 * 10_000

export type PaidOptions = ScenarioOptions & {
  /** Of the first organization, in USD. */
  readonly balance?: string
}

/** Starts it on a database in a file; `acme/river` has a price and answers with 100 tokens at most. */
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
